package device

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestAgenda holds the agenda against a list that is searched: what comes first, and of equal instants
// what was added first.
func TestAgenda(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var a agenda
		var reference []item
		now := time.Duration(0)
		for added := range uint32(300) {
			if rng.IntN(40) == 0 {
				a.clear()
				reference = nil
			}
			if rng.IntN(2) == 0 {
				it := item{at: now + time.Duration(rng.IntN(30)), epoch: added}
				a.add(it)
				i := len(reference)
				for i > 0 && reference[i-1].at > it.at {
					i--
				}
				reference = slices.Insert(reference, i, it)
			} else {
				now += time.Duration(rng.IntN(9))
			}
			if at, ok := a.next(); ok != (len(reference) > 0) || ok && at != reference[0].at {
				t.Fatalf("seed %d: next at %v, %v of %d", seed, at, ok, len(reference))
			}
			if ok := a.due(now); ok != (len(reference) > 0 && reference[0].at <= now) {
				t.Fatalf("seed %d: due at %v: %v of %d", seed, now, ok, len(reference))
			} else if ok {
				if it := a.pop(); it.at != reference[0].at || it.epoch != reference[0].epoch {
					t.Fatalf("seed %d: popped %d of %v, want %d of %v", seed, it.epoch, it.at,
						reference[0].epoch, reference[0].at)
				}
				reference = reference[1:]
			}
		}
	}
}
