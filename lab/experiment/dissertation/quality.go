package dissertation

import (
	"context"
	"fmt"

	"lightloom/lab/experiment"
	"lightloom/lab/report"
)

// overTime compares searches at equal processor time: how far above the best bound their best answer is
// by then.
func overTime(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	at := []float64{10, 30, 100, 300, 1000, 3000} // ms
	if b.Quick {
		at = []float64{1, 2, 4, 8, 16, 32}
	}
	out := b.Result(
		"an answer belongs to an instant if it took at most a tenth longer; searches that end by themselves stay where "+
			"they are, and anneal begins anew with another seed",
		"n is the runs that have an answer by then; times are processor time",
	)
	type curve struct {
		bound   float64
		samples map[string][]*sample
	}
	all := contests(b.Quick)
	grid, err := experiment.Grid(ctx, b, all, func(c contest) string { return c.Name },
		func(_ context.Context, c contest, seed uint64) (curve, error) {
			bound, samples, err := c.Run(seed, at)
			return curve{bound, samples}, err
		})
	if err != nil {
		return nil, err
	}
	for i, c := range all {
		for _, name := range c.Methods {
			for k, ms := range at {
				var above, took, value, bound []float64
				for _, r := range grid[i] {
					if s := r.samples[name][k]; s != nil {
						above, took = append(above, 100*(s.Value/r.bound-1)), append(took, s.Ms)
						value, bound = append(value, s.Value), append(bound, r.bound)
					}
				}
				if len(above) > 0 {
					h := out.At("quality over time", c.Name, fmt.Sprintf("found after %.4g ms; value %.6g, bound %.6g",
						report.Mean(took), report.Mean(value), report.Mean(bound)))
					h.Row(fmt.Sprintf("%s after %g ms, above the bound", name, ms), "%", 0, above)
				}
			}
		}
	}
	return out, nil
}
