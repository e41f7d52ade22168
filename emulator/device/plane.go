// Package device is the model of one switch: a transactional store that takes a change whole or not at
// all, the state machines of circuits with their delays, and faults. It holds no timer and no
// goroutine: time is handed in, so one model serves virtual and real time. It is not the packets' way:
// that is a Plane.
package device

import (
	"time"

	"lightloom/southbound"
)

// Plane moves the packets of one switch as its device says. A call has taken effect when it returns.
type Plane interface {
	// SetRules changes the rule table at once: with replace, set is the whole table; otherwise drop goes
	// and set is added or put in the place of rules with the same match. No packet sees a half-made table.
	SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error
	// SetLight reports to a packet switch that a port has light or lost it: without light, rules with that
	// primary use their backup. One store switches all of them.
	SetLight(port southbound.Port, lit bool) error
	// Move reconfigures an OCS: circuits of the inputs in off go; those in on are made and pass their
	// first packet dark after the call, never before. Ports that are not named keep their light. Packets
	// that meet a dark or unmatched port are dropped and counted. Both lists are borrowed.
	Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error
	// Dropped returns how many packets have been dropped so far at dark or unmatched ports.
	Dropped() (uint64, error)
}
