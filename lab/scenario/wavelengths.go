package scenario

import (
	"cmp"
	"fmt"

	"lightloom/controller/policy"
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

// checkMultihop refuses paths over several circuits where there are none, or where packets wait for a single one.
func (s *Prepared) checkMultihop() error {
	for _, r := range s.Rows {
		if err := policy.CheckMultihop(r.Can(), s.Fabric, r.Demand.Oracle()); err != nil {
			return fmt.Errorf("policy %q: %w", r.Name, err)
		}
		if r.Can().Multihop && s.Options.Net.VOQBytes > 0 {
			return hint.New(fmt.Sprintf("policy %q: with --voq-bytes, packets wait at the rack for one circuit, and for no "+
				"path over several", r.Name), "leave --voq-bytes away, or take ecmp")
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
