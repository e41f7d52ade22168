package replay

import (
	"fmt"
	"slices"

	"lightloom/controller/state"
)

// firstDifference compares the plans of two runs of the same jobs, decision by decision: where tasks were placed, which
// way coflows were sent, and which circuits were set up in which order. It returns "" where they are the same.
func firstDifference(a, b *state.Data) string {
	for i := range min(len(a.Jobs), len(b.Jobs)) {
		if x, y := a.Jobs[i], b.Jobs[i]; x.Name != y.Name {
			return fmt.Sprintf("job %d is %q in one and %q in the other", i, x.Name, y.Name)
		} else if !slices.Equal(x.Hosts, y.Hosts) {
			return fmt.Sprintf("job %d (%q) is placed on %v and on %v", i, x.Name, x.Hosts, y.Hosts)
		}
	}
	for i := range min(len(a.Coflows), len(b.Coflows)) {
		if a.Coflows[i].Routes != b.Coflows[i].Routes {
			return fmt.Sprintf("coflow %d of %q takes other paths", i, a.Jobs[a.Coflows[i].Job].Name)
		}
	}
	for i := range min(len(a.Moves), len(b.Moves)) {
		x, y := &a.Moves[i], &b.Moves[i]
		if x.In != y.In || x.Out != y.Out || x.Coflow != y.Coflow {
			return fmt.Sprintf("circuit %d is %d→%d for coflow %d at %v, and %d→%d for coflow %d at %v",
				i, x.In, x.Out, x.Coflow, x.Intent, y.In, y.Out, y.Coflow, y.Intent)
		}
	}
	if len(a.Moves) != len(b.Moves) {
		return fmt.Sprintf("%d circuits are set up in one and %d in the other", len(a.Moves), len(b.Moves))
	}
	return ""
}
