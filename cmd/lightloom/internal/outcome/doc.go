// Package outcome is what a run left behind, on whichever testbed, and how it becomes figures: rows of a report, and
// files with a line for each coflow, circuit or queue.
//
// It measures nothing: testbeds fill an Outcome. It draws nothing: package report does.
package outcome
