package circuits

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// TestKeeper: a reservation is kept just where a table that looks at all of itself has room for it, and
// had none before; and what is dropped leaves no trace.
func TestKeeper(t *testing.T) {
	var k keeper
	kept := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 12))
		b, reference := newTable(4), slow{}
		take := func(in, out southbound.Port, from, to time.Duration) {
			reference = append(reference, struct {
				in, out  southbound.Port
				from, to time.Duration
			}{in, out, from, to})
		}
		now, slack := time.Duration(rng.IntN(3)), time.Duration(rng.IntN(4))
		any := func() (in, out southbound.Port, from, to time.Duration) {
			from = now + time.Duration(rng.IntN(50))
			return southbound.Port(rng.IntN(4)), southbound.Port(rng.IntN(4)), from, from + time.Duration(1+rng.IntN(9))
		}
		for range rng.IntN(20) {
			if in, out, from, to := any(); b.fits(in, out, from, to) {
				b.take(in, out, from, to)
				take(in, out, from, to)
			}
		}
		var bare [][]span
		for _, spans := range b.ports {
			bare = append(bare, append([]span{}, spans...))
		}
		k.open(b, now)
		var own []controller.CircuitReservation
		for at := now; at < now+60; at += time.Duration(rng.IntN(6)) {
			r := controller.CircuitReservation{In: southbound.Port(rng.IntN(4)), Out: southbound.Port(rng.IntN(4)),
				NotBefore: at,
				NotAfter:  at + time.Duration(1+rng.IntN(9))}
			want := reference.fits(r.In, r.Out, at, r.NotAfter)
			for from := now; want && from < at-slack; from++ {
				want = !reference.fits(r.In, r.Out, from, from+r.NotAfter-at)
			}
			if k.keep(&r, slack) != want {
				t.Fatalf("seed %d: %+v is kept: %t, among %+v", seed, r, !want, reference)
			}
			if want {
				take(r.In, r.Out, at, r.NotAfter)
				own = append(own, r)
			}
		}
		kept += len(own)
		k.drop(own)
		for p, spans := range b.ports {
			if !reflect.DeepEqual(append([]span{}, spans...), bare[p]) {
				t.Fatalf("seed %d: port %d has %+v, had %+v", seed, p, spans, bare[p])
			}
		}
	}
	if kept < 3000 {
		t.Errorf("only %d reservations were kept", kept)
	}
}
