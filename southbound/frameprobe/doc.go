// Package frameprobe sends numbered frames from interfaces of this machine, and takes those that arrive at others, each
// with the kernel's time of arrival: what a circuit carries, and when, is seen by packets.
//
// It judges nothing. Package emulator/dataplane/dptest measures our dataplanes with it, and package
// southbound/gnmi/conformance anybody's optical switch.
package frameprobe
