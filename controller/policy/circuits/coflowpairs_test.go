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

// TestCoflowPairsAsListed: reserving from coflowPairs, which lists no pairs, gives the same reservations as from a
// list of the uncovered pairs, whatever has ended, been thinned out, is held, or was reserved for
// earlier coflows.
func TestCoflowPairsAsListed(t *testing.T) {
	t.Parallel()
	for seed := range tries.Of[uint64](1000, 3000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		ports := 2 + rng.IntN(9)
		if seed%50 == 0 {
			ports = 60 + rng.IntN(80) // sets of more than a word, and of more than two
		}
		var s [2]scheduler
		start, delta := time.Duration(rng.IntN(3))*time.Second, time.Duration(rng.IntN(2)*10)*time.Millisecond
		horizon := southbound.Never
		if rng.IntN(2) == 0 {
			horizon = start + time.Duration(rng.IntN(300))*time.Millisecond
		}
		for k := range s {
			s[k] = scheduler{table: newTable(ports), manner: manner{byPort: true}, delta: delta,
				start: start, horizon: horizon}
		}
		covered := make([]time.Duration, ports*ports)
		for c := range southbound.CoflowID(3) {
			var b coflowPairs
			for in := range ports {
				for out := range ports {
					if in != out && rng.IntN(3) > 0 {
						b.pairs = append(b.pairs, pair{in: southbound.Port(in), out: southbound.Port(out),
							need: time.Duration(rng.IntN(9)) * 5 * time.Millisecond})
					}
				}
			}
			b.build(b.pairs, ports)
			for range rng.IntN(ports) { // some go on or end after the index was made
				if len(b.pairs) > 0 {
					k := rng.IntN(len(b.pairs))
					p := &b.pairs[k]
					p.need = time.Duration(rng.IntN(4)) * 5 * time.Millisecond
					b.note(k, p)
				}
			}
			var held []controller.CircuitReservation
			for range rng.IntN(2 * ports) {
				r := controller.CircuitReservation{In: southbound.Port(rng.IntN(ports)),
					Out: southbound.Port(rng.IntN(ports))}
				covered[int(r.In)*ports+int(r.Out)] += time.Duration(rng.IntN(5)) * 5 * time.Millisecond
				held = append(held, r)
			}
			if ports < 60 {
				checkIndex(t, seed, &b, ports)
			}
			var todo []pair
			for _, p := range b.pairs {
				if p.need -= covered[int(p.in)*ports+int(p.out)]; p.need > 0 {
					todo = append(todo, p)
				}
			}
			want := s[0].layOut(c, todo)
			got := s[1].layPairs(c, &b, covered, held)
			if !slices.Equal(got, want) || s[0].cut != s[1].cut {
				t.Fatalf("seed %d, coflow %d: %+v, listed: %+v", seed, c, got, want)
			}
			clear(covered)
		}
	}
}

// checkIndex holds an index against the pairs themselves.
func checkIndex(t *testing.T, seed uint64, b *coflowPairs, ports int) {
	t.Helper()
	alive := 0
	for in := range ports {
		for out := range ports {
			want := slices.IndexFunc(b.pairs, func(p pair) bool { return int(p.in) == in && int(p.out) == out })
			if got := b.at(in, out); got != want {
				t.Fatalf("seed %d: %d→%d is at %d, want %d", seed, in, out, got, want)
			}
			if want >= 0 && b.pairs[want].need > 0 {
				alive++
			}
		}
	}
	if b.alive != alive {
		t.Fatalf("seed %d: %d pairs need circuits, want %d", seed, b.alive, alive)
	}
}
