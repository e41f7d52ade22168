// Package lab is the testbed of switches that run elsewhere: Mininet's, or real ones, under this machine's controller.
// It measures by what switches tell over gNMI, and cannot break them.
package lab
