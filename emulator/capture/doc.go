// Package capture writes what passes one interface to a pcapng file, with notes on circuit changes
// beside the packets. Packets are of interface 0 of the file; notes are of interface 1, as exported
// syslog lines, which Wireshark shows in its list like packets, and each is a packet comment as well.
//
// It is not a dataplane: no traffic passes through it. A capture that cannot keep up loses only its own
// copies of packets, and reports how many. Segments that the kernel carries whole (GSO) are one packet
// of up to 64 kB here, with checksums that the hardware would have filled in.
package capture
