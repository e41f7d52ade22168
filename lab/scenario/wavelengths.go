package scenario

import (
	"cmp"
	"fmt"

	"lightloom/southbound/hint"
)

// checkWavelengths refuses policies that assume one circuit a rack when racks have several wavelengths or
// optical switches: most of these would stay dark, and the figures would not show why.
func (s *Prepared) checkWavelengths() error {
	if s.Spec.Planes() == 1 {
		return nil
	}
	has, key := fmt.Sprintf("%d wavelengths", s.Spec.Wavelengths()), "wavelengths"
	if n := s.Spec.ParallelOCSes(); n > 1 {
		has, key = fmt.Sprintf("%d optical switches", n), "ocses"
	}
	for _, r := range s.Rows {
		if can := r.Can(); can.Circuits && !can.Wavelengths {
			return hint.New(fmt.Sprintf("policy %q: %s sets up one circuit a rack, and on this fabric a rack has %s", r.Name,
				cmp.Or(s.Options.Parts.Circuits, r.Policy), has),
				"take sunflow, joint, eclipse, solstice, bvn, edmonds, rotor, static or schedule:FILE for circuits, or leave "+
					key+" away")
		}
	}
	return nil
}
