package report

import (
	"fmt"
	"slices"
)

// proven sums up the proven gaps of coflows; nil where none is proven.
func proven(all []CoflowResult) *Proven {
	var v []float64
	for i := range all {
		if p := all[i].Proof; p != nil {
			v = append(v, p.Gap)
		}
	}
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	return &Proven{Coflows: len(v), P50: Percentile(v, .5), P95: Percentile(v, .95), Max: v[len(v)-1]}
}

// gaps is the line of proven gaps, in reports that have any.
func (r *Report) gaps() []line {
	if !slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.Proven != nil }) {
		return nil
	}
	return []line{{name: "proven gap of routes p50, p95", of: func(p *Policy) string {
		if p.Proven == nil {
			return "–"
		}
		return fmt.Sprintf("%.2f %%, %.2f %%", 100*p.Proven.P50, 100*p.Proven.P95)
	}}}
}
