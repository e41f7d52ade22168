package maxmin

import (
	"math/bits"

	"lightloom/pathmap"
)

// Follow takes given levels instead of solving for them: level[l], in bits a second, is the rate of the
// flows whose bottleneck is link l, and a flow's bottleneck is the link of its path with the lowest
// level. It calls moved as Solve does. It returns the links whose level has changed, borrowed, and
// whether every link stays within its capacity times 1+slack. It panics where CanFollow is false, and
// one instance either solves or follows.
func (s *Levels) Follow(level []pathmap.BitsPerSecond, slack float64,
	moved func(class, from, to int32)) ([]pathmap.LinkID, bool) {
	p := s.pairs
	first := p.given == nil
	if first {
		p.coarsen()
	}
	p.begin()
	p.attachAll(moved)
	p.listen(level)
	for _, l := range p.queue {
		p.lean(l, moved)
	}
	fits := true
	for l := range p.links {
		x := &p.links[l]
		if x.level != x.was || first {
			p.changed = append(p.changed, pathmap.LinkID(l))
		}
		x.was = x.level
		fits = fits && p.given[l] <= float64(x.cap)*(1+slack)
	}
	return p.changed, fits
}

// CanFollow reports whether Follow can be called: no class had more than two links, there are no more
// than about a thousand links, and their capacities are whole numbers not too far apart.
func (s *Levels) CanFollow() bool { return s.pairs != nil }

// coarsen makes levels whole bits a second, as Follow receives them. It runs before any class has a rate.
func (s *pairs) coarsen() {
	for l := range s.links {
		x := &s.links[l]
		x.cap >>= s.shift
		x.level, x.was = 0, 0
	}
	s.shift, s.given = 0, make([]float64, s.n)
}

// give adds to what the flows of a pair have.
func (s *pairs) give(a, b int32, rate float64) {
	s.given[a] += rate
	if a != b {
		s.given[b] += rate
	}
}

// listen takes levels over. More than twice a link's capacity is never had anyway.
func (s *pairs) listen(level []pathmap.BitsPerSecond) {
	for l := range s.links {
		x := &s.links[l]
		if told := min(int64(level[l]), 2*x.cap); told != x.level {
			s.meet(int32(l))
			x.level = told
		}
	}
}

// lean gives the flows of a link the bottleneck and the rate that they have now. Where both of their
// links have one level, they keep their bottleneck.
func (s *pairs) lean(l int32, moved func(class, from, to int32)) {
	own, x := s.of(s.own, l), &s.links[l]
	row := s.flows[int(l)*s.n : (int(l)+1)*s.n]
	for w, peers := range s.of(s.peers, l) {
		mine := uint64(0)
		for word := peers; word != 0; word &= word - 1 {
			p := int32(w<<6 | bits.TrailingZeros64(word))
			y := &s.links[p]
			if was, now := min(x.was, y.was), min(x.level, y.level); was != now && (l <= p || !has(s.reached, p)) {
				s.give(l, p, float64(now-was)*float64(row[p])) // once for a pair of which both are reached
			}
			switch {
			case x.level < y.level:
				mine |= 1 << (p & 63)
			case has(s.of(s.own, p), l):
			case y.level < x.level:
				s.take(p, int(l>>6), 1<<(l&63), moved)
			default:
				mine |= 1 << (p & 63)
			}
		}
		if mine &^= own[w]; mine != 0 {
			s.take(l, w, mine, moved)
		}
	}
}
