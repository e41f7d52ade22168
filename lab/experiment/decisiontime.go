package experiment

import (
	"context"
	"fmt"
)

// runDecision is Figures 10 and 11. The document's seconds are from another machine; they are shown
// beside ours and not judged.
func runDecision(ctx context.Context, b *Bench) (*Result, error) {
	out := b.Result(
		"wall time of one decision on the machine to itself, the 21st on a fabric: 20 jobs run and have warmed what the "+
			"policy keeps",
		"fat-tree of 16-port switches and Jellyfish with ten links a switch and five hosts, pruned or built for the hosts",
		"the document's times are of a 4-core machine of 2014: a ratio to them is no gain of the algorithm",
	)
	for _, d := range []struct {
		figure string
		e      engine
		net    string
		paper  map[int]float64 // seconds, by hosts
	}{
		{"Figure 10", storm(), "Fat-tree", map[int]float64{200: 0.20, 1000: 0.53}},
		{"Figure 10", storm(), "Jellyfish", map[int]float64{200: 0.28, 1000: 0.74}},
		{"Figure 11", hadoop(), "Fat-tree", map[int]float64{200: 0.17, 1000: 0.48}},
		{"Figure 11", hadoop(), "Jellyfish", map[int]float64{200: 0.23, 1000: 0.67}},
	} {
		policies := []string{"crosslayer"}
		for _, r := range d.e.readings() {
			policies = append(policies, "crosslayer-paper"+r.policy)
		}
		for _, policy := range policies {
			for _, hosts := range []int{200, 400, 600, 800, 1000} {
				v, err := decisionTimes(ctx, b, d.e, thousand(d.net, hosts), policy)
				if err != nil {
					return nil, err
				}
				h := out.At(d.figure, fmt.Sprintf("%s, %s, %d hosts, %s", d.e.name, d.net, hosts, policy), "")
				r := h.Row("time of a decision", "s", d.paper[hosts], v)
				r.Verdict, r.Note = NoClaim, "no two machines are compared, and decisions end at the annealer's bound on work"
			}
		}
	}
	return out, nil
}

func decisionTimes(ctx context.Context, b *Bench, e engine, spec, policy string) ([]float64, error) {
	var out []float64
	b.More(b.Seeds)
	for i := range b.Seeds { // one at a time: the annealer is parallel itself
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		jobs, err := crowded(e).draw(b, 21, b.Seed(i))
		if err != nil {
			return nil, err
		}
		took, err := DecisionTime(ctx, spec, policy, jobs, b.Seed(i))
		if err != nil {
			return nil, err
		}
		out = append(out, took.Seconds())
		b.Step()
	}
	return out, nil
}
