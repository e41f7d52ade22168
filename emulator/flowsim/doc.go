// Package flowsim is a fabric at flow level in virtual time: the same device models as the emulated network has, with
// tables in memory, and hosts whose bundles are fluids that share links max-min fairly or send at the rates they are
// told. A bundle goes where a walk through the devices' tables leads it.
//
// It has no packets: no queues, no slow start, no retransmission, no loss. A bundle that would meet a dark port stands
// still instead. It decides nothing: who runs it acts through its doors between two calls of Advance.
//
// Rounding: a bundle ends at the first whole nanosecond at which it has no byte left, and together with the next end of
// its class where less than half a byte is left. Everything is a function of the arguments and the seed.
package flowsim
