package device

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestAgenda holds the agenda against a list that is searched: what comes first, and of equal instants what was added first.
func TestAgenda(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var a agenda
		var twin []item
		now := time.Duration(0)
		for added := range uint32(300) {
			if rng.IntN(40) == 0 {
				a.clear()
				twin = nil
			}
			if rng.IntN(2) == 0 {
				it := item{at: now + time.Duration(rng.IntN(30)), epoch: added}
				a.add(it)
				i := len(twin)
				for i > 0 && twin[i-1].at > it.at {
					i--
				}
				twin = slices.Insert(twin, i, it)
			} else {
				now += time.Duration(rng.IntN(9))
			}
			if at, ok := a.next(); ok != (len(twin) > 0) || ok && at != twin[0].at {
				t.Fatalf("seed %d: next at %v, %v of %d", seed, at, ok, len(twin))
			}
			if ok := a.due(now); ok != (len(twin) > 0 && twin[0].at <= now) {
				t.Fatalf("seed %d: due at %v: %v of %d", seed, now, ok, len(twin))
			} else if ok {
				if it := a.pop(); it.at != twin[0].at || it.epoch != twin[0].epoch {
					t.Fatalf("seed %d: popped %d of %v, want %d of %v", seed, it.epoch, it.at, twin[0].epoch, twin[0].at)
				}
				twin = twin[1:]
			}
		}
	}
}
