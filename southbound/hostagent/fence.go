package hostagent

import (
	"fmt"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// fence keeps out leaders that have been replaced. The agent's lock guards it.
type fence struct {
	leader  wire.Election // the largest seen
	changed chan struct{} // closed, and replaced, when a new leader comes
	asm     wire.Assembler
	derived bool // the leader has set rates: pairs of the one before are forgotten
}

func newFence() fence { return fence{changed: make(chan struct{})} }

// admit lets e in, or says that a larger election is known. A larger High is a new leader.
func (f *fence) admit(e wire.Election) error {
	switch {
	case e.Compare(f.leader) < 0:
		return fmt.Errorf("election %v: %v is known: %w", e, f.leader, southbound.ErrNotLeader)
	case e.High > f.leader.High:
		f.asm.Reset()
		f.derived = false
		close(f.changed)
		f.changed = make(chan struct{})
	}
	f.leader = e
	return nil
}

// holds says whether the leader that opened a stream still leads: its own later calls do not end it.
func (f *fence) holds(e wire.Election) error {
	if e.High < f.leader.High {
		return fmt.Errorf("election %v: %v is known: %w", e, f.leader, southbound.ErrNotLeader)
	}
	return nil
}
