package report

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/southbound"
)

// TestDrawnCircuits: the circuits that are drawn of many are the same in whatever order they come, and
// no input is left out.
func TestDrawnCircuits(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 14))
		var m Moved
		all := make([]CircuitInterval, 6*drawnCircuits)
		for i, at := range rng.Perm(len(all)) {
			if seed%2 == 0 {
				at = i // as they come of a run
			}
			all[i] = CircuitInterval{In: southbound.Port(rng.IntN(9)), Out: southbound.Port(rng.IntN(9)),
				Moving: time.Duration(at)}
			m.Circuit(all[i])
		}
		got := m.First()
		if !slices.Equal(got, thinned(all)) || m.Circuits != len(all) {
			t.Errorf("seed %d: %d of %d circuits depend on their order", seed, len(got), m.Circuits)
		}
		lanes := map[southbound.Port]int{}
		for _, c := range got {
			lanes[c.In]++
		}
		for in := range southbound.Port(9) {
			if n := lanes[in]; n < drawnCircuits/9/2 {
				t.Errorf("seed %d: %d circuits of input %d are drawn, of %d in all", seed, n, in, len(got))
			}
		}
	}
}

// TestTimesLikeLists: counted times give the figures that a list of them gives.
func TestTimesLikeLists(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 15))
		var listed []time.Duration
		var counted Times
		for range rng.IntN(200) {
			took := time.Duration(10+rng.IntN(30)) * time.Millisecond
			listed = append(listed, took)
			counted.Add(took)
		}
		p := []float64{.01, .5, .9, .99, 1}
		var want []float64
		for _, x := range p {
			want = append(want, Percentile(sortedIn(time.Microsecond, listed), x))
		}
		if got := counted.Percentiles(time.Microsecond, p...); !slices.Equal(got, want) || counted.Count() != len(listed) {
			t.Errorf("seed %d: percentiles %v of %d times, want %v of %d", seed, got, counted.Count(), want, len(listed))
		}
	}
}
