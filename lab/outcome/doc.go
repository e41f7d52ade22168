// Package outcome holds the results of a run, on any testbed, and turns them into figures: rows of a
// report, and files with a line for each coflow, circuit or queue.
//
// Testbeds measure and fill an Outcome; package report draws.
package outcome
