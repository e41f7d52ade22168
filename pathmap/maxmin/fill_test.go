package maxmin

import (
	"math/rand/v2"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// TestFillLikeFromTheGround: the level that a link is filled to does not depend on the level that it has.
// Levels are so small that many are equal and divisions leave a rest, or so large that what classes have elsewhere adds
// up to more than 64 bits hold.
func TestFillLikeFromTheGround(t *testing.T) {
	kept := 0
	for seed := range tries.Of[uint64](2000, 20000) {
		rng := rand.New(rand.NewPCG(seed, 46))
		n := 2 + rng.IntN(6)
		s := newLevels(make([]float64, n))
		classes, most, room := 12, int64(12), int64(60)
		if seed%2 == 1 {
			classes, most, room = 24, 1<<60, 1<<61
		}
		for i := range int32(1 + rng.IntN(classes)) {
			links := make([]pathmap.LinkID, 0, n)
			for _, l := range rng.Perm(n)[:1+rng.IntN(n)] {
				links = append(links, pathmap.LinkID(l))
			}
			s.Set(i, links, int32(1+rng.IntN(4)))
		}
		s.attachAll(func(_, _, _ int32) {})
		draw := func() int64 {
			if rng.IntN(8) == 0 {
				return unheld
			}
			return rng.Int64N(most)
		}
		for l := range int32(n) {
			s.level[l], s.links[l].cap = draw(), rng.Int64N(room)
		}
		for l := range int32(n) {
			s.fill(l) // lists the sharers
			for i := range s.rows {
				s.rows[i].flows = int64(s.on[l][i].flows)
			}
			want := s.fillUp(l)
			for range 4 {
				if s.level[l] == want {
					kept++
				}
				if got := s.fill(l); got != want {
					t.Fatalf("seed %d: link %d filled from %d to %d, from the ground to %d", seed, l, s.level[l], got, want)
				}
				s.level[l] = []int64{want, draw()}[rng.IntN(2)]
			}
		}
	}
	if kept == 0 {
		t.Error("no link was filled from the level that it keeps")
	}
}
