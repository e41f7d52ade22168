// Package dptest specifies every dataplane by tests: Run is the conformance suite, Memory and Packets
// are the networks that it drives (planes in memory, or in the kernel of this machine with real
// packets), and Darkness measures by packets how long a circuit was dark.
//
// It is for tests and measurements: nothing that runs a fabric imports it.
package dptest
