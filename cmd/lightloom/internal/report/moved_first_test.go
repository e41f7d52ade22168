package report

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/southbound"
)

// TestFirstCircuits: the circuits that are drawn of many are the first of all of them, in whatever order they come.
func TestFirstCircuits(t *testing.T) {
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
		slices.SortFunc(all, compareCircuits)
		if got := m.First(); !slices.Equal(got, all[:drawnCircuits]) || m.Circuits != len(all) {
			t.Errorf("seed %d: %d of %d circuits, and not the first", seed, len(got), m.Circuits)
		}
	}
}
