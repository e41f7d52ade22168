package maxmin

import (
	"cmp"
	"math/bits"
	"slices"
)

// linksAClass is how many links there are at least for each class that has changed where a solution follows the change.
// The water takes about as long for many classes as for few.
const linksAClass = 8

// worth reports whether a solution should go on to follow the change after it has looked at so many pairs. To look at
// one costs as much as while the water rises over all links, each of which costs linkCost besides.
func (s *pairs) worth(looked int64) bool { return looked <= s.live+linkCost*int64(s.n) }

// regard lets the links of a pair know that flows have come or gone.
func (s *pairs) regard(a, b int32, more int64) {
	l, p, known := s.neckOf(a, b)
	if !known {
		// It has no rate until one of its links is fitted anew: that of which each flow can have the least.
		if x, y := &s.links[a], &s.links[b]; (mark{y.cap / y.total, b}).below(mark{x.cap / x.total, a}) {
			l = b
		}
		x := &s.links[l]
		x.refit = true
		s.await(l, x.cap/x.total)
		return
	}
	x, y := &s.links[l], &s.links[p]
	x.open += more
	s.await(l, x.level)
	if l == p {
		return
	}
	if more > 0 && x.level > y.cap/more { // the sum may go around, and a level that follows from it be any
		y.refit = true
		s.await(p, x.level)
	}
	s.hear(p, x.level*more, x.level, x.level)
}

// neckOf returns the bottleneck of a pair of links and the other one; false where it has none yet.
func (s *pairs) neckOf(a, b int32) (l, p int32, known bool) {
	if has(s.of(s.own, a), b) {
		return a, b, true
	}
	return b, a, has(s.of(s.own, b), a)
}

// feel notes that a pair may have another bottleneck, or a new class.
func (s *pairs) feel(a, b int32) { s.felt = append(s.felt, [2]int32{a, b}) }

// await has a link reviewed.
func (s *pairs) await(l int32, from int64) {
	if x := &s.links[l]; !x.inHeap {
		x.inHeap = true
		s.heap.push(item[int64]{from, l})
	}
}

// follow finds the levels that change, one from the other, the lowest first. It returns false once that is more work
// than to find all.
func (s *pairs) follow() bool {
	for looked := int64(0); len(s.heap.items) > 0; {
		if !s.worth(looked) {
			s.patience.after(false)
			return false
		}
		l := s.heap.items[0].id
		s.heap.pop()
		s.links[l].inHeap = false
		n := s.review(l)
		*s.work += n
		looked += 1 + n
	}
	s.patience.after(true)
	return true
}

// giveUp leaves it to the water: the links whose level following has changed are in the queue, and those of which it
// has changed anything else share pairs with them.
func (s *pairs) giveUp() {
	for _, it := range s.heap.items {
		s.links[it.id].inHeap = false
	}
	for _, p := range s.felt {
		s.free(p[0], p[1])
	}
	clear(s.low)
}

// report tells of the pairs whose bottleneck is another, as the water met them.
func (s *pairs) report(moved func(class, from, to int32)) {
	for i, p := range s.felt {
		l, other, _ := s.neckOf(p[0], p[1])
		s.felt[i] = [2]int32{l, other}
	}
	slices.SortFunc(s.felt, func(a, b [2]int32) int {
		return cmp.Or(cmp.Compare(s.links[a[0]].level, s.links[b[0]].level), slices.Compare(a[:], b[:]))
	})
	for _, p := range s.felt {
		s.tell(p[0], p[1], moved)
	}
}

// review gives a link the level that follows from those of the others, and returns at how many pairs it has looked. As
// in Levels.review, mostly the link is the bottleneck of the same flows as before. Where its level rises, flows may be
// held back by their other link now. That one finds it when it is reviewed, as it must be since they have more.
func (s *pairs) review(l int32) int64 {
	x := &s.links[l]
	switch {
	case x.refit:
	case x.open == 0 && x.left >= x.total:
		s.relevel(l, unheld)
		return 0
	case x.open > 0:
		// A set of flows with a level next to the link's own could be one of two that follow from themselves.
		now := x.left / x.open
		if x.most+x.total >= now {
			break
		}
		if now == x.level {
			return 0
		}
		was := s.relevel(l, now)
		return s.pass(l, 0, s.of(s.own, l), was, now)
	}
	return s.fit(l)
}

