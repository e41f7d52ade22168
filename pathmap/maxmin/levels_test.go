package maxmin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// crowd is classes on links that change at random; Solver has each step anew.
type crowd struct {
	capacity []float64
	classes  []Class
	levels   *Levels
	neck     map[int32]int32 // as told by moved
}

func newCrowd(r *rand.Rand) *crowd {
	c := &crowd{capacity: make([]float64, 2+r.IntN(14)), neck: map[int32]int32{}}
	for i := range c.capacity {
		c.capacity[i] = float64(1+r.IntN(4)) * 1e9
	}
	c.levels = NewLevels(c.capacity)
	c.classes = make([]Class, 1+r.IntN(60))
	for i := range c.classes {
		c.classes[i].Links = c.some(r)
	}
	return c
}

// some returns links for a class: two mostly, as on one big switch.
func (c *crowd) some(r *rand.Rand) []pathmap.LinkID {
	n := min(2, len(c.capacity))
	if r.IntN(4) == 0 {
		n = 1 + r.IntN(min(5, len(c.capacity)))
	}
	var all []pathmap.LinkID
	for _, l := range r.Perm(len(c.capacity))[:n] {
		all = append(all, pathmap.LinkID(l))
	}
	return all
}

// change lets some classes come, go, grow, shrink or take other links.
func (c *crowd) change(r *rand.Rand) {
	for range 1 + r.IntN(3) {
		i := r.IntN(len(c.classes))
		k := &c.classes[i]
		switch r.IntN(5) {
		case 0:
			k.Links = c.some(r)
		case 1:
			k.Flows = 0
		case 2:
			k.Flows = float64(1 + r.IntN(1000))
		default:
			k.Flows = max(k.Flows-1, 0)
		}
		c.levels.Set(int32(i), k.Links, int32(k.Flows))
	}
}

// check compares the levels with the solver's, and the reported moves with the levels.
func (c *crowd) check(s *Solver) error {
	before := make([]float64, len(c.capacity))
	for l := range before {
		before[l] = c.levels.Level(pathmap.LinkID(l))
	}
	changed := slices.Clone(c.levels.Solve(func(class, from, to int32) {
		if was, ok := c.neck[class]; ok != (from != none) || ok && was != from {
			panic(fmt.Sprintf("class %d moves from %d: it was at %d, %v", class, from, was, ok))
		}
		if delete(c.neck, class); to != none {
			c.neck[class] = to
		}
	}))
	for l := range before {
		if now := c.levels.Level(pathmap.LinkID(l)); now != before[l] &&
			!slices.Contains(changed, pathmap.LinkID(l)) {
			return fmt.Errorf("link %d went from %v to %v and is not named", l, before[l], now)
		}
	}
	rate := make([]float64, len(c.classes))
	s.Solve(c.capacity, c.classes, rate)
	for i := range c.classes {
		neck := c.levels.Neck(int32(i))
		if told, ok := c.neck[int32(i)]; ok != (neck != none) || ok && told != neck {
			return fmt.Errorf("class %d has bottleneck %d, told was %d, %v", i, neck, told, ok)
		}
		switch {
		case c.classes[i].Flows == 0 && neck == none:
		case neck == none || c.classes[i].Flows == 0:
			return fmt.Errorf("class %d of %v flows has bottleneck %d", i, c.classes[i].Flows, neck)
		case math.Abs(c.levels.Level(pathmap.LinkID(neck))-rate[i]) > 1e-9*rate[i]:
			return fmt.Errorf("class %d of %v on %v has %v, want %v", i, c.classes[i].Flows, c.classes[i].Links,
				c.levels.Level(pathmap.LinkID(neck)), rate[i])
		}
	}
	return nil
}

