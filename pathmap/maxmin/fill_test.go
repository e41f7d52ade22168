package maxmin

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// books compares what a solution keeps of links with what follows from their classes, and each level with
// the one found from the ground up.
func (s *Levels) books() error {
	for l := range s.links {
		x := s.links[l]
		want, left := levelLink{most: -1, cap: x.cap}, x.cap
		s.rows = s.rows[:0]
		for i, o := range s.on[l] {
			c := &s.classes[o.class]
			if c.flows != o.flows || s.placeOn(o.class, int32(l)).at != int32(i) {
				return fmt.Errorf("link %d: class %d of %d flows has %d at another place", l, o.class, o.flows, c.flows)
			}
			s.rows = append(s.rows, sharer{s.elsewhere(int32(l), &o), int64(o.flows)})
			want.total += int64(o.flows)
			if neck := s.necks[o.class]; neck == int32(l) {
				if want.own++; int(want.own) != i+1 {
					return fmt.Errorf("link %d: class %d is held back here, and not among the first", l, o.class)
				}
				want.open += int64(o.flows)
			} else {
				left -= s.level[neck] * int64(o.flows)
				want.most = max(want.most, s.level[neck])
			}
		}
		if x.open > 0 && x.most < want.most {
			return fmt.Errorf("link %d: others have up to %d, noted is %d", l, want.most, x.most)
		}
		if want.most = x.most; x != want {
			return fmt.Errorf("link %d is %+v, want %+v", l, x, want)
		}
		held := want.open > 0
		if r := s.room[l]; r.left != left || held != (r.need == always) || !held && r.need != want.total {
			return fmt.Errorf("link %d has %+v, want %d left; %d flows, holds some back: %v", l, r, left, want.total, held)
		}
		if level, _, _ := s.fillUp(int32(l)); level != s.level[l] {
			return fmt.Errorf("link %d has level %d, from the ground up %d", l, s.level[l], level)
		}
	}
	return nil
}

// TestFollowedLikeFromTheGround: where changes are followed, what is known of each link is what a look at all of its
// classes tells. Capacities are so small that many levels are equal and divisions leave a rest, or large; flows are
// few, or so many that they have no whole unit each.
func TestFollowedLikeFromTheGround(t *testing.T) {
	for seed := range tries.Of[uint64](1500, 15000) {
		r := rand.New(rand.NewPCG(seed, 46))
		capacity := make([]float64, 2+r.IntN(10))
		s := newLevels(capacity)
		s.seats = 1 << 40 // so that no change is too much to follow
		room := []int64{60, 1 << 20, 1 << 43, 1 << 61}[r.IntN(4)]
		for l := range s.links {
			s.links[l].cap = 1 + r.Int64N(room)
			s.clear(int32(l))
		}
		most := []int32{3, 1000, 1 << 20, 1<<31 - 3}[r.IntN(4)]
		for step := range 30 {
			for range 1 + r.IntN(6) {
				var on []pathmap.LinkID
				for _, l := range r.Perm(len(capacity))[:1+r.IntN(min(8, len(capacity)))] {
					on = append(on, pathmap.LinkID(l))
				}
				s.Set(r.Int32N(30), on, max(r.Int32N(most+2)-1, 0)>>(r.IntN(2)*r.IntN(31)))
			}
			s.Solve(func(_, _, _ int32) {})
			if err := s.books(); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
		}
	}
}

// TestGrowBeyondSums: a class that grows so much that a sum of what it has goes around leaves no link that is still to
// be fitted anew.
func TestGrowBeyondSums(t *testing.T) {
	s := newLevels([]float64{1 << 59, 1 << 60})
	s.seats = 1 << 40
	for _, flows := range []int32{1, 1<<31 - 1} {
		s.Set(0, []pathmap.LinkID{0, 1}, flows)
		s.Solve(func(_, _, _ int32) {})
		if err := s.books(); err != nil {
			t.Fatal(err)
		}
	}
}