// relevel gives a link another level, and returns the one before.
func (s *pairs) relevel(l int32, now int64) int64 {
	x := &s.links[l]
	was := x.level
	if was != now {
		s.meet(l)
		x.level = now
	}
	return was
}

// pass tells the other links of pairs, words of a set from the first on, that their rate is another. It returns how
// many these are.
func (s *pairs) pass(l int32, first int, set []uint64, was, now int64) (looked int64) {
	row := s.flows[int(l)*s.n : (int(l)+1)*s.n]
	from := min(was, now)
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			p := int32((first+w)<<6 | bits.TrailingZeros64(word))
			looked++
			if p != l {
				s.hear(p, (now-was)*int64(row[p]), now, from)
			}
		}
	}
	return looked
}

// hear counts what flows with another bottleneck have more on a link, and has it reviewed if that can matter.
func (s *pairs) hear(l int32, more, rate, from int64) {
	x := &s.links[l]
	x.left -= more
	if x.level != unheld || x.left < x.total {
		x.most = max(x.most, rate)
		x.refit = x.refit || x.left < -farBelow
		s.await(l, from)
	}
}

// fit finds anew which flows of a link are held back elsewhere. It returns at how many pairs it has looked.
func (s *pairs) fit(l int32) int64 {
	x := &s.links[l]
	looked, most := s.fillUp(l)
	now := int64(unheld)
	if x.open > 0 {
		now = x.left / x.open
	}
	was := s.relevel(l, now)
	x.most, x.refit = most, false
	own := s.of(s.own, l)
	for w, peers := range s.of(s.peers, l) {
		had, mine := own[w], s.mine[w]
		own[w] = mine
		if now != was {
			s.pass(l, w, []uint64{had & mine}, was, now)
		}
		for word := peers &^ (had & mine); word != 0; word &= word - 1 {
			p := int32(w<<6 | bits.TrailingZeros64(word))
			bit := uint64(1) << (p & 63)
			rate := int64(unheld)
			if had&bit != 0 {
				rate = was
			}
			s.settle(l, p, mine&bit != 0, rate)
		}
	}
	return looked
}

// settle gives a pair of a link that is fitted the bottleneck that it has now, where that may be another: the link or
// the other one. Its rate was that, if the link was its bottleneck.
func (s *pairs) settle(l, p int32, mine bool, rate int64) {
	n, x, y := int64(s.flows[int(l)*s.n+int(p)]), &s.links[l], &s.links[p]
	theirs := has(s.of(s.own, p), l) // of a link with itself: as of now
	switch {
	case l == p:
	case mine:
		if theirs {
			drop(s.of(s.own, p), l)
			y.open -= n
		}
		s.hear(p, x.level*n, x.level, x.level)
	case theirs:
		return
	default:
		put(s.of(s.own, p), l)
		y.open += n
		if rate != unheld {
			y.left += rate * n
		}
		s.await(p, y.level)
	}
	s.feel(l, p)
}

// fillUp finds which flows of a link are held back elsewhere, from the ground up: those take what they have. It notes
// what is left for the others, of which mine is the set, and returns at how many pairs it has looked, and the highest
// rate that any of the others has, -1 if there are none.
func (s *pairs) fillUp(l int32) (looked, most int64) {
	x := &s.links[l]
	x.left, x.open, most = x.cap, x.total, -1
	copy(s.mine, s.of(s.peers, l))
	row := s.flows[int(l)*s.n : (int(l)+1)*s.n]
	for more := x.open > 0; more && x.open > 0; {
		at := x.left / x.open
		more = false
		for w, word := range s.mine {
			for ; word != 0; word &= word - 1 {
				p := int32(w<<6 | bits.TrailingZeros64(word))
				looked++
				held := s.links[p].level
				if p == l || held > at || held == at && p > l {
					continue
				}
				x.left -= held * int64(row[p])
				x.open -= int64(row[p])
				most, more = max(most, held), true
				drop(s.mine, p)
			}
		}
	}
	return looked, most
}
