package replay

import (
	"context"
	"fmt"

	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// comparedSeeds are the seeds of the comparison that every demo ends with, fixed beforehand.
const comparedSeeds = 5

// comparesSeeds reports whether this is a demo as it comes.
func (s *runner) comparesSeeds() bool {
	return s.Options.Demo && len(s.Options.Policies) == 0 && s.Options.Workload == ""
}

// compareSeeds runs all rows on the simulator over seeds 1 to 5 and states, for joint against each
// other row, the paired ratio of mean CCT, mean JCT and makespan with its interval, whatever its sign.
func (s *runner) compareSeeds(ctx context.Context, rep *report.Report) error {
	const ours = "joint"
	figures := []struct {
		name string
		of   func(*report.Policy) float64
	}{
		{"mean CCT", func(p *report.Policy) float64 { return p.CCT.Mean }},
		{"mean JCT", func(p *report.Policy) float64 { return p.JCT.Mean }},
		{"makespan", func(p *report.Policy) float64 { return p.Makespan }},
	}
	values := map[string][][]float64{} // by row: by figure: by seed
	var names []string
	for seed := uint64(1); seed <= comparedSeeds; seed++ {
		opt := s.Options
		opt.Seed, opt.On = seed, scenario.OnFlowsim
		p, err := scenario.Prepare(opt, s.Options.Scale)
		if err != nil {
			return err
		}
		x := &runner{Prepared: p}
		names = names[:0]
		for _, r := range x.Rows {
			o, err := x.simulate(ctx, r, nil)
			if err != nil {
				return fmt.Errorf("compare over seeds: seed %d: %w", seed, err)
			}
			p := report.Summarise(report.Meta{}, []report.PolicyResult{o.Result()}).Policies[0]
			names = append(names, r.Name)
			if values[r.Name] == nil {
				values[r.Name] = make([][]float64, len(figures))
			}
			for i, f := range figures {
				values[r.Name][i] = append(values[r.Name][i], f.of(&p))
			}
		}
	}
	for _, other := range names {
		for i, f := range figures {
			if other != ours && values[ours] != nil {
				rep.Seeds = append(rep.Seeds, report.Compare(ours, other, f.name, values[ours][i],
					values[other][i], 1))
			}
		}
	}
	return nil
}
