package experiment

import (
	"context"
	"fmt"
)

// runDecision is Figures 10 and 11. The document's seconds are from another machine; they are shown beside ours and not
// judged.
func runDecision(ctx context.Context, b *Bench) (*Result, error) {
	out := &Result{Assumptions: []string{
		"wall time of one decision on the machine to itself, the 21st on a fabric: 20 jobs run and have warmed what the " +
			"policy keeps",
		"fat-tree of 16-port switches and Jellyfish with ten links a switch and five hosts, pruned or built for the hosts",
		"the document's times are of a 4-core machine of 2014: a ratio to them is no gain of the algorithm",
	}}
	paper := map[string]float64{"Storm, Jellyfish, 200": 0.28, "Storm, Jellyfish, 1000": 0.74,
		"Storm, Fat-tree, 200": 0.20, "Storm, Fat-tree, 1000": 0.53,
		"Hadoop, Jellyfish, 200": 0.23, "Hadoop, Jellyfish, 1000": 0.67, "Hadoop, Fat-tree, 200": 0.17,
		"Hadoop, Fat-tree, 1000": 0.48}
	for _, e := range []engine{storm(), hadoop()} {
		for _, net := range []string{"Fat-tree", "Jellyfish"} {
			for _, policy := range []string{"crosslayer", "crosslayer-paper"} {
				for _, hosts := range []int{200, 400, 600, 800, 1000} {
					v, err := decisionTimes(ctx, b, e, net, hosts, policy)
					if err != nil {
						return nil, err
					}
					name := fmt.Sprintf("%s, %s, %d", e.name, net, hosts)
					r := Row{Figure: map[string]string{"Storm": "Figure 10", "Hadoop": "Figure 11"}[e.name], Setting: name +
						" hosts, " + policy, Metric: "time of a decision", Unit: "s"}
					if p, ok := paper[name]; ok {
						r.Paper = Number(p)
					}
					r = r.Measure(v, b.First)
					r.Verdict, r.Note = NoClaim, "no two machines are compared, and decisions end at the annealer's bound on work"
					out.Rows = append(out.Rows, r)
				}
			}
		}
	}
	return out, nil
}

func decisionTimes(ctx context.Context, b *Bench, e engine, net string, hosts int, policy string) ([]float64, error) {
	spec := fmt.Sprintf("fattree:k=16,hosts=%d,rate=800Mbps,slots=4,paths=10", hosts)
	if net == "Jellyfish" {
		spec = fmt.Sprintf("jellyfish:switches=%d,degree=10,hosts=%d,rate=800Mbps,slots=4,paths=10", hosts/5, hosts)
	}
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
