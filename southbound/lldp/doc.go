// Package lldp reads and writes the frames of the Link Layer Discovery Protocol (IEEE 802.1AB) as far as needed to
// identify the other end of a cable. gopacket does the encoding; this package checks that a foreign frame holds only
// valid names.
//
// It opens no socket: southbound/lldpd sends and receives.
package lldp
