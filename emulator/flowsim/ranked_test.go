package flowsim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestRankedAnew holds rates that are solved for only where something has changed against an instance that knows
// nothing of the steps before: they must be the same to the last bit, and exactly the classes with another rate named.
// Now and then it forgets all classes, as where capacities change.
func TestRankedAnew(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 221))
		hosts := 2 + r.IntN(12)
		capacity := make([]float64, 2*hosts)
		for l := range capacity {
			capacity[l] = []float64{1e9, 1e9, 3e9, 7e8}[r.IntN(4)]
		}
		kept := &rankedShares{perBit: 0.3}
		all := make([]rankedClass, 1+r.IntN(4*hosts))
		for i := range all {
			all[i].Place = none
		}
		given := make([]float64, len(all))
		for step := range 30 {
			changed := changeClasses(r, all, hosts)
			if r.IntN(8) == 0 {
				kept.Reset()
				changed = busyClasses(all)
				capacity[r.IntN(len(capacity))] = 1e9
			}
			for _, i := range changed {
				all[i].Given = given[i]
				if all[i].Place == none {
					all[i].Given, given[i] = 0, 0
				}
				kept.Set(int32(i), all[i])
			}
			moved := slices.Sorted(slices.Values(kept.Solve(capacity)))
			fresh := &rankedShares{perBit: 0.3}
			for i := range all {
				fresh.Set(int32(i), all[i])
			}
			fresh.Solve(capacity)
			for i := range all {
				if all[i].Place == none {
					continue
				}
				want := fresh.classes[i].Rate * 0.3
				if got := kept.classes[i].Rate * 0.3; got != want {
					t.Fatalf("seed %d step %d: class %d has %v, and anew %v", seed, step, i, got, want)
				}
				if _, named := slices.BinarySearch(moved, int32(i)); named != (want != given[i]) {
					t.Fatalf("seed %d step %d: class %d went from %v to %v, named: %v", seed, step, i, given[i], want, named)
				}
				given[i] = want
			}
		}
	}
}

// changeClasses has some classes come, go, grow, move or stand still, and returns which. Places stay dense.
func changeClasses(r *rand.Rand, all []rankedClass, hosts int) (changed []int) {
	busy := busyClasses(all)
	slices.SortFunc(busy, func(a, b int) int { return int(all[a].Place - all[b].Place) })
	for range 1 + r.IntN(4) {
		i := r.IntN(len(all))
		c := &all[i]
		changed = append(changed, i)
		switch {
		case c.Place == none:
			*c = rankedClass{Place: int32(len(busy)), Flows: int32(r.IntN(4)),
				Priority: uint8(r.IntN(southbound.MaxPriority + 1))}
			c.lead([]pathmap.LinkID{pathmap.LinkID(r.IntN(hosts)), pathmap.LinkID(hosts + r.IntN(hosts))})
			busy = append(busy, i)
		case r.IntN(3) == 0:
			last := busy[len(busy)-1]
			busy[c.Place], all[last].Place = last, c.Place
			busy, c.Place, c.Flows = busy[:len(busy)-1], none, 0
			changed = append(changed, last)
		default:
			c.Flows = int32(r.IntN(5))
		}
	}
	return changed
}

// busyClasses returns the classes that have a place.
func busyClasses(all []rankedClass) (busy []int) {
	for i := range all {
		if all[i].Place != none {
			busy = append(busy, i)
		}
	}
	return busy
}
