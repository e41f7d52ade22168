// Package scenario says what runs: jobs and faults on a fabric, under policies and seeds. Prepare reads files and
// refuses what cannot be; what it returns is plain data, and so is a Scenario, which is one row of a report under one
// seed and crosses to another process as JSON.
//
// It runs nothing and knows no testbed: packages testbed/simulated, testbed/emulated and testbed/lab run scenarios.
package scenario
