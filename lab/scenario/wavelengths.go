package scenario

import (
	"cmp"
	"fmt"

	"lightloom/southbound/hint"
)

// checkWavelengths refuses policies that assume one circuit a rack when racks have several wavelengths:
// most of these would stay dark, and the figures would not show why.
func (s *Prepared) checkWavelengths() error {
	w := s.Spec.Wavelengths()
	if w == 1 {
		return nil
	}
	for _, r := range s.Rows {
		if can := r.Can(); can.Circuits && !can.Wavelengths {
			return hint.New(fmt.Sprintf("policy %q: %s sets up one circuit a rack, and on this fabric a rack has %d "+
				"wavelengths", r.Name, cmp.Or(s.Options.Parts.Circuits, r.Policy), w),
				"take sunflow, sunflow-preempt or sunflow-turning for circuits, or leave wavelengths away")
		}
	}
	return nil
}
