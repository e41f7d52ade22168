// Package lldp reads and writes the frames of the Link Layer Discovery Protocol (IEEE 802.1AB) as far
// as needed to identify the other end of a cable, and checks that a foreign frame holds only valid
// names. Tests hold it against gopacket, whose tables of all protocols would be 1.3 MB of the binary.
//
// It opens no socket: southbound/lldpd sends and receives.
package lldp
