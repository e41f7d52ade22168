package state

import (
	"fmt"

	"lightloom/controller"
)

// decideAdmission gives a coflow its admission decision. The first one stands.
func (s *State) decideAdmission(e *Entry) error {
	if e.Coflow < 0 || int(e.Coflow) >= len(s.d.Coflows) {
		return fmt.Errorf("admit coflow %d: no such coflow", e.Coflow)
	}
	c := s.d.Coflows[e.Coflow]
	if c.Admission != controller.Undecided || c.Ended != Unset {
		return ErrStale
	}
	if c.Admission = controller.Rejected; e.OK {
		c.Admission = controller.Admitted
	}
	return nil
}
