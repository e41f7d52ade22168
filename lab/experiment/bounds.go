package experiment

import "fmt"

// SameOrder says what a row of an infinite network holds still.
const SameOrder = "the same places and order of slots, and bytes take no time"

// bindsFrom is the least bound in per cent at which a figure of jobs says something about networks.
const bindsFrom = 5

// bounds are the figures that a network can change only in part.
func bounds() []metric {
	return []metric{{"makespan", "", func(f *figures) float64 { return f.BoundMakespan }},
		{"mean JCT", "", func(f *figures) float64 { return f.BoundJCT }}}
}

// boundRows report how much of makespan and JCT a network can change at all.
func boundRows(setting string, got []*figures, seed uint64) []Row {
	var rows []Row
	for _, m := range bounds() {
		r := Row{Figure: "infinite network", Setting: setting, Metric: m.name + " smaller by, at most", Unit: "%"}.
			Measure(column(got, m.of), seed).Judge(0, SameOrder)
		if *r.Measured < bindsFrom {
			r.Note = fmt.Sprintf("below %d %%: no row compares it", bindsFrom)
		}
		rows = append(rows, r)
	}
	return rows
}

// reachable takes back the verdict on a figure that no network can change by bindsFrom per cent of base's.
func (r Row) reachable(base []*figures, m metric, seed uint64) Row {
	for _, b := range bounds() {
		if b.name != m.name {
			continue
		}
		if most := (Row{}).Measure(column(base, b.of), seed); most.Measured != nil && *most.High < bindsFrom &&
			r.Verdict != NoClaim {
			r.Verdict = NoTest
			r.Note = fmt.Sprintf("a network that costs nothing saves %.2g %% here", *most.Measured)
		}
	}
	return r
}

// Chance states how many intervals of a page miss by chance.
func Chance(rows []Row) string {
	return fmt.Sprintf("%d intervals of 95 %%: about %.0f miss by chance", len(rows), float64(len(rows))/20)
}
