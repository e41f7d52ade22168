package circuits

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestByPortAsListed: an input that looks for its pair by itself makes the very reservations that a
// list of all pairs which may begin, gone through in order, does: over tables with spans in the way,
// lit circuits, horizons and no reconfiguration delay.
func TestByPortAsListed(t *testing.T) {
	for seed := range tries.Of[uint64](1500, 4000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		ports := 2 + rng.IntN(9)
		if seed%50 == 0 {
			ports = 60 + rng.IntN(20) // sets of more than a word
		}
		var s [2]scheduler
		for k := range s {
			s[k] = scheduler{table: newTable(ports), manner: manner{byPort: true, listed: k == 1},
				delta: time.Duration(rng.IntN(2)*10) * time.Millisecond,
				start: time.Duration(rng.IntN(3)) * time.Second, horizon: southbound.Never}
		}
		s[1].delta, s[1].start = s[0].delta, s[0].start
		if rng.IntN(2) == 0 {
			s[0].horizon = s[0].start + time.Duration(rng.IntN(300))*time.Millisecond
			s[1].horizon = s[0].horizon
		}
		lit := slices.Repeat([]southbound.Port{southbound.NoPort}, ports)
		for i, o := range rng.Perm(ports) {
			if rng.IntN(3) == 0 && i != o {
				lit[i] = southbound.Port(o)
			}
		}
		s[0].lit, s[1].lit = lit, lit
		for range rng.IntN(4 * ports) {
			in, out := southbound.Port(rng.IntN(ports)), southbound.Port(rng.IntN(ports))
			from := s[0].start + time.Duration(rng.IntN(30))*10*time.Millisecond
			to := from + time.Duration(1+rng.IntN(6))*10*time.Millisecond
			if in != out && s[0].table.fits(in, out, from, to) {
				s[0].table.take(in, out, from, to)
				s[1].table.take(in, out, from, to)
			}
		}
		for c := range southbound.CoflowID(3) { // one coflow after the other into the same table
			var pairs []pair
			for i := range ports {
				for o := range ports {
					if i != o && rng.IntN(3) == 0 {
						pairs = append(pairs, pair{in: southbound.Port(i), out: southbound.Port(o),
							need: time.Duration(1+rng.IntN(9)) * 5 * time.Millisecond})
					}
				}
			}
			a, b := s[0].lay(c, pairs), s[1].lay(c, pairs)
			if !slices.Equal(a, b) || s[0].cut != s[1].cut {
				t.Fatalf("seed %d, coflow %d: %+v, listed: %+v", seed, c, a, b)
			}
		}
	}
}

// TestThinned: a memory that drops ended pairs returns the same for the rest as a fresh one.
func TestThinned(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 10))
		r := newReplay(t, 14, 10*time.Millisecond)
		r.add(0, 1, uniform(14, 50*time.Millisecond))
		r.v.Coflows = []controller.CoflowView{r.arrive[0].coflow}
		c := &r.v.Coflows[0]
		m := new(memory)
		for round := range 12 {
			r.v.Now = time.Duration(round) * time.Second
			for row := range c.Src {
				if rng.IntN(4) == 0 {
					c.Remaining.Base[row], c.Ended[row] = 0, true
				} else if !c.Ended[row] {
					c.Remaining.Base[row] *= 0.9
				}
			}
			got, want := m.demands(r.v, &controller.Plan{}, ports(r.v)), demands(r.v,
				&controller.Plan{}, ports(r.v))
			live := func(all []pair) []pair {
				return slices.DeleteFunc(slices.Clone(all), func(p pair) bool { return p.left == 0 })
			}
			if got[0].bound != want[0].bound || !slices.Equal(live(got[0].pairs), live(want[0].pairs)) {
				t.Fatalf("seed %d, round %d: %+v, want %+v", seed, round, got, want)
			}
		}
		if n := len(m.books.At(1).pairs); n == 14*13 {
			t.Errorf("seed %d: all %d pairs are kept", seed, n)
		}
	}
}

// lay schedules pairs from the start on and returns the reservations in the order of their beginning,
// borrowed until the next call.
func (s *scheduler) lay(coflow southbound.CoflowID, pairs []pair) []controller.CircuitReservation {
	s.own = append(s.own[:0], pairs...)
	if s.byPort && !slices.IsSortedFunc(s.own, byPorts) {
		slices.SortFunc(s.own, byPorts)
	}
	return s.layOut(coflow, s.own)
}
