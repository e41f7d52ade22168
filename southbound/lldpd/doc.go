// Package lldpd sends and receives LLDP for emulated switches and hosts: one socket serves all
// interfaces of a network namespace, whatever switch they belong to.
//
// It does not encode the protocol, which package southbound/lldp does, and reports to no controller:
// gNMI targets publish the neighbours it finds.
package lldpd
