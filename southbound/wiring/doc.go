// Package wiring wires testbeds through an optical switch: it reads which ports of devices are to be linked, plans the
// changes that lead there from what the switch is configured with and what it shows, carries them out, and checks both
// ends of every link.
//
// A Desk does so under the leases that package circuit keeps. It steers no packets.
package wiring
