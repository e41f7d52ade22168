// Package testbed runs scenarios. A Testbed is a fabric with its controller; Run submits a scenario's jobs, lets its
// faults come and go, and measures, in the same way on all of them. FaultLog keeps what failed, and Remote is the part
// of a testbed whose controller is reached through its northbound API.
//
// The testbeds are packages below it, which do not know each other: simulated, emulated and lab.
package testbed
