package maxmin

import (
	"fmt"
	"slices"

	"lightloom/pathmap"
)

// seat is a class on a link, which is the k-th of the class.
type seat struct{ class, k int32 }

// few is how many links a class has at most that has no longClass.
const few = 6

// levelClass is what every change needs to know of a class: half a line of a cache.
type levelClass struct {
	links [few]int32 // those that it is on, or was on last if it has no flows
	flows int32
	n     uint8 // how many links; above few if they are in its longClass
	exact uint8 // of the k-th link: 1<<k if it is exact
}

// seating is where a class is in the lists of its links.
type seating struct {
	at    [few]int32
	epoch uint32 // the last solution that changed its bottleneck
}

// longClass is the links of a class that has more than few, and where it is in their lists.
type longClass struct{ links, at []int32 }

// linksOf returns the links of a class.
func (s *Levels) linksOf(class int32) []int32 {
	if c := &s.classes[class]; c.n <= few {
		return c.links[:c.n]
	}
	return s.long[class].links
}

// placesOf returns where in the lists of its links a class is.
func (s *Levels) placesOf(class int32) []int32 {
	if n := s.classes[class].n; n <= few {
		return s.on[class].at[:n]
	}
	return s.long[class].at
}

// sitAt makes links those of a class, which is on none now.
func (s *Levels) sitAt(class int32, links []pathmap.LinkID) {
	c, n := &s.classes[class], len(links)
	if c.n = uint8(min(n, few+1)); c.n > few {
		if more := int(class) + 1 - len(s.long); more > 0 {
			s.long = append(s.long, make([]longClass, more)...)
		}
		x := &s.long[class]
		x.links, x.at = slices.Grow(x.links[:0], n)[:n], slices.Grow(x.at[:0], n)[:n]
	}
	on := s.linksOf(class)
	for k, l := range links {
		on[k] = int32(l)
	}
}

// attachAll makes the links' lists what was asked for. Links whose level may be another are in the queue then.
func (s *Levels) attachAll(moved func(class, from, to int32)) {
	s.forgetAll(len(s.asks.all))
	s.asks.seen = 0
	for i := range s.asks.all {
		k := &s.asks.all[i]
		for len(s.classes) <= int(k.class) {
			s.classes, s.on = append(s.classes, levelClass{}), append(s.on, seating{})
			s.necks, s.told = append(s.necks, none), append(s.told, none)
		}
		s.asks.seen += s.classes[k.class].flows // so that cache misses overlap
	}
	for i := range s.asks.all {
		s.grant(&s.asks.all[i], moved)
	}
	s.asks.clear()
}

// grant makes the seats of a class what was asked for.
func (s *Levels) grant(k *ask, moved func(class, from, to int32)) {
	c := &s.classes[k.class]
	links := s.asks.links[k.first:k.end]
	moves := k.flows > 0 && !sits(s.linksOf(k.class), links)
	if c.flows > 0 && (moves || k.flows == 0) {
		s.detach(k.class, moved)
	}
	if moves {
		s.sitAt(k.class, links)
	}
	switch {
	case k.flows == c.flows:
	case c.flows == 0:
		s.attach(k.class, k.flows)
	default:
		s.resize(k.class, k.flows)
	}
}

// detach takes a class off its links.
func (s *Levels) detach(i int32, moved func(class, from, to int32)) {
	c := &s.classes[i]
	flows, neck, places := int64(c.flows), s.necks[i], s.placesOf(i)
	rate := s.level[neck]
	for k, p := range s.linksOf(i) {
		x, at := s.grow(p, -flows), places[k]
		if p == neck {
			x.open -= flows
			x.own--
			s.swap(p, at, x.own)
			at = x.own
		} else {
			x.left += x.counts(rate) * flows
		}
		last := int32(len(x.on) - 1)
		s.swap(p, at, last)
		if x.on = x.on[:last]; last == 0 {
			s.put(p, unheld)
			s.clear(p)
		} else if p == neck || x.open > 0 {
			s.meet(p, s.level[p])
		}
	}
	s.seats -= int64(len(places))
	if s.crowded > 0 {
		s.add(neck, i, -c.flows)
	}
	c.flows, s.necks[i] = 0, none
	if s.told[i] != none {
		moved(i, s.told[i], none)
		s.told[i] = none
	}
}

// attach puts a class on its links. It has no rate until one of these is fitted anew, which that one is of which each
// flow can have the least.
func (s *Levels) attach(i, flows int32) {
	c := &s.classes[i]
	c.flows, c.exact = flows, 0
	places := s.placesOf(i)
	s.seats += int64(len(places))
	least := dry
	for k, p := range s.linksOf(i) {
		x := s.grow(p, int64(flows))
		places[k] = int32(len(x.on))
		x.on = append(x.on, seat{i, int32(k)})
		if x.exact && k < few {
			c.exact |= 1 << k
		}
		if m := (mark{s.cap[p] / x.total, p}); m.below(least) {
			least = m
		}
	}
	s.links[least.link].most = unsure
	s.meet(least.link, least.level)
}

// resize gives a class that has flows another number of them.
func (s *Levels) resize(i, flows int32) {
	c := &s.classes[i]
	neck, more := s.necks[i], int64(flows-c.flows)
	rate := s.level[neck]
	c.flows = flows
	if s.crowded > 0 {
		s.add(neck, i, int32(more))
	}
	for _, p := range s.linksOf(i) {
		x := s.grow(p, more)
		if p == neck {
			x.open += more
			s.meet(neck, rate)
			continue
		}
		if more > 0 && rate > s.cap[p]/more { // the sum may go around
			x.most = unsure
			s.meet(p, rate)
		}
		if x.exact {
			s.hear(p, rate*more, rate, rate)
		} else {
			s.hearRoughly(p, roughly(rate)*more, rate)
		}
	}
}

// grow gives a link more flows.
func (s *Levels) grow(l int32, more int64) *levelLink {
	x := &s.links[l]
	x.total += more
	return x
}

// placeOn returns where a class is in the list of one of its links.
func (s *Levels) placeOn(class, l int32) int32 {
	k := slices.Index(s.linksOf(class), l)
	if k < 0 {
		panic(fmt.Sprintf("maxmin: class %d sits on link %d and does not know", class, l))
	}
	return s.placesOf(class)[k]
}

// sits reports whether a class is on those links, in that order.
func sits(on []int32, links []pathmap.LinkID) bool {
	return slices.EqualFunc(on, links, func(a int32, b pathmap.LinkID) bool { return a == int32(b) })
}
