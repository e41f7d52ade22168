package maxmin

import (
	"fmt"

	"lightloom/pathmap"
)

// linkClass is a class on a link: all that a solution needs to know of a class on up to six links, so that
// it reads a link's classes one after the other.
type linkClass struct {
	class int32
	flows int32
	neck  int32    // its bottleneck, none where it has no rate yet
	peers [5]int32 // its other links, then none; many first where there are more of them
}

// levelClass is where a class sits, or sat last if it has no flows. It is one line of a cache.
type levelClass struct {
	few   [4]place // its links, then none; if there are more, these are not used
	more  []place
	flows int32
	neck  int32
}

// place is a link that a class is on, and where in its list.
type place struct {
	link int32
	at   int32
}

var nowhere = [4]place{{link: none}, {link: none}, {link: none}, {link: none}}

func (c *levelClass) places() []place {
	if c.more != nil {
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
	c.few, c.more = nowhere, nil
	if len(links) > len(c.few) {
		c.more = make([]place, len(links))
	}
	at := c.few[:]
	if c.more != nil {
		at = c.more
	}
	for k, l := range links {
		at[k].link = int32(l)
	}
}

// attachAll makes the links' lists what was asked for. Pending are the classes then that are not as they were.
func (s *Levels) attachAll(moved func(class, from, to int32)) {
	s.pending = s.pending[:0]
	s.asks.seen = 0
	for i := range s.asks.all {
		k := &s.asks.all[i]
		for len(s.classes) <= int(k.class) {
			s.classes = append(s.classes, levelClass{few: nowhere, neck: none})
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
	s.pending = append(s.pending, k.class)
	if c.flows > 0 {
		s.feel(c.places())
		if moves || k.flows == 0 {
			s.detach(k.class, moved)
		}
	}
	if moves {
		c.sitAt(links)
	}
	if k.flows > 0 {
		s.attach(k.class, k.flows)
		s.feel(c.places())
	}
}

// feel notes links that a change touches.
func (s *Levels) feel(places []place) {
	for _, p := range places {
		s.meet(p.link)
	}
}

func (s *Levels) meet(l int32) {
	if s.reached[l] != s.epoch {
		s.reached[l], s.was[l] = s.epoch, s.level[l]
		s.queue = append(s.queue, l)
	}
}

// detach takes a class off its links.
func (s *Levels) detach(i int32, moved func(class, from, to int32)) {
	c := &s.classes[i]
	for _, p := range c.places() {
		s.total[p.link] -= int64(c.flows)
		on := s.on[p.link]
		last := int32(len(on) - 1)
		if p.at != last {
			on[p.at] = on[last]
			s.moveEntry(on[p.at].class, p.link, p.at)
		}
		s.on[p.link] = on[:last]
	}
	c.flows = 0
	if c.neck != none {
		moved(i, c.neck, none)
		c.neck = none
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
		for k := range places {
			p := &places[k]
			p.at = int32(len(s.on[p.link]))
			s.on[p.link] = append(s.on[p.link], linkClass{class: i, neck: none, peers: peersOf(places, k)})
		}
	}
	for _, p := range places {
		s.on[p.link][p.at].flows = flows
		s.total[p.link] += int64(flows - c.flows)
	}
	c.flows = flows
}

// peersOf returns the places but the k-th as a linkClass has them.
func peersOf(places []place, k int) [5]int32 {
	peers := [5]int32{none, none, none, none, none}
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
