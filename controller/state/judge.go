package state

import (
	"fmt"

	"lightloom/controller"
)

// judge gives a coflow its verdict. The first one stands.
func (s *State) judge(e *Entry) error {
	if e.Coflow < 0 || int(e.Coflow) >= len(s.d.Coflows) {
		return fmt.Errorf("judge coflow %d: no such coflow", e.Coflow)
	}
	c := s.d.Coflows[e.Coflow]
	if c.Verdict != controller.Unjudged || c.Ended != Unset {
		return ErrStale
	}
	if c.Verdict = controller.Rejected; e.OK {
		c.Verdict = controller.Admitted
	}
	return nil
}
