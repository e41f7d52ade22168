package report

import (
	"slices"

	"lightloom/southbound/meter"
)

// StageNames are the stages of the delay budget, in their order, by the names that metrics have. Commit reaches from
// the intent to nothing being steered to the ports, drain to these being empty; settle is what the controller sees of
// apply, dark and lock together.
func StageNames() []string {
	return []string{meter.StageCommit, meter.StageDrain, meter.StageRPC, meter.StageApply, meter.StageDark,
		meter.StageLock, meter.StageSettle, meter.StageInService}
}

// staged are the lines of the stages, where a row knows any.
func (r *Report) staged() (out []line) {
	if !slices.ContainsFunc(r.Policies, func(p Policy) bool { return len(p.Stages) > 0 }) {
		return nil
	}
	for _, name := range StageNames() {
		out = append(out, line{name: "reconfiguration: " + name + " p50, p99", of: func(p *Policy) string {
			if i := slices.IndexFunc(p.Stages, func(s Stage) bool { return s.Name == name }); i >= 0 {
				return orDash(p.Stages[i].Count, p.Stages[i].P50, p.Stages[i].P99)
			}
			return "–"
		}})
	}
	return out
}
