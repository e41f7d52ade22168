// Package lldpd speaks and hears LLDP for emulated switches and hosts: one socket for all interfaces of a network
// namespace, whatever switch they belong to.
//
// It is not the words of the protocol, which are southbound/lldp's, and it tells nobody: gNMI targets show what it
// hears.
package lldpd
