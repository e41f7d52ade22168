package maxmin

import (
	"math/bits"

	"lightloom/pathmap"
)

// Follow takes levels that somebody else has found instead of solving for them: level[l], in bits a second, is the rate
// of the flows that a link holds back, and a flow is held back by that of its links whose level is lowest. It tells moved
// as Solve does, returns the links whose level is another, borrowed, and whether no link is given more than its capacity
// and a part slack of it. It panics where CanFollow is false, and one instance either solves or follows.
func (s *Levels) Follow(level []pathmap.BitsPerSecond, slack float64, moved func(class, from, to int32)) ([]pathmap.LinkID, bool) {
	p := s.pairs
	p.begin()
	p.seatAll(moved)
	p.listen(level)
	for _, l := range p.queue {
		p.lean(l, moved)
		if p.links[l].level != p.links[l].was {
			p.changed = append(p.changed, pathmap.LinkID(l))
		}
	}
	return p.changed, p.fits(1 + slack)
}

// CanFollow says whether Follow may be called: no class had more than two links, there are no more than about a thousand
// links, and their capacities are whole numbers not too far apart.
func (s *Levels) CanFollow() bool { return s.pairs != nil }

// listen takes levels over. More than twice a link's capacity is never had anyway.
func (s *pairs) listen(level []pathmap.BitsPerSecond) {
	for l := range s.links {
		x := &s.links[l]
		told := 2 * x.cap
		if int64(level[l]) < told>>s.shift {
			told = int64(level[l]) << s.shift
		}
		if told != x.level {
			s.meet(int32(l))
			x.level = told
		}
	}
}

// lean gives the flows of a link the bottleneck that they have now. Where both of their links have one level, they stay.
func (s *pairs) lean(l int32, moved func(class, from, to int32)) {
	own, at := s.of(s.own, l), s.links[l].level
	for w, peers := range s.of(s.peers, l) {
		mine := uint64(0)
		for word := peers; word != 0; word &= word - 1 {
			p := int32(w<<6 | bits.TrailingZeros64(word))
			switch other := s.links[p].level; {
			case at < other:
				mine |= 1 << (p & 63)
			case has(s.of(s.own, p), l):
			case other < at:
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

// fits says whether no link is given more than so many times its capacity. Only those that a change could reach are
// looked at; of the others it is known.
func (s *pairs) fits(times float64) bool {
	clear(s.open)
	for _, l := range s.queue {
		put(s.open, l)
		for w, set := range s.of(s.peers, l) {
			s.open[w] |= set
		}
	}
	if s.over == nil {
		s.over = make([]uint64, s.words)
	}
	all := uint64(0)
	for w, word := range s.open {
		for ; word != 0; word &= word - 1 {
			l := int32(w<<6 | bits.TrailingZeros64(word))
			if drop(s.over, l); s.given(l) > float64(s.links[l].cap)*times {
				put(s.over, l)
			}
		}
		all |= s.over[w]
	}
	return all == 0
}

// given adds up what the flows of a link have, in units of levels.
func (s *pairs) given(l int32) float64 {
	row, own := s.flows[int(l)*s.n:(int(l)+1)*s.n], s.of(s.own, l)
	sum, mine := 0.0, s.links[l].total
	for w, set := range s.of(s.peers, l) {
		for word := set &^ own[w]; word != 0; word &= word - 1 {
			p := w<<6 | bits.TrailingZeros64(word)
			mine -= int64(row[p])
			sum += float64(s.links[p].level) * float64(row[p])
		}
	}
	return sum + float64(s.links[l].level)*float64(mine)
}
