package report

import "fmt"

// sized returns the mean completion time of each class of coflows by size, and how much longer they
// took than alone on the fabric.
func (r *Report) sized() (out []line) {
	if len(r.Policies) == 0 {
		return nil
	}
	for k, b := range r.Policies[0].Bins {
		name := fmt.Sprintf("CCT mean, s: %s, %s of coflows", b.Name, percent(b.Coflows))
		out = append(out, line{name: name, means: meansCCT, of: func(p *Policy) string {
			if k >= len(p.Bins) || p.Bins[k].CCT.Count == 0 {
				return "–"
			}
			return fmt.Sprintf("%s (%s × alone)", sig(p.Bins[k].CCT.Mean), sig(p.Bins[k].OverBound.Mean))
		}})
	}
	return out
}
