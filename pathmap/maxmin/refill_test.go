package maxmin

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// TestRefill: levels from the ground up are those that follow changes, and are told alike, whichever way the
// solution before took.
func TestRefill(t *testing.T) {
	for seed := range tries.Of[uint64](600, 4000) {
		r := rand.New(rand.NewPCG(seed, 37))
		capacity := make([]float64, 1+r.IntN(24))
		for l := range capacity {
			capacity[l] = float64(1+r.IntN(4)) * []float64{1, 1e3, 1e9}[r.IntN(3)]
		}
		follows, refills, both := newLevels(capacity), newLevels(capacity), newLevels(capacity)
		follows.seats = 1 << 40 // so that no change is too much to follow
		for step := range 30 {
			for range 1 + r.IntN(4) {
				class, flows := int32(r.IntN(60)), int32(max(r.IntN(8)-2, 0))
				var on []pathmap.LinkID
				for _, l := range r.Perm(len(capacity))[:1+r.IntN(min(8, len(capacity)))] {
					on = append(on, pathmap.LinkID(l))
				}
				for _, s := range []*Levels{follows, refills, both} {
					s.Set(class, on, flows)
				}
			}
			refills.ground.patience.skip, both.ground.patience.skip = 1, r.IntN(2)
			want := toldBy(follows)
			for _, s := range []*Levels{refills, both} {
				if got := toldBy(s); !slices.Equal(got, want) || !slices.Equal(s.level, follows.level) ||
					!slices.Equal(s.necks, follows.necks) {
					t.Fatalf("seed %d step %d: levels %v, bottlenecks %v, told %v; want %v, %v, %v", seed, step, s.level,
						s.necks, got, follows.level, follows.necks, want)
				}
				if err := s.books(); err != nil {
					t.Fatalf("seed %d step %d: %v", seed, step, err)
				}
			}
		}
	}
}

// toldBy solves, and returns what that tells: classes with their bottlenecks before and after, and links, sorted.
func toldBy(s *Levels) (told [][3]int32) {
	changed := s.Solve(func(class, from, to int32) { told = append(told, [3]int32{class, from, to}) })
	slices.Sort(changed)
	for _, l := range changed {
		told = append(told, [3]int32{int32(l), math.MinInt32, math.MinInt32})
	}
	return told
}
