package maxmin

import (
	"math"

	"lightloom/pathmap"
)

// Levels shares links max-min fairly among classes of flows that come, go, grow and shrink, and
// recomputes only what a change can affect. Each flow has one bottleneck among its links, and all flows
// with the same bottleneck have the same rate, the link's level. So one level for each link describes
// the fair shares, however many classes there are; a class has the lowest level of its links.
//
// A change cannot reach classes whose rate is below what it frees or takes, nor those that share no
// link, directly or by others above that rate, with a class that changed.
//
// It is not for use by several goroutines at once.
type Levels struct {
	capacity []float64
	pairs    *pairs // does all of it as long as no class has more than two links; nil: the rest does
	classes  []levelClass
	gone     []pairClass // by class: what pairs did last, until moved has been told

	// By link. What a solution looks at for every class of a link lies together.
	on      [][]linkClass // the classes on it
	level   []float64     // at which it is full; +Inf where the link is no bottleneck
	reached []uint32      // the last solution that reached it
	full    []uint32      // the last solution that found its level
	was     []float64     // its level before that
	left    []float64     // capacity that settled classes do not use
	open    []int64       // flows of classes that are not settled
	total   []int64       // flows on it

	asks    asks
	pending []int32 // classes that were brought up to date and are not as they were
	keep    float64 // classes below it keep their rates
	epoch   uint32
	queue   []int32 // links that this solution has reached
	heap    heap[float64]
	changed []pathmap.LinkID
	work    int64
}

const (
	none = -1
	many = -2
)

// NewLevels returns levels of links with those capacities, above zero and by LinkID, without classes.
func NewLevels(capacity []float64) *Levels {
	if p := newPairs(capacity); p != nil {
		s := &Levels{capacity: capacity, pairs: p}
		p.work = &s.work
		return s
	}
	return newLevels(capacity)
}

// newLevels is NewLevels for classes of any number of links.
func newLevels(capacity []float64) *Levels {
	n := len(capacity)
	s := &Levels{capacity: capacity, keep: math.Inf(1), on: make([][]linkClass, n), level: make([]float64, n),
		reached: make([]uint32, n),
		full:    make([]uint32, n), was: make([]float64, n), left: make([]float64, n), open: make([]int64, n),
		total: make([]int64, n)}
	for l := range s.level {
		s.level[l] = math.Inf(1)
	}
	return s
}

// Set gives a class that many flows, each on all of those links; zero flows remove it. The links are
// distinct, at least one, and copied. It counts from the next Solve on.
func (s *Levels) Set(class int32, links []pathmap.LinkID, flows int32) {
	if s.pairs != nil && (flows == 0 || len(links) <= 2) {
		s.pairs.set(class, links, flows)
		return
	}
	s.widen()
	s.asks.add(class, links, flows)
}

// Foresee prefetches the memory of a class that Set and Solve read, and returns its content. Nothing
// depends on the result, so that the cache misses of several classes overlap.
func (s *Levels) Foresee(class int32) int32 {
	if int(class) >= len(s.classes) || int(class) >= len(s.asks.of) {
		return 0
	}
	return s.classes[class].flows + s.asks.of[class]
}

// widen goes on without pairs, for a class that has more than two links.
func (s *Levels) widen() {
	p := s.pairs
	if p == nil {
		return
	}
	*s = *newLevels(s.capacity)
	s.gone = p.classes
	for i := range p.classes {
		if c := &p.classes[i]; c.pending {
			s.Set(int32(i), ends(c.askedA, c.askedB), c.want)
		} else if c.flows > 0 {
			s.Set(int32(i), ends(c.a, c.b), c.flows)
		}
	}
}

// ends returns one link or two.
func ends(a, b int32) []pathmap.LinkID {
	if a == b {
		return []pathmap.LinkID{pathmap.LinkID(a)}
	}
	return []pathmap.LinkID{pathmap.LinkID(a), pathmap.LinkID(b)}
}

// Level returns the rate of the flows whose bottleneck is link l, +Inf if it is the bottleneck of none.
func (s *Levels) Level(l pathmap.LinkID) float64 {
	if s.pairs != nil {
		return s.pairs.level(l)
	}
	return s.level[l]
}

// Whole returns that rate rounded down to whole bits a second, false if the link is no bottleneck.
// Where CanFollow is true, no link is then given more than its capacity, not even by a bit.
func (s *Levels) Whole(l pathmap.LinkID) (pathmap.BitsPerSecond, bool) {
	if s.pairs != nil {
		return s.pairs.whole(l)
	}
	if s.level[l] < math.MaxInt64 {
		return pathmap.BitsPerSecond(s.level[l]), true
	}
	return 0, false
}

// Neck returns the bottleneck of a class, or none (-1) if it has no flows. The class's rate is that
// link's level.
func (s *Levels) Neck(class int32) int32 {
	if s.pairs != nil {
		return s.pairs.neck(class)
	}
	if int(class) < len(s.gone) {
		return s.gone[class].neck
	}
	if int(class) >= len(s.classes) {
		return none
	}
	return s.classes[class].neck
}

