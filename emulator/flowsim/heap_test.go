package flowsim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestClassHeap drops host flows from anywhere and holds the rest against a sorted list.
func TestClassHeap(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN(60)
		cs := &classes{state: &state{hostFlows: make([]hostFlow, n)}}
		c := cs.newClass()
		var in []int32
		for b := range int32(n) {
			cs.hostFlows[b].mark = float64(rng.IntN(20)) // many ties
			cs.push(c, b)
			in = append(in, b)
		}
		slices.SortFunc(in, func(a, b int32) int {
			if cs.earlier(a, b) {
				return -1
			}
			return 1
		})
		for len(in) > 0 {
			if cs.member(c, 0) != in[0] {
				t.Fatalf("seed %d: first is %d, want %d", seed, cs.member(c, 0), in[0])
			}
			i := rng.IntN(len(in)) * rng.IntN(2)
			if b := in[i]; cs.member(c, cs.hostFlows[b].pos) != b {
				t.Fatalf("seed %d: host flow %d is lost", seed, b)
			}
			cs.drop(c, cs.hostFlows[in[i]].pos)
			in = slices.Delete(in, i, i+1)
			if got := int(cs.list[c].size); got != len(in) {
				t.Fatalf("seed %d: %d host flows, want %d", seed, got, len(in))
			}
		}
	}
}

// TestClassSize: a class fits one cache line. A larger one costs speed.
func TestClassSize(t *testing.T) {
	if n := unsafe.Sizeof(class{}); n != 64 {
		t.Errorf("a class takes %d bytes, want 64", n)
	}
}
