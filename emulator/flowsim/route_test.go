package flowsim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"lightloom/pathmap"
)

// TestAsked: a route keeps the switches of its last walk, however many they are and were before.
func TestAsked(t *testing.T) {
	all := []pathmap.NodeID{7, 3, 9, 1, 8, 2, 6}
	r := newRoute(pair{0, 1, 0})
	if len(r.asked()) != 0 {
		t.Errorf("a new route has asked %v", r.asked())
	}
	for _, n := range []int{2, 4, 7, 3, 5, 0, 6, 1} {
		if r.ask(all[:n]); !slices.Equal(r.asked(), all[:n]) {
			t.Errorf("asked %v, want %v", r.asked(), all[:n])
		}
	}
}

// TestLinks: a route keeps where it leads, however long its path is and was before.
func TestLinks(t *testing.T) {
	all := []pathmap.LinkID{7, 3, 9, 1, 8, 2, 6, 5, 4}
	r := newRoute(pair{0, 1, 0})
	for _, n := range []int{0, 4, 9, 6, 7, 5, 0, 8, 1} {
		if r.lead(all[:n]); !slices.Equal(r.links(), all[:n]) {
			t.Errorf("it leads over %v, want %v", r.links(), all[:n])
		}
	}
}

// TestListed puts a route into lists and takes it out again, and holds it against a set.
func TestListed(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 28))
		r := newRoute(pair{0, 1, 0})
		in := map[pathmap.NodeID]bool{}
		for range 60 {
			n := pathmap.NodeID(rng.IntN(9))
			if rng.IntN(2) == 0 {
				if r.enlist(n) == in[n] {
					t.Fatalf("seed %d: %d is put into the list of %v, which has it: %v", seed, n, in, in[n])
				}
				in[n] = true
			} else if in[n] {
				r.delist(n)
				delete(in, n)
			}
		}
	}
}

// TestRouteSize: the first fields of a route fill one cache line. Moving them costs speed.
func TestRouteSize(t *testing.T) {
	var r route
	if n, second := unsafe.Sizeof(r), unsafe.Offsetof(r.near); n != 192 || second != 64 {
		t.Errorf("a route takes %d bytes, its second line begins at %d: want 192 and 64", n, second)
	}
}
