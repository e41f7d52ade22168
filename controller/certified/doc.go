// Package certified chooses routes and rates for sets of flows, and servers and resources for sets of
// tasks, and proves how far from the optimum they are: FRoBA for the sum of transfer times, CoRBA for
// the time of the last flow, TaPRA for the time of the last task (Shi, "Task Scheduling in Modern Data
// Center", 2016, chapters 3 to 5).
//
// It decides on plain numbers. What they stand for, and carrying it out, is a policy's business.
package certified
