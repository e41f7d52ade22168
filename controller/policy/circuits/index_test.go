package circuits

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/southbound"
)

// TestIndexReference holds an index that is built again and again, of few ports and of more than a word
// of them, against looking through the pairs, and through needs that come and go.
func TestIndexReference(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 71))
		var x index
		for range 5 {
			n := 2 + r.IntN(8)
			if r.IntN(3) == 0 {
				n = 60 + r.IntN(80)
			}
			var pairs []pair
			for in := range southbound.Port(n) {
				for out := range southbound.Port(n) {
					if in != out && r.IntN(n) < 3 {
						pairs = append(pairs, pair{in: in, out: out, need: time.Duration(r.IntN(3))})
					}
				}
			}
			x.build(pairs, n)
			for range 20 {
				if len(pairs) > 0 {
					k := r.IntN(len(pairs))
					pairs[k].need = time.Duration(r.IntN(3))
					x.note(k, &pairs[k])
				}
			}
			b := &coflowPairs{index: x}
			alive := 0
			for in := range southbound.Port(n) {
				for out := range southbound.Port(n) {
					k := slices.IndexFunc(pairs, func(p pair) bool { return p.in == in && p.out == out })
					if got := x.at(int(in), int(out)); got != k {
						t.Fatalf("seed %d: %d→%d of %d ports is at %d, want %d", seed, in, out, n, got, k)
					}
					want := k >= 0 && pairs[k].need > 0
					back := x.live[(2*int(out)+1)*x.words+int(in)/64]>>(in%64)&1 == 1
					if b.wanted(in, out) != want || back != want || k >= 0 && x.needs[k] != pairs[k].need {
						t.Fatalf("seed %d: %d→%d of %d ports is wanted: %v and %v, want %v", seed, in, out, n,
							b.wanted(in, out), back,
							want)
					}
					if want {
						alive++
					}
				}
			}
			if x.alive != alive {
				t.Fatalf("seed %d: %d pairs are alive, want %d", seed, x.alive, alive)
			}
		}
	}
}
