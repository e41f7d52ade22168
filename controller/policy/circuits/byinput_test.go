package circuits

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// TestByInput holds it against a sort that compares all.
func TestByInput(t *testing.T) {
	var x byInput // its memory serves many
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 12))
		ports := 1 + rng.IntN(20)
		all := make([]controller.CircuitReservation, rng.IntN(60))
		for i, at := range rng.Perm(len(all)) {
			all[i] = controller.CircuitReservation{In: southbound.Port(rng.IntN(ports)), Out: southbound.Port(i),
				NotBefore: time.Duration(at)}
		}
		want := slices.SortedFunc(slices.Values(all), func(a, b controller.CircuitReservation) int {
			return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
		})
		if x.sort(all, ports); !slices.Equal(all, want) {
			t.Fatalf("seed %d: %+v, want %+v", seed, all, want)
		}
	}
}
