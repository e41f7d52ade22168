package state

import (
	"fmt"

	"lightloom/controller"
)

// decideAdmission gives a coflow its admission decision. The first one stands.
func (s *State) decideAdmission(e *Entry) error {
	c, err := s.coflow(e.Coflow)
	if err != nil {
		return fmt.Errorf("admit: %w", err)
	}
	if c.Admission != controller.Undecided || c.Ended != Unset {
		return ErrStale
	}
	if c.Admission = controller.Rejected; e.OK {
		c.Admission = controller.Admitted
	}
	return nil
}
