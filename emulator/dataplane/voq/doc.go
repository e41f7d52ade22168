// Package voq keeps packets of a packet switch while the circuit that they want is dark: a queue for each destination
// rack, first in, first out, with a limit in bytes and without another rule than that what comes last is dropped. It
// reads them from an interface that the dataplane sends them to, and sends them on where the switch says, no faster
// than the link takes them.
//
// It is no dataplane: which packets are queued, and when they may go, is a Gate's to say (package ebpf has one).
package voq