// Solve brings everything up to date with what was Set. It calls moved with each class whose bottleneck
// is another than before, and returns the links whose level is another; the slice is borrowed until the
// next call.
func (s *Levels) Solve(moved func(class, from, to int32)) []pathmap.LinkID {
	if s.pairs != nil {
		return s.pairs.solve(moved)
	}
	for i := range s.gone {
		if c := &s.gone[i]; c.neck != none {
			moved(int32(i), c.neck, none)
		}
	}
	s.gone = nil
	s.changed = s.changed[:0]
	if len(s.asks.all) == 0 {
		return nil
	}
	s.epoch++
	s.queue = s.queue[:0]
	s.attachAll(moved)
	if s.disjoint() {
		s.fillDisjoint(moved)
	} else {
		s.spare()
		s.reach()
		s.fill(moved)
	}
	for _, l := range s.queue {
		if s.level[l] != s.was[l] {
			s.changed = append(s.changed, pathmap.LinkID(l))
		}
	}
	return s.changed
}

// spare finds down to which rate a change can be felt.
func (s *Levels) spare() {
	s.keep = math.Inf(1)
	for _, l := range s.queue {
		s.keep = min(s.keep, s.level[l])
		if n := s.total[l]; n > 0 {
			// New flows are held back at no less than an even part of each of their links.
			s.keep = min(s.keep, s.capacity[l]/float64(n))
		}
	}
	s.keep *= 1 - 1e-9 // rounding
}

// kept reports whether a class with that bottleneck keeps its rate: then its bottleneck is not reached.
func (s *Levels) kept(neck int32) bool {
	return neck != none && s.level[neck] < s.keep && s.reached[neck] != s.epoch
}

// reach finds the links that the change affects, and what classes that keep their rates leave of each.
func (s *Levels) reach() {
	for at := 0; at < len(s.queue); at++ {
		l := s.queue[at]
		on, left, open := s.on[l], s.capacity[l], int64(0)
		s.work += int64(len(on))
		for i := range on {
			o := &on[i]
			if s.kept(o.neck) {
				left -= s.level[o.neck] * float64(o.flows)
				continue
			}
			open += int64(o.flows)
			if o.peers[0] == many {
				s.feel(s.classes[o.class].places())
				continue
			}
			for _, p := range o.peers {
				if p == none {
					break
				}
				s.meet(p)
			}
		}
		s.left[l], s.open[l] = left, open
	}
	s.heap.items = s.heap.items[:0]
	for _, l := range s.queue {
		if s.open[l] > 0 {
			s.heap.items = append(s.heap.items, item[float64]{s.share(l), l})
		} else {
			s.full[l], s.level[l] = s.epoch, math.Inf(1) // no class is left on it
		}
	}
	s.heap.build()
}

func (s *Levels) share(l int32) float64 { return max(s.left[l], 0) / float64(s.open[l]) }

// fill lets the water rise over the links that are reached.
func (s *Levels) fill(moved func(class, from, to int32)) {
	level := 0.0
	for len(s.heap.items) > 0 {
		top := s.heap.items[0]
		if s.open[top.id] == 0 { // all of its flows are held back elsewhere
			s.full[top.id], s.level[top.id] = s.epoch, math.Inf(1)
			s.heap.pop()
			continue
		}
		if now := s.share(top.id); now > top.key {
			s.heap.raise(now) // the key was from before others settled below it
			continue
		}
		s.heap.pop()
		level = max(level, top.key)
		s.flood(top.id, level, moved)
	}
}

// flood settles the flows of a link at its level.
func (s *Levels) flood(l int32, level float64, moved func(class, from, to int32)) {
	on := s.on[l]
	for i := range on {
		o := &on[i]
		if s.settled(o) {
			continue
		}
		if o.peers[0] == many {
			for _, p := range s.classes[o.class].places() {
				if p.link != l {
					s.settle(p.link, level, o.flows)
				}
			}
		} else {
			for _, p := range o.peers {
				if p == none {
					break
				}
				s.settle(p, level, o.flows)
			}
		}
		if o.neck != l {
			s.move(o.class, l, moved)
		}
	}
	s.full[l], s.level[l] = s.epoch, level
}

// settle takes flows at a rate from a link.
func (s *Levels) settle(l int32, level float64, flows int32) {
	s.left[l] -= level * float64(flows)
	s.open[l] -= int64(flows)
}

// settled reports whether a class that sits on a link which is being filled has its rate: it keeps it,
// or another of its links is full.
func (s *Levels) settled(o *linkClass) bool {
	if o.peers[0] == many {
		for _, p := range s.classes[o.class].places() {
			if s.full[p.link] == s.epoch {
				return true
			}
		}
		return s.kept(o.neck)
	}
	for _, p := range o.peers {
		if p == none {
			break
		}
		if s.full[p] == s.epoch {
			return true
		}
	}
	return s.kept(o.neck)
}

// move gives a class another bottleneck.
func (s *Levels) move(class, neck int32, moved func(class, from, to int32)) {
	c := &s.classes[class]
	moved(class, c.neck, neck)
	c.neck = neck
	for _, p := range c.places() {
		s.on[p.link][p.at].neck = neck
	}
}
