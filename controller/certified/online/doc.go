// Package online simulates the dissertation's online schedulers on plain numbers: OnTaPRA (jobs of
// independent tasks), OnFRoBA (independent flows) and RAPIER's order (coflows), with their baselines.
//
// It has no hosts, no controller and no clock of its own: arrivals, noise and random numbers are
// arguments, and the same arguments give the same times.
package online
