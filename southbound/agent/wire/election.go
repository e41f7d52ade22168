package wire

import (
	"cmp"
	"fmt"

	"lightloom/southbound/agent/agentpb"
)

// Election names a leader and how far it has come: High is larger for each new leader, Low may grow
// within its time.
type Election struct {
	High, Low uint64
}

// Compare orders elections by High, then Low.
func (e Election) Compare(o Election) int {
	return cmp.Or(cmp.Compare(e.High, o.High), cmp.Compare(e.Low, o.Low))
}

func (e Election) String() string { return fmt.Sprintf("%d.%d", e.High, e.Low) }

// Message returns e as it travels.
func (e Election) Message() *agentpb.Election { return &agentpb.Election{High: e.High, Low: e.Low} }

// ElectionOf reads an election; a message without one has the smallest of all.
func ElectionOf(m *agentpb.Election) Election { return Election{High: m.GetHigh(), Low: m.GetLow()} }
