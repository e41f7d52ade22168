package scenario

import (
	"cmp"
	"fmt"

	"lightloom/southbound/hint"
)

// checkPod refuses policies that set up circuits on a pod, whose slices say which circuits there are.
func (s *Prepared) checkPod() error {
	if !s.Spec.Pod() {
		return nil
	}
	for _, r := range s.Rows {
		if r.Can().Circuits {
			return hint.New(fmt.Sprintf("policy %q sets up circuits, and those of a pod belong to its slices", r.Name),
				"take a policy without circuits, such as --policy crosslayer")
		}
	}
	return nil
}

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
