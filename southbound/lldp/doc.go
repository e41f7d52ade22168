// Package lldp reads and writes the frames of the Link Layer Discovery Protocol (IEEE 802.1AB) as far as it takes to
// know who is at the other end of a cable. gopacket knows the encoding; what is checked here is that a stranger's frame
// holds no more than a name should.
//
// It opens no socket: southbound/lldpd speaks and listens.
package lldp
