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

// TestByCoflow holds it against a sort that compares all, ids and instants too far apart for it included.
func TestByCoflow(t *testing.T) {
	var x byCoflow // its memory serves many
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 14))
		all := make([]controller.CircuitReservation, rng.IntN(80))
		far := [3]int{1, 1, 40_000}[rng.IntN(3)]
		apart := [3]time.Duration{1, time.Millisecond, 24 * time.Hour}[rng.IntN(3)]
		for i, at := range rng.Perm(len(all)) { // no input has two at one instant
			all[i] = controller.CircuitReservation{In: southbound.Port(i % 7), Out: southbound.Port(i),
				NotBefore: time.Duration(at/7) * apart,
				Coflow:    southbound.CoflowID(5 + far*rng.IntN(6))}
		}
		slices.SortFunc(all, func(a, b controller.CircuitReservation) int {
			return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
		})
		all = slices.CompactFunc(all, func(a, b controller.CircuitReservation) bool {
			return a.In == b.In && a.NotBefore == b.NotBefore
		})
		want := slices.SortedFunc(slices.Values(all), func(a, b controller.CircuitReservation) int {
			return cmp.Or(cmp.Compare(a.Coflow, b.Coflow), cmp.Compare(a.NotBefore, b.NotBefore),
				cmp.Compare(a.In, b.In))
		})
		if x.sort(all); !slices.Equal(all, want) {
			t.Fatalf("seed %d: %+v, want %+v", seed, all, want)
		}
	}
}
