package flowsim

import (
	"math"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestKeptRates holds the rates in a replay, of which most are kept at most ends, against all rates
// solved anew.
func TestKeptRates(t *testing.T) {
	s := simulate(t, fabric(t, folded), Options{})
	wire(t, s)
	rates(t, s, southbound.Rates{Fair: true})
	all := facebookShape(4, 15, 32)
	f := s.fluid
	for {
		at, ok := s.Next()
		if len(all) > 0 && (!ok || all[0].at < at) {
			at, ok = all[0].at, true
		}
		if !ok {
			break
		}
		advance(t, s, at)
		for ; len(all) > 0 && all[0].at <= at; all = all[1:] {
			if err := s.Host().Start([]southbound.Start{all[0].start}); err != nil {
				t.Fatal(err)
			}
		}
		s.Next()
		checkRates(t, f)
	}
	if f.solves < 50 {
		t.Errorf("rates were shared %d times only", f.solves)
	}
}

func checkRates(t *testing.T, f *fluid) {
	t.Helper()
	var solver maxmin.Solver
	var classes []maxmin.Class
	for _, i := range f.classes.busy {
		c := &f.classes.list[i]
		classes = append(classes, maxmin.Class{Links: f.routes[c.route].links(), Flows: float64(c.size)})
	}
	want := make([]float64, len(classes))
	solver.Solve(f.capacity, classes, want)
	for k, i := range f.classes.busy {
		got := 0.0
		if g := f.classes.list[i].group; g != none {
			got = f.classes.groups[g].rate / f.perBit
		}
		if math.Abs(got-want[k]) > 1e-9*want[k] {
			t.Fatalf("at %v a class of %v sends at %v, want %v", f.clock.Now(),
				f.routes[f.classes.list[i].route].pair, got,
				want[k])
		}
	}
}

// TestProportional has a host flow that crosses two full links, and one on each of them: max-min
// fairness gives all a half, proportional fairness the first a third and the others two thirds. Strict
// priorities come before both.
func TestProportional(t *testing.T) {
	spec := topo.Spec{Kind: topo.LeafSpine, Racks: 4, Hosts: 1, Spines: 1, EPS: 100 * pathmap.Mbps,
		NIC: pathmap.Gbps}
	for _, tc := range []struct {
		name         string
		proportional bool
		rates        southbound.Rates
		want         []float64 // bytes left of 1 MB after 60 ms, in which a link carries 750 kB
	}{
		{"max-min fair", false, southbound.Rates{Fair: true}, []float64{625e3, 625e3, 625e3}},
		{"proportional", true, southbound.Rates{Fair: true}, []float64{750e3, 500e3, 500e3}},
		{"the first has priority", true, southbound.Rates{Fair: true,
			Priority: []southbound.Priority{{Coflow: 0, Priority: 1}}}, []float64{250e3, 1e6, 1e6}},
		{"rates are set", true, southbound.Rates{Spread: []southbound.Spread{{Coflow: 0}, {Coflow: 1},
			{Coflow: 2}}},
			[]float64{1e6, 1e6, 1e6}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := simulate(t, fabric(t, spec.WithDefaults()),
				Options{NoHeaders: true, Proportional: tc.proportional})
			wire(t, s)
			start(t, s, 0, row{0, 1, mb, 1})
			start(t, s, 1, row{0, 2, mb, 1})
			start(t, s, 2, row{3, 1, mb, 1})
			rates(t, s, tc.rates)
			advance(t, s, 60*ms)
			for c, want := range tc.want {
				if got := s.fluid.leftOf(s.fluid.coflows[c].first); math.Abs(got-want) > 100 {
					t.Errorf("coflow %d has %.0f bytes left, want %.0f", c, got, want)
				}
			}
		})
	}
}
