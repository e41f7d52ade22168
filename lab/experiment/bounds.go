package experiment

import "fmt"

// SameOrder says what a row of an infinite network holds still.
const SameOrder = "the same places and order of slots, and bytes take no time"

// bindsFrom is the least bound in per cent at which a figure of jobs says something about networks.
const bindsFrom = 5

// bounded names the figure of how many per cent of another one a network can change.
func bounded(metric string) string { return metric + " smaller by, at most" }

// bounds are rows of how much of makespan and JCT a network can change at all.
func (r *Result) bounds(setting string, got Runs) {
	h := r.At("infinite network", setting, SameOrder)
	for _, m := range []string{makespan, meanJCT} {
		row := h.Row(bounded(m), "%", 0, got.Of(bounded(m)))
		if *row.Measured < bindsFrom {
			row.Note = fmt.Sprintf("below %d %%: no row compares it", bindsFrom)
		}
	}
}

// reachable takes back the verdict on a figure that no network can change by bindsFrom per cent of base's.
func (r Row) reachable(base Runs, metric string, seed uint64) Row {
	if metric == meanCCT || r.Verdict == NoClaim { // CCT is all network
		return r
	}
	if most := (Row{}).Measure(base.Of(bounded(metric)), seed); most.Measured != nil &&
		*most.High < bindsFrom {
		r.Verdict = NoTest
		r.Note = fmt.Sprintf("a network that costs nothing saves %.2g %% here", *most.Measured)
	}
	return r
}

// Chance states how many intervals of a page miss by chance.
func Chance(rows []Row) string {
	return fmt.Sprintf("%d intervals of 95 %%: about %.0f miss by chance", len(rows), float64(len(rows))/20)
}
