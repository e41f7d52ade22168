package controller

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestAllToAll: flows that are made in the order of hosts sum up to the same host flows as those in the
// order of tasks, which gather sorts.
func TestAllToAll(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		draw := func() []southbound.HostID {
			out := make([]southbound.HostID, 1+rng.IntN(12))
			for i := range out {
				out[i] = southbound.HostID(rng.IntN(6))
			}
			return out
		}
		from, to, bytes := draw(), draw(), pathmap.Bytes(rng.IntN(500))
		part := func(i, k int) pathmap.Bytes { return share(bytes, len(from)*len(to), i*len(to)+k) }
		var slow []Flow
		for i := range from {
			for k := range to {
				slow = append(slow, Flow{Src: from[i], Dst: to[k], Bytes: part(i, k), Count: 1})
			}
		}
		fast := allToAll(from, to, part)
		if !inOrder(fast) {
			t.Fatalf("seed %d: %v is not sorted", seed, fast)
		}
		if a, b := gather(fast, false), gather(slow, false); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: %v, want %v", seed, a, b)
		}
	}
}
