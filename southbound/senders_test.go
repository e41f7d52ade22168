package southbound

import (
	"math/rand/v2"
	"testing"
)

// TestSendersMissNone: every host flow whose rate is another is among those that senders name, and of those
// between a changed and an unchanged host no other.
func TestSendersMissNone(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 44))
		n := 1 + rng.IntN(200)
		rates := func() []int64 {
			all := make([]int64, n)
			for h := range all {
				all[h] = int64(rng.IntN(6)) * 1e9
			}
			return all
		}
		s := NewSenders(n)
		for range 5 {
			wasFrom, from, wasTo, to := rates(), rates(), rates(), rates()
			var changed []int32
			for h := range from {
				if from[h] != wasFrom[h] {
					changed = append(changed, int32(h))
				}
			}
			s.Begin(changed, wasFrom, from)
			for dst := range to {
				set := s.To(wasTo[dst], to[dst])
				if s.Keep(wasTo[dst], to[dst]) {
					set = nil
				}
				for src := range from {
					another := min(wasFrom[src], wasTo[dst]) != min(from[src], to[dst])
					moved := wasTo[dst] != to[dst]
					named := set != nil && set[src/64]>>(src%64)&1 != 0
					if another && !named || named && !another && !moved {
						t.Fatalf("seed %d: from %v (was %v) to %v (was %v): named %v", seed, from[src], wasFrom[src],
							to[dst], wasTo[dst], named)
					}
				}
			}
		}
	}
}
