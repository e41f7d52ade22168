package maxmin

import (
	"fmt"
	"slices"

	"lightloom/pathmap"
)

// linkClass is a class on a link: all that a solution needs to know of a class on up to six links, so that
// it reads a link's classes one after the other.
type linkClass struct {
	class int32
	flows int32
	peers [5]int32 // its other links, then the number of links; many first where there are more of them
}

// levelClass is where a class sits, or sat last if it has no flows.
type levelClass struct {
	few   [6]place // its links, then none; if there are more, these are not used
	more  []place
	flows int32
	epoch uint32 // the last solution that changed it
}

// place is a link that a class is on, and where in its list.
type place struct {
	link int32
	at   int32
}

var nowhere = [6]place{{link: none}, {link: none}, {link: none}, {link: none}, {link: none}, {link: none}}

func (c *levelClass) places() []place {
	if len(c.more) > 0 {
		return c.more
	}
	n := 0
	for n < len(c.few) && c.few[n].link != none {
		n++
	}
	return c.few[:n]
}

// sitAt makes links those of a class, which is on none now.
func (c *levelClass) sitAt(links []pathmap.LinkID) {
	c.few, c.more = nowhere, c.more[:0]
	at := c.few[:]
	if len(links) > len(c.few) {
		c.more = slices.Grow(c.more, len(links))[:len(links)]
		at = c.more
	}
	for k, l := range links {
		at[k].link = int32(l)
	}
}

// attachAll makes the links' lists what was asked for. Links whose level may be another are in the heap then.
func (s *Levels) attachAll(moved func(class, from, to int32)) {
	s.asks.seen = 0
	for i := range s.asks.all {
		k := &s.asks.all[i]
		for len(s.classes) <= int(k.class) {
			s.classes = append(s.classes, levelClass{few: nowhere})
			s.necks, s.told, s.ground.filled = append(s.necks, none), append(s.told, none), append(s.ground.filled, 0)
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
	moves := k.flows > 0 && !sits(c.places(), links)
	if c.flows > 0 && (moves || k.flows == 0) {
		s.detach(k.class, moved)
	}
	if moves {
		c.sitAt(links)
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
	flows, neck := int64(c.flows), s.necks[i]
	rate := s.level[neck]
	for _, p := range c.places() {
		x, at := s.grow(p.link, -flows), p.at
		if p.link == neck {
			x.open -= flows
			x.own--
			s.swap(p.link, at, x.own)
			at = x.own
		} else {
			s.room[p.link].left += rate * flows
		}
		last := int32(len(s.on[p.link]) - 1)
		s.swap(p.link, at, last)
		if s.on[p.link] = s.on[p.link][:last]; last == 0 {
			s.put(p.link, unheld)
			s.clear(p.link)
		} else if p.link == neck || x.open > 0 {
			s.meet(p.link, s.level[p.link])
		}
	}
	s.seats -= int64(len(c.places()))
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
	c.flows = flows
	places := c.places()
	s.seats += int64(len(places))
	least := dry
	for k := range places {
		p := &places[k]
		p.at = int32(len(s.on[p.link]))
		s.on[p.link] = append(s.on[p.link], linkClass{i, flows, peersOf(places, k, int32(len(s.on)))})
		x := s.grow(p.link, int64(flows))
		if m := (mark{x.cap / x.total, p.link}); m.below(least) {
			least = m
		}
	}
	s.links[least.link].refit = true
	s.meet(least.link, least.level)
}

// resize gives a class that has flows another number of them.
func (s *Levels) resize(i, flows int32) {
	c := &s.classes[i]
	neck, more := s.necks[i], int64(flows-c.flows)
	rate := s.level[neck]
	c.flows = flows
	for _, p := range c.places() {
		s.on[p.link][p.at].flows = flows
		x := s.grow(p.link, more)
		if p.link == neck {
			x.open += more
			s.meet(neck, rate)
			continue
		}
		if more > 0 && rate > x.cap/more { // the sum may go around
			x.refit = true
			s.meet(p.link, rate)
		}
		s.hear(p.link, rate*more, rate, rate)
	}
}

// grow gives a link more flows.
func (s *Levels) grow(l int32, more int64) *levelLink {
	x, r := &s.links[l], &s.room[l]
	if x.total += more; r.need != always {
		r.need = x.total
	}
	return x
}

// placeOn returns the place of a class on one of its links.
func (s *Levels) placeOn(class, l int32) *place {
	places := s.classes[class].places()
	for k := range places {
		if places[k].link == l {
			return &places[k]
		}
	}
	panic(fmt.Sprintf("maxmin: class %d sits on link %d and does not know", class, l))
}

// peersOf returns the places but the k-th as a linkClass has them.
func peersOf(places []place, k int, links int32) [5]int32 {
	peers := [5]int32{links, links, links, links, links}
	if len(places) > len(peers)+1 {
		peers[0] = many
		return peers
	}
	n := 0
	for i, p := range places {
		if i != k {
			peers[n] = p.link
			n++
		}
	}
	return peers
}

// sits reports whether places are on those links, in that order.
func sits(places []place, links []pathmap.LinkID) bool {
	if len(places) != len(links) {
		return false
	}
	for k := range places {
		if places[k].link != int32(links[k]) {
			return false
		}
	}
	return true
}
