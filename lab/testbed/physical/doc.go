// Package lab is the testbed of switches that run elsewhere: Mininet's, or real ones, under this
// machine's controller. It measures by the switches' own counters over gNMI, and cannot make them fail.
package physical
