// Package slurmjobs holds the nodes that real Slurm chose against answers that know of circuits: the first 50 jobs of a
// SWIM trace at three scales, on a fabric of 8 racks of 2 nodes. nodes.csv is what a slurmctld chose, as the test of
// package lab/e2e/slurm recorded it.
//
// It does not run Slurm, and what Slurm itself takes to start a job is in none of its figures.
package slurmjobs
