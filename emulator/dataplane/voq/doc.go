// Package voq keeps packets of a packet switch while the circuit that they want is dark: a FIFO queue
// for each destination rack, with a limit in bytes and tail drop. It reads them from an interface that
// the dataplane sends them to, and sends them out of the link that the switch chooses, no faster than
// the link takes them.
//
// It is no dataplane: a Gate decides which packets are queued, and when they leave (package ebpf has one).
package voq
