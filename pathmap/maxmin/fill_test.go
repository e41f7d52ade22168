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
		var want levelLink
		left := s.cap[l]
		most := int64(-1)
		s.rows = s.rows[:0]
		for i, o := range x.on {
			c := &s.classes[o.class]
			if on, at := s.linksOf(o.class)[o.k], s.placesOf(o.class)[o.k]; on != int32(l) || at != int32(i) {
				return fmt.Errorf("link %d: class %d is at %d, and knows of link %d at %d", l, o.class, i, on, at)
			}
			if c.n <= few && c.exact>>o.k&1 == 1 != x.exact {
				return fmt.Errorf("link %d: exact is %v, class %d has %b", l, x.exact, o.class, c.exact)
			}
			flows := int64(c.flows)
			s.rows = append(s.rows, sharer{s.leastOf(o).level, flows})
			want.total += flows
			if neck := s.necks[o.class]; neck == int32(l) {
				if want.own++; int(want.own) != i+1 {
					return fmt.Errorf("link %d: class %d is held back here, and not among the first", l, o.class)
				}
				want.open += flows
			} else {
				left -= x.counts(s.level[neck]) * flows
				most = max(most, s.level[neck])
			}
		}
		if x.open > 0 && (x.most < most || !x.exact) {
			return fmt.Errorf("link %d: others have up to %d, noted is %d; exact: %v", l, most, x.most, x.exact)
		}
		if x.queued || x.seen || x.most == unsure && len(x.on) > 0 || x.left != left || x.total != want.total ||
			x.open != want.open || x.own != want.own {
			return fmt.Errorf("link %d is %+v, want %+v and %d left", l, x, want, left)
		}
		if !x.exact && x.left < x.total {
			return fmt.Errorf("link %d has %d left of %d, and is not exact", l, x.left, s.cap[l])
		}
		if err := s.overlapsAdd(int32(l)); err != nil {
			return err
		}
		if level, _, _ := s.fillUp(int32(l)); level != s.level[l] {
			return fmt.Errorf("link %d has level %d, from the ground up %d", l, s.level[l], level)
		}
	}
	return nil
}

// overlapsAdd compares what a link that holds back many classes has in common with others with what these classes have.
func (s *Levels) overlapsAdd(l int32) error {
	if s.overlaps == nil || s.overlaps[l] == nil || s.overlaps[l].at == nil {
		return nil
	}
	want := map[int32]int32{}
	for _, o := range s.links[l].on[:s.links[l].own] {
		for _, p := range s.linksOf(o.class) {
			if p != l {
				want[p] += s.classes[o.class].flows
			}
		}
	}
	for _, h := range s.overlaps[l].with {
		if h.flows != want[h.link] {
			return fmt.Errorf("link %d has %d flows in common with link %d, want %d", l, h.flows, h.link, want[h.link])
		}
		delete(want, h.link)
	}
	if len(want) > 0 {
		return fmt.Errorf("link %d has %v in common with others, and does not know", l, want)
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
			s.cap[l] = 1 + r.Int64N(room)
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