func TestLevels(t *testing.T) {
	for seed := range tries.Of[uint64](800, 3000) {
		r := rand.New(rand.NewPCG(seed, 31))
		c := newCrowd(r)
		var s Solver
		for step := range 40 {
			c.change(r)
			if err := c.check(&s); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			if err := c.fresh(); err != nil && !c.levels.CanFollow() {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
		}
	}
}

// TestLevelsApart: a change affects neither classes that share no link with it, nor slower ones.
func TestLevelsApart(t *testing.T) {
	s := NewLevels([]float64{10, 10, 10, 10})
	nobody := func(class, from, to int32) {}
	s.Set(0, links(0, 1), 5)
	s.Set(1, links(2, 3), 1)
	s.Set(2, links(1), 1)
	s.Solve(nobody)
	if s.Level(0) != math.Inf(1) && s.Level(1) != 10./6 {
		t.Fatalf("levels %v and %v, want +Inf and 1.67", s.Level(0), s.Level(1))
	}
	before := s.work
	s.Set(1, links(2, 3), 2)
	if got := s.Solve(nobody); s.work-before > 2 {
		t.Errorf("looked at %d seats for one class that is by itself; changed %v", s.work-before, got)
	}
}

// TestManyFlows: of more flows than the unit of loads has parts, a link that is just full is still the bottleneck that
// it is for a new instance.
func TestManyFlows(t *testing.T) {
	capacity := []float64{100, 100, 100}
	links := []pathmap.LinkID{2, 0, 1}
	s, anew := newLevels(capacity), newLevels(capacity)
	none := func(int32, int32, int32) {}
	s.Set(1, []pathmap.LinkID{2, 1}, 921798)
	s.Solve(none)
	for _, l := range []*Levels{s, anew} {
		l.Set(0, links, 892385)
		l.Set(1, nil, 0)
		l.Solve(none)
	}
	if got, want := s.Neck(0), anew.Neck(0); got != want {
		t.Errorf("the bottleneck is link %d, of a new instance %d", got, want)
	}
}

// BenchmarkLevels ends flows of a shuffle between 150 hosts one after the other: at one big switch, and
// in racks of ten with links to the core, so that a flow has four links.
func BenchmarkLevels(b *testing.B) {
	const hosts, racks = 150, 15
	across := func(from, to int) []pathmap.LinkID {
		return links(pathmap.LinkID(from), pathmap.LinkID(hosts+to))
	}
	inRacks := func(from, to int) []pathmap.LinkID {
		if up, down := from%racks, to%racks; up != down {
			return links(pathmap.LinkID(from), pathmap.LinkID(2*hosts+up), pathmap.LinkID(2*hosts+racks+down),
				pathmap.LinkID(hosts+to))
		}
		return across(from, to)
	}
	for _, bm := range []struct {
		name     string
		capacity []float64
		path     func(from, to int) []pathmap.LinkID
	}{
		{"switch", slices.Repeat([]float64{1e9}, 2*hosts), across},
		{"racks", slices.Repeat([]float64{1e9}, 2*(hosts+racks)), inRacks},
	} {
		b.Run(bm.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			s := NewLevels(bm.capacity)
			flows := make([]int32, hosts*hosts)
			set := func(i int) { s.Set(int32(i), bm.path(i/hosts, i%hosts), flows[i]) }
			for i := range flows {
				flows[i] = r.Int32N(4)
				set(i)
			}
			nobody := func(class, from, to int32) {}
			s.Solve(nobody)
			for b.Loop() {
				i := r.IntN(len(flows))
				flows[i] = (flows[i] + 3) % 4
				set(i)
				s.Solve(nobody)
			}
			b.ReportMetric(float64(s.work)/float64(b.N), "seats/op")
		})
	}
}

// TestForesee: Foresee changes nothing, and accepts classes that do not exist.
func TestForesee(t *testing.T) {
	for _, links := range [][]pathmap.LinkID{{0, 1}, {0, 1, 2}} {
		s := NewLevels([]float64{10, 20, 30})
		for class := range int32(4) {
			s.Foresee(class)
		}
		s.Set(1, links, 2)
		for class := range int32(4) {
			s.Foresee(class)
		}
		s.Solve(func(int32, int32, int32) {})
		if got := s.Level(0); got != 5 {
			t.Errorf("over %v: level %v, want 5", links, got)
		}
	}
}
