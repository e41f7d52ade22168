package flowsim

import (
	"math/rand/v2"
	"testing"
)

// TestSpans gives and takes places at random and holds them against a plain list of what is free.
func TestSpans(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 21))
		var s spans
		free := make([]bool, 64)
		var held []span
		for at := int32(0); at < 64; {
			n := min(1+r.Int32N(9), 64-at)
			held = append(held, span{at, at + n})
			at += n
		}
		for range 300 {
			if len(held) > 0 && r.IntN(2) == 0 {
				i := r.IntN(len(held))
				p := held[i]
				held = append(held[:i], held[i+1:]...)
				s.Give(p)
				for k := p.First; k < p.End; k++ {
					free[k] = true
				}
				continue
			}
			n := 1 + r.Int32N(12)
			first, ok := s.Take(n)
			if want, can := firstFit(free, n); ok != can || ok && first != want {
				t.Fatalf("seed %d: take %d: %d, %v; want %d, %v of %v", seed, n, first, ok, want, can, free)
			}
			if ok {
				held = append(held, span{first, first + n})
				for k := first; k < first+n; k++ {
					free[k] = false
				}
			}
		}
	}
}

func firstFit(free []bool, n int32) (int32, bool) {
	long := int32(0)
	for i, f := range free {
		if long++; !f {
			long = 0
		}
		if long == n {
			return int32(i) - n + 1, true
		}
	}
	return 0, false
}
