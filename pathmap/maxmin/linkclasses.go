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

// attachAll makes the links' lists what was asked for. What has changed is open then.
func (s *Levels) attachAll(moved func(class, from, to int32)) {
	s.asks.seen = 0
	for i := range s.asks.all {
		k := &s.asks.all[i]
		for len(s.classes) <= int(k.class) {
			s.classes = append(s.classes, levelClass{few: nowhere})
			s.necks, s.filled = append(s.necks, none), append(s.filled, 0)
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
	if !moves && k.flows == c.flows {
		return
	}
	if alone := s.alone(c); c.flows > 0 {
		if !alone {
			s.touch(c)
		}
		if moves || k.flows == 0 {
			s.detach(k.class, moved)
		}
		if alone && c.flows == 0 {
			s.settle(c)
		}
	}
	if moves {
		c.sitAt(links)
	}
	if k.flows > 0 {
		s.attach(k.class, k.flows)
		if s.alone(c) {
			s.feel(k.class)
			s.settle(c)
		} else {
			s.touch(c)
		}
	}
}

// alone reports whether a class shares no link with another.
func (s *Levels) alone(c *levelClass) bool {
	for _, p := range c.places() {
		if s.links[p.link].total != int64(c.flows) {
			return false
		}
	}
	return true
}

// settle gives the links of a class that is alone, or was, their levels at once: nothing else feels them.
func (s *Levels) settle(c *levelClass) {
	neck := mark{unheld, none}
	for _, p := range c.places() {
		if c.flows > 0 {
			if m := (mark{s.links[p.link].cap / int64(c.flows), p.link}); m.below(neck) {
				neck = m
			}
		}
	}
	for _, p := range c.places() {
		level := int64(unheld)
		if p.link == neck.link {
			level = neck.level
		}
		if level != s.level[p.link] {
			s.note(p.link)
			s.level[p.link] = level
		}
		s.spare[p.link] = s.links[p.link].cap>>coarseBits - coarse(neck.level)*int64(c.flows)
	}
}

// touch opens the links of a class that has changed. If nothing holds it back yet, it gets what it has from
// one of its links, and the others feel that.
func (s *Levels) touch(c *levelClass) {
	held, first, least := false, int32(none), int64(unheld)
	for _, p := range c.places() {
		part := s.links[p.link].cap / max(s.links[p.link].total, 1)
		switch level := s.level[p.link]; {
		case level != unheld:
			held = true
			s.meet(p.link, level)
		case s.crowded(p.link):
			s.meet(p.link, part)
		}
		if part < least {
			first, least = p.link, part
		}
	}
	if !held {
		s.meet(first, least)
	}
}

// detach takes a class off its links.
func (s *Levels) detach(i int32, moved func(class, from, to int32)) {
	c := &s.classes[i]
	least, _ := s.least(c)
	load := coarse(least.level)
	for _, p := range c.places() {
		s.links[p.link].total -= int64(c.flows)
		s.spare[p.link] += load * int64(c.flows)
		on := s.on[p.link]
		last := int32(len(on) - 1)
		if p.at != last {
			on[p.at] = on[last]
			s.moveEntry(on[p.at].class, p.link, p.at)
		}
		s.on[p.link] = on[:last]
	}
	s.seats -= int64(len(c.places()))
	c.flows = 0
	if s.necks[i] != none {
		moved(i, s.necks[i], none)
		s.necks[i] = none
	}
}

func (s *Levels) moveEntry(class, l, at int32) {
	places := s.classes[class].places()
	for k := range places {
		if places[k].link == l {
			places[k].at = at
			return
		}
	}
	panic(fmt.Sprintf("maxmin: class %d sits on link %d and does not know", class, l))
}

// attach puts a class on its links, or gives one that is there other flows.
func (s *Levels) attach(i, flows int32) {
	c := &s.classes[i]
	places := c.places()
	if c.flows == 0 {
		s.feel(i)
		s.seats += int64(len(places))
		for k := range places {
			p := &places[k]
			p.at = int32(len(s.on[p.link]))
			s.on[p.link] = append(s.on[p.link], linkClass{class: i, peers: peersOf(places, k, int32(len(s.on)))})
		}
	}
	least, _ := s.least(c)
	load := coarse(least.level)
	for _, p := range places {
		s.on[p.link][p.at].flows = flows
		s.links[p.link].total += int64(flows - c.flows)
		s.spare[p.link] -= load * int64(flows-c.flows)
	}
	c.flows = flows
}

// least returns the bottleneck of a class by the levels that links have now.
func (s *Levels) least(c *levelClass) (least mark, at int32) {
	least = dry
	for _, p := range c.places() {
		if m := (mark{s.level[p.link], p.link}); m.below(least) {
			least, at = m, p.at
		}
	}
	return least, at
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
