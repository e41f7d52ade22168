package torus

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkPlace places a slice of 2×4×4 nodes in a pod of 64 cubes, half of which are used in part.
func BenchmarkPlace(b *testing.B) {
	p := newPod(b, 4, 4, 4)
	rng := rand.New(rand.NewPCG(1, 1))
	for c := range p.taken {
		if c%2 == 0 {
			p.taken[c] = rng.Uint64() & rng.Uint64()
		}
	}
	for _, r := range Rules() {
		b.Run(r.Name, func(b *testing.B) {
			for b.Loop() {
				r.Place(p, Box(2, 4, 4))
			}
		})
	}
}
