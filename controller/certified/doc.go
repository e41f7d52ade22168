// Package certified chooses routes and rates for sets of flows and proves how far from the optimum they are: FRoBA for
// the sum of transfer times, CoRBA for the time of the last (Shi, "Task Scheduling in Modern Data Center", 2016,
// chapters 4 and 5).
//
// It decides on plain numbers: flows, links and what a Router knows of paths. What they stand for, and carrying it out,
// is a policy's business.
package certified
