package flowsim

import (
	"math"
	"testing"

	"lightloom/pathmap/maxmin"
	"lightloom/southbound"
)

// TestKeptRates holds the rates in a replay, of which most are kept at most ends, against all rates solved anew.
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
			t.Fatalf("at %v a class of %v sends at %v, want %v", f.clock.Now(), f.routes[f.classes.list[i].route].pair, got,
				want[k])
		}
	}
}
