package flowsim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/emulator/des"
	"lightloom/southbound"
)

// TestLaneFirstEnds gives bundles of the lane other rates, few or many at once, takes some out and puts others in, and
// holds the first end, and who ends then, against sorting all rows.
func TestLaneFirstEnds(t *testing.T) {
	loose := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 27))
		n := 2 + rng.IntN(60)
		f := &fluid{clock: &des.Clock[event]{}, perBit: 1.0 / 8e9, bundles: make([]bundle, n),
			parts: make([]float64, n), routes: make([]route, 1), coflows: []coflow{{live: 1 << 20}}}
		f.routes[0].fate, f.routes[0].live = arrives, 1<<20
		for b := range f.bundles {
			f.enlane(int32(b), float64(1+rng.IntN(50)), 0)
		}
		for step := range 40 {
			f.change(rng)
			if f.lane.loose {
				loose++
			}
			all := slices.Clone(f.lane.rows)
			slices.SortFunc(all, func(a, b laned) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.bundle, b.bundle)) })
			if len(all) == 0 {
				break
			}
			if got := f.lane.soonest(); got != all[0].end {
				t.Fatalf("seed %d step %d: first ends at %v, want %v", seed, step, got, all[0].end)
			}
			if all[0].end == southbound.Never || rng.IntN(3) > 0 {
				continue
			}
			f.clock.Set(all[0].end)
			var want []int32
			for _, r := range all {
				if r.end == all[0].end {
					want = append(want, r.bundle)
				}
			}
			if got := f.takeEnded(); !slices.Equal(got, want) {
				t.Fatalf("seed %d step %d: bundles %v end, want %v", seed, step, got, want)
			}
		}
	}
	if loose < 1000 {
		t.Errorf("the heap was loose %d times only", loose)
	}
}

// change gives some rows another wish and what all wish for, and takes one out or puts one back in.
func (f *fluid) change(rng *rand.Rand) {
	if some := rng.IntN(4); some > 0 {
		for b := range f.bundles {
			if f.bundles[b].class == onLane && rng.IntN(1+30*(some-1)) == 0 {
				f.wishLaned(int32(b), float64(rng.IntN(5))*1e9)
			}
		}
		f.grantLane()
	}
	switch b := int32(rng.IntN(len(f.bundles))); {
	case rng.IntN(2) == 0:
	case f.bundles[b].class == onLane:
		f.delane(b)
		f.bundles[b].class = gone
	default:
		f.enlane(b, float64(1+rng.IntN(50)), 1e9)
	}
	if len(f.lane.rows) > 0 && rng.IntN(3) == 0 {
		f.setLaned(int32(rng.IntN(len(f.lane.rows))), float64(rng.IntN(5))*1e9)
	}
}

// takeEnded ends what has nothing left, and says who that was.
func (f *fluid) takeEnded() (who []int32) {
	f.events = f.events[:0]
	f.laneEnds()
	for _, e := range f.events {
		who = append(who, e.Row)
	}
	return who
}
