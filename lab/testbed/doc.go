// Package testbed runs scenarios. A Testbed is a fabric with its controller; Run submits a scenario's
// jobs, applies its faults, and measures, in the same way on all testbeds. FaultLog records failures,
// and Remote is the common part of testbeds whose controller is reached through its northbound API.
//
// The testbeds are the packages simulated, emulated and lab below it, which do not import each other.
package testbed
