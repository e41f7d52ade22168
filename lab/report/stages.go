package report

import (
	"slices"

	"lightloom/southbound/meter"
)

// StageNames returns the stages of the delay budget, in order, with the metrics' names. Commit reaches
// from the intent until no traffic is steered to the ports, drain until these are empty; settle is the
// controller's view of apply, dark and lock together.
func StageNames() []string {
	return []string{meter.StageCommit, meter.StageDrain, meter.StageRPC, meter.StageApply, meter.StageDark,
		meter.StageLock, meter.StageSettle, meter.StageInService}
}

// staged returns the lines of the stages, if a row has any.
func (r *Report) staged() (out []line) {
	if !slices.ContainsFunc(r.Policies, func(p Policy) bool { return len(p.Stages) > 0 }) {
		return nil
	}
	for _, name := range StageNames() {
		out = append(out, line{name: "reconfiguration: " + name + " p50, p99",
			means: "One stage of a reconfiguration delay.", of: func(p *Policy) string {
				if i := slices.IndexFunc(p.Stages, func(s Stage) bool { return s.Name == name }); i >= 0 {
					return orDash(p.Stages[i].Count, p.Stages[i].P50, p.Stages[i].P99)
				}
				return "–"
			}})
	}
	return out
}
