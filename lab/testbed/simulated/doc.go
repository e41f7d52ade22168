// Package simulated is the testbed in virtual time: the flow-level simulator under the controller's own
// Step. Entries of the log are applied directly, without serialising; devices and hosts are called
// directly. The same scenario gives the same outcome, byte for byte.
package simulated
