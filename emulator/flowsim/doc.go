// Package flowsim is a fabric at flow level in virtual time: the same device models as the emulated
// network has, with tables in memory, and hosts whose host flows are fluids that share links max-min
// fairly or send at given rates. A host flow takes the path that a walk through the devices' tables
// finds.
//
// It has no packets: no queues, no slow start, no retransmission, no loss. A host flow that would meet
// a dark port stands still instead. It decides nothing: its caller acts through its doors between two
// calls of Advance.
//
// A fluid is a state (host flows, coflows, routes, links) and four independent regimes of rates:
// classes with the levels of links, paces, individual rates, and rows of large spread coflows. The fluid
// puts each host flow into the regime that the rates in force require, and shares links among all of
// them.
//
// Rounding: a host flow ends at the first whole nanosecond at which it has no byte left, and together
// with the next end of its class where less than half a byte is left. Everything is a function of the
// arguments and the seed.
package flowsim
