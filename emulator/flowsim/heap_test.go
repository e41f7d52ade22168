package flowsim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestClassHeap drops bundles from anywhere and holds the rest against a sorted list.
func TestClassHeap(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN(60)
		f := &fluid{bundles: make([]bundle, n)}
		c := f.newClass()
		var in []int32
		for b := range int32(n) {
			f.bundles[b].mark = float64(rng.IntN(20)) // many ties
			f.push(c, b)
			in = append(in, b)
		}
		slices.SortFunc(in, func(a, b int32) int {
			if f.earlier(a, b) {
				return -1
			}
			return 1
		})
		for len(in) > 0 {
			if f.member(c, 0) != in[0] {
				t.Fatalf("seed %d: first is %d, want %d", seed, f.member(c, 0), in[0])
			}
			i := rng.IntN(len(in)) * rng.IntN(2)
			if b := in[i]; f.member(c, f.bundles[b].pos) != b {
				t.Fatalf("seed %d: bundle %d is lost", seed, b)
			}
			f.drop(c, f.bundles[in[i]].pos)
			in = slices.Delete(in, i, i+1)
			if got := int(f.classes[c].size); got != len(in) {
				t.Fatalf("seed %d: %d bundles, want %d", seed, got, len(in))
			}
		}
	}
}

// TestClassSize: a class is in one line of a cache, which whoever changes it must weigh.
func TestClassSize(t *testing.T) {
	if n := unsafe.Sizeof(class{}); n != 64 {
		t.Errorf("a class takes %d bytes, want 64", n)
	}
}
