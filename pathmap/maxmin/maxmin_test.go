package maxmin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
)

func links(ids ...pathmap.LinkID) []pathmap.LinkID { return ids }

func TestSolve(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name     string
		capacity []float64
		classes  []Class
		want     []float64
	}{
		{"nothing", nil, nil, nil},
		{"one link shared by three flows", []float64{9}, []Class{{links(0), 1, 0}, {links(0), 2, 0}},
			[]float64{3, 3}},
		// link 0: 10/2 = 5 each; link 1: 20 − 5 = 15 for the other
		{"the line of the textbook", []float64{10, 20},
			[]Class{{links(0, 1), 1, 0}, {links(0), 1, 0}, {links(1), 1, 0}},
			[]float64{5, 5, 15}},
		{"a bound frees capacity for others", []float64{10},
			[]Class{{links(0), 1, 2}, {links(0), 1, 0}}, []float64{2, 8}},
		{"a bound that does not bind", []float64{10}, []Class{{links(0), 1, 7}, {links(0), 1, 0}},
			[]float64{5, 5}},
		{"a dead link", []float64{0, -1, 6}, []Class{{links(0, 2), 1, 0}, {links(1), 1, 0}, {links(2), 2, 0}},
			[]float64{0, 0, 3}},
		{"no links", []float64{1}, []Class{{nil, 1, 0}, {nil, 1, 4}}, []float64{inf, 4}},
		{"no flows", []float64{6}, []Class{{links(0), 0, 0}, {links(0), 2, 0}, {links(0), -3, 0}},
			[]float64{0, 3, 0}},
		{"a link used twice", []float64{6}, []Class{{links(0, 0), 1, 0}, {links(0), 1, 0}}, []float64{2, 2}},
		{"half a flow", []float64{6}, []Class{{links(0), 0.5, 0}, {links(0), 1, 0}}, []float64{4, 4}},
		// what is left of the sum of flows, 10²⁰ + 1 − 10²⁰, would be 0 in doubles
		{"flows of very different weight", []float64{8, 1e20},
			[]Class{{links(0, 1), 1, 0}, {links(1), 1e20, 0.5}},
			[]float64{8, 0.5}},
		{"a link without bound", []float64{inf, 4}, []Class{{links(0), 1, 3}, {links(0, 1), 1, 0}},
			[]float64{3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Solver
			rate := make([]float64, len(c.classes))
			s.Solve(c.capacity, c.classes, rate)
			if !slices.Equal(rate, c.want) {
				t.Errorf("got %v, want %v", rate, c.want)
			}
		})
	}
}

// random returns links and classes of a random shape: few or many of each, bounds and dead links among them.
func random(r *rand.Rand) ([]float64, []Class) {
	capacity := make([]float64, 1+r.IntN(20))
	for i := range capacity {
		switch r.IntN(12) {
		case 0:
		case 1:
			capacity[i] = 1e9 * r.Float64()
		default:
			capacity[i] = float64(1+r.IntN(4)) * 1e9
		}
	}
	classes := make([]Class, r.IntN(40))
	for i := range classes {
		for range 1 + r.IntN(6) {
			classes[i].Links = append(classes[i].Links, pathmap.LinkID(r.IntN(len(capacity))))
		}
		classes[i].Flows = float64(r.IntN(5))
		if r.IntN(5) == 0 {
			classes[i].Flows *= r.Float64()
		}
		if r.IntN(3) == 0 {
			classes[i].Max = 1e9 * r.Float64()
		}
	}
	return capacity, classes
}

// TestRandom compares with the reference implementation and checks what max-min fairness is: every link
// holds, and every class has its bound, or a full link on which no flow has more.
func TestRandom(t *testing.T) {
	var s Solver // one for all: its memory must not matter
	for seed := range uint64(5000) {
		capacity, classes := random(rand.New(rand.NewPCG(seed, 5)))
		rate := make([]float64, len(classes))
		s.Solve(capacity, classes, rate)
		for i, want := range reference(capacity, classes) {
			if math.Abs(rate[i]-want) > 1e-9*want+1e-3 {
				t.Fatalf("seed %d: class %d gets %g, want %g", seed, i, rate[i], want)
			}
		}
		if err := fair(capacity, classes, rate); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func fair(capacity []float64, classes []Class, rate []float64) error {
	load, top := make([]float64, len(capacity)), make([]float64, len(capacity))
	for i, c := range classes {
		for _, l := range c.Links {
			load[l] += rate[i] * c.Flows
			top[l] = max(top[l], rate[i])
		}
	}
	for l := range capacity {
		if load[l] > max(capacity[l], 0)*(1+1e-12) {
			return fmt.Errorf("link %d carries %g of %g", l, load[l], capacity[l])
		}
	}
	for i, c := range classes {
		bound := c.Flows <= 0 || c.Max > 0 && rate[i] == c.Max
		for _, l := range c.Links {
			bound = bound || load[l] >= capacity[l]*(1-1e-9) && rate[i] >= top[l]*(1-1e-9)
		}
		if !bound {
			return fmt.Errorf("class %d could have more than %g", i, rate[i])
		}
	}
	return nil
}

// TestSameBits: the same input gives the same bits, whatever was solved before.
func TestSameBits(t *testing.T) {
	var used Solver
	for seed := range uint64(300) {
		capacity, classes := random(rand.New(rand.NewPCG(seed, 6)))
		var fresh Solver
		a, b := make([]float64, len(classes)), make([]float64, len(classes))
		used.Solve(capacity, classes, a)
		fresh.Solve(capacity, classes, b)
		if !slices.Equal(a, b) {
			t.Fatalf("seed %d: %v and %v", seed, a, b)
		}
	}
}

// leafspine returns classes of a 16-rack fabric of 64 hosts with 4 spines: 6 links at most, as a
// simulator has them.
func leafspine(r *rand.Rand, n int) ([]float64, []Class) {
	capacity := make([]float64, 2*64+2*16*4)
	for i := range capacity {
		capacity[i] = 1e9
	}
	classes := make([]Class, n)
	for i := range classes {
		a, b, spine := r.IntN(64), r.IntN(64), r.IntN(4)
		up, down := 128+a/4*4+spine, 192+b/4*4+spine
		classes[i] = Class{Links: links(pathmap.LinkID(2*a), pathmap.LinkID(up), pathmap.LinkID(down),
			pathmap.LinkID(2*b+1)),
			Flows: float64(1 + r.IntN(8))}
		if r.IntN(4) == 0 {
			classes[i].Max = 1e9 * r.Float64() / 100
		}
	}
	return capacity, classes
}

func TestNoAllocation(t *testing.T) {
	capacity, classes := leafspine(rand.New(rand.NewPCG(1, 7)), 500)
	rate := make([]float64, len(classes))
	var s Solver
	s.Solve(capacity, classes, rate)
	if n := testing.AllocsPerRun(20, func() { s.Solve(capacity, classes, rate) }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("leafspine_16x4/classes=%d", n), func(b *testing.B) {
			capacity, classes := leafspine(rand.New(rand.NewPCG(1, 8)), n)
			rate := make([]float64, n)
			var s Solver
			b.ReportAllocs()
			for b.Loop() {
				s.Solve(capacity, classes, rate)
			}
		})
	}
}
