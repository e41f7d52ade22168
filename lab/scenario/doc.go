// Package scenario describes a run: jobs and faults on a fabric, under policies and seeds. Prepare
// reads files and refuses impossible input; its result is plain data. A Scenario is one row of a report
// under one seed, and crosses to another process as JSON.
//
// It runs nothing and knows no testbed: packages testbed/simulated, testbed/emulated and testbed/lab
// run scenarios.
package scenario
