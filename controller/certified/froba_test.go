package certified

import (
	"math"
	"math/rand/v2"
	"testing"

	"lightloom/pathmap/tries"
)

// routings are the algorithms for the sum of transfer times.
func routings() map[string]func(*Instance, Effort) (*Plan, error) {
	return map[string]func(*Instance, Effort) (*Plan, error){"froba": FRoBA, "fast": FRoBAFast,
		"greedy": FRoBAGreedy,
		"best":   FRoBABest}
}

// TestFRoBAAgainstExhaustive: on tiny instances every plan verifies, no bound is above the optimum over
// all routings, and no plan is below it; FRoBA is within 2 % on average.
func TestFRoBAAgainstExhaustive(t *testing.T) {
	ratio, n := map[string]float64{}, 0.0
	for seed := range uint64(tries.Of(60, 1000)) {
		in, all := tiny(rand.New(rand.NewPCG(seed, 4)))
		want := best(in, all, func(paths [][]int32) float64 {
			a, err := in.Total(paths)
			if err != nil {
				t.Fatal(err)
			}
			return a.Value
		})
		n++
		for name, algorithm := range routings() {
			p, err := algorithm(in, Effort{})
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
			if err := p.VerifyTotal(in); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
			if p.Bound > want*(1+1e-6) || p.Value < want*(1-1e-6) {
				t.Fatalf("seed %d: %s has %v and proves %v, the optimum is %v", seed, name, p.Value, p.Bound, want)
			}
			if want > 0 {
				ratio[name] += p.Value / want
			} else {
				ratio[name]++
			}
		}
	}
	for name, sum := range ratio {
		t.Logf("%s: %.4f of the optimum", name, sum/n)
		if sum/n > 1.05 {
			t.Errorf("%s: %.4f of the optimum", name, sum/n)
		}
	}
}

// TestMakespanClosedForm: two flows of 1 and 3 share a link of 4 as 1 to 3 and end together after 1;
// what a third, of 1 over a link of 1 that it shares with the first, gets follows from its own
// bottleneck.
func TestMakespanClosedForm(t *testing.T) {
	in := &Instance{Volume: []float64{1, 3, 1}, Capacity: []float64{4, 1}}
	rate, last, err := in.Makespan([][]int32{{0, 1}, {0}, {1}})
	if err != nil {
		t.Fatal(err)
	}
	// Link 1 needs (1+1)/1 = 2 for flows 0 and 2, link 0 (1+3)/4 = 1: flow 1 ends at 1.
	if want := []float64{0.5, 3, 0.5}; rate[0] != want[0] || rate[1] != want[1] ||
		rate[2] != want[2] || last != 2 {
		t.Errorf("rates %v, last %v", rate, last)
	}
}

// TestNoRoute: a flow that no capacity leads for is named.
func TestNoRoute(t *testing.T) {
	in := &Instance{Volume: []float64{0, 1}, Capacity: []float64{1, 0},
		Router: Candidates{{{0}}, {{1}, {0, 1}}}}
	for _, all := range []map[string]func(*Instance, Effort) (*Plan, error){routings(), lasts()} {
		for name, algorithm := range all {
			_, err := algorithm(in, Effort{})
			if err == nil || err.Error() != "solve program: infeasible: flow 1 has no route with capacity" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	in.Volume[1] = math.NaN()
	if _, err := FRoBA(in, Effort{}); err == nil {
		t.Error("a volume that is no number is taken")
	}
}

// TestFRoBAFatTree: on the dissertation's network every plan verifies, and the one of both beginnings
// is the best.
func TestFRoBAFatTree(t *testing.T) {
	t.Parallel()
	for seed := range uint64(tries.Of(2, 20)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		in := fatTree(rng, 6, 2, 20, false)
		value := map[string]float64{}
		for name, algorithm := range routings() {
			p, err := algorithm(in, Effort{})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.VerifyTotal(in); err != nil {
				t.Fatal(err)
			}
			value[name] = p.Value
			t.Logf("seed %d: %s: %.0f s, proven gap %.2f %%, %d trials", seed, name, p.Value,
				100*p.Gap(), p.Trials)
		}
		if value["best"] > min(value["froba"], value["greedy"]) || value["best"] > value["fast"] {
			t.Errorf("seed %d: %v", seed, value)
		}
	}
}

func BenchmarkFRoBA(b *testing.B) {
	in := fatTree(rand.New(rand.NewPCG(1, 5)), 14, 2, 90, false)
	for name, algorithm := range routings() {
		b.Run(name+"/1617_nodes_90_flows", func(b *testing.B) {
			var p *Plan
			for b.Loop() {
				var err error
				if p, err = algorithm(in, Effort{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*p.Gap(), "%gap")
			b.ReportMetric(float64(p.Trials), "trials")
		})
	}
}

// BenchmarkRelaxation is the first phase alone.
func BenchmarkRelaxation(b *testing.B) {
	in := fatTree(rand.New(rand.NewPCG(1, 5)), 14, 2, 90, false)
	for b.Loop() {
		a, err := in.total(1e-3).Solve()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(a.Iterations), "iterations")
		b.ReportMetric(float64(len(a.Paths)), "paths")
		b.ReportMetric(100*a.Gap(), "%gap")
	}
}
