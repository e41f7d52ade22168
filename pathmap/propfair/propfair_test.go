package propfair

import (
	"math"
	"math/rand/v2"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
)

func class(flows, most float64, links ...pathmap.LinkID) maxmin.Class {
	return maxmin.Class{Links: links, Flows: flows, Max: most}
}

// TestClosedForms has what can be worked out by hand: a flow across n full links, each with a flow of
// its own, gets 1/(n+1) of them.
func TestClosedForms(t *testing.T) {
	for _, tc := range []struct {
		name     string
		capacity []float64
		classes  []maxmin.Class
		want     []float64
	}{
		{"alone", []float64{10}, []maxmin.Class{class(1, 0, 0)}, []float64{10}},
		{"four on one link", []float64{10}, []maxmin.Class{class(3, 0, 0), class(1, 0, 0)}, []float64{2.5, 2.5}},
		{"across one link", []float64{10, 10}, []maxmin.Class{class(1, 0, 0, 1), class(1, 0, 0)},
			[]float64{5, 5}},
		{"across two", []float64{9, 9}, []maxmin.Class{class(1, 0, 0, 1), class(1, 0, 0), class(1, 0, 1)},
			[]float64{3, 6, 6}},
		{"across three", []float64{8, 8, 8}, []maxmin.Class{class(1, 0, 0, 1, 2), class(1, 0, 0), class(1, 0, 1),
			class(1, 0, 2)}, []float64{2, 6, 6, 6}},
		{"the second is never full", []float64{10, 100}, []maxmin.Class{class(2, 0, 0, 1), class(1, 0, 1)},
			[]float64{5, 90}},
		{"a bound", []float64{10}, []maxmin.Class{class(1, 2, 0), class(2, 0, 0)}, []float64{2, 4}},
		{"a bound of no use", []float64{10}, []maxmin.Class{class(1, 20, 0), class(1, 0, 0)}, []float64{5, 5}},
		{"a dead link", []float64{10, 0}, []maxmin.Class{class(1, 0, 0, 1), class(1, 0, 0)}, []float64{0, 10}},
		{"no flows", []float64{10}, []maxmin.Class{class(0, 0, 0), class(1, 0, 0)}, []float64{0, 10}},
		{"no links", []float64{10}, []maxmin.Class{class(1, 0), class(1, 3)}, []float64{math.Inf(1), 3}},
		{"nothing", nil, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s Solver
			for range 2 { // from scratch, and from the prices of the first time
				rate := make([]float64, len(tc.classes))
				s.Solve(tc.capacity, tc.classes, rate)
				for i, want := range tc.want {
					if rate[i] != want && !(math.Abs(rate[i]-want) <= 1e-5*want) {
						t.Fatalf("class %d at %v, want %v", i, rate[i], want)
					}
				}
			}
		})
	}
}

// TestProof holds random rates to what proves them: they fit, and the prices give a bound on the sum of
// logarithms that the rates reach (the duality gap).
func TestProof(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s Solver
		capacity := make([]float64, 2+r.IntN(30))
		for l := range capacity {
			capacity[l] = math.Pow(10, 6+4*r.Float64())
		}
		for range 3 {
			classes := make([]maxmin.Class, 1+r.IntN(60))
			for i := range classes {
				classes[i].Flows = float64(1 + r.IntN(40))
				for _, l := range r.Perm(len(capacity))[:1+r.IntN(min(4, len(capacity)))] {
					classes[i].Links = append(classes[i].Links, pathmap.LinkID(l))
				}
				if r.IntN(5) == 0 {
					classes[i].Max = math.Pow(10, 4+4*r.Float64())
				}
			}
			rate := make([]float64, len(classes))
			s.Solve(capacity, classes, rate)
			if gap := s.gap(t, capacity, classes, rate); !(gap <= 1e-4) {
				t.Errorf("seed %d: %d classes on %d links are %g a flow below the bound", seed,
					len(classes), len(capacity),
					gap)
			}
		}
	}
}

// gap returns by how much the mean logarithm of a flow's rate can still grow at most, by the last
// call's prices.
func (s *Solver) gap(t *testing.T, capacity []float64, classes []maxmin.Class, rate []float64) float64 {
	t.Helper()
	load := make([]float64, len(capacity))
	flows, primal, dual := 0.0, 0.0, 0.0
	for i, c := range classes {
		price := 0.0
		for _, l := range c.Links {
			load[l] += rate[i] * c.Flows
			price += s.links[l].price
		}
		best := 1 / price // of log x − price·x, up to the bound
		if c.Max > 0 {
			best = min(best, c.Max)
		}
		flows += c.Flows
		primal += c.Flows * math.Log(rate[i])
		dual += c.Flows * (math.Log(best) - price*best)
	}
	for _, l := range s.used {
		dual += s.links[l].price * capacity[l]
		if load[l] > capacity[l]*(1+1e-9) {
			t.Errorf("link %d carries %v of %v", l, load[l], capacity[l])
		}
	}
	return (dual - primal) / flows
}

func BenchmarkSolve(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	capacity := make([]float64, 256)
	for l := range capacity {
		capacity[l] = 1e10
	}
	classes := make([]maxmin.Class, 1000)
	for i := range classes {
		classes[i].Flows = float64(1 + r.IntN(4))
		for _, l := range r.Perm(len(capacity))[:4] {
			classes[i].Links = append(classes[i].Links, pathmap.LinkID(l))
		}
	}
	var s Solver
	rate := make([]float64, len(classes))
	i := 0
	for b.Loop() {
		classes[i%len(classes)].Flows = float64(1 + r.IntN(4))
		s.Solve(capacity, classes, rate)
		i++
	}
}
