package run

import (
	"fmt"
	"slices"
	"strings"

	"lightloom/controller/policy"
)

// checkWavelengths refuses what has one circuit a rack in mind, where racks have several wavelengths: most of them would
// stay dark, and figures would not tell why.
func (s *setup) checkWavelengths() error {
	w := s.spec.Wavelengths()
	if w == 1 {
		return nil
	}
	for _, r := range s.rows {
		words := strings.Split(r.Policy, "+")
		if s.opt.Parts.Light != "" {
			words = []string{s.opt.Parts.Light}
		}
		for _, word := range words {
			if oneCircuit(word) {
				return &insideError{fmt.Sprintf("policy %q: %s sets up one circuit a rack, and on this fabric a rack has %d wavelengths", r.Name, word, w),
					"take sunflow, sunflow-preempt or sunflow-turning for circuits, or leave wavelengths away"}
			}
		}
	}
	return nil
}

// oneCircuit says whether a part decides on circuits and knows no wavelengths.
func oneCircuit(part string) bool {
	i := slices.IndexFunc(policy.Parts(), func(p policy.PartInfo) bool { return p.Name == part })
	return strings.HasPrefix(part, "schedule:") || i >= 0 && slices.Contains(policy.Parts()[i].Questions, policy.Light) && !policy.Parts()[i].Waves
}
