package maxmin

import (
	"fmt"

	"lightloom/pathmap"
)

// seat is a class on a link: all that a solution needs to know of a class on two links or one, in a row.
type seat struct {
	class int32
	flows int32
	neck  int32 // its bottleneck, none where it has no rate yet
	peer  int32 // its other link, alone where it has none, many where it has several
}

// levelClass is where a class sits, or sat last if it has no flows.
type levelClass struct {
	places []place
	asked  []pathmap.LinkID // where it is to sit once it is brought up to date, if it is to move
	flows  int32
	neck   int32

	want    int32 // as many flows are asked for
	pending bool
	moves   bool
}

// place is a link that a class is on, and where in its list.
type place struct {
	link pathmap.LinkID
	at   int32
}

// seatAll makes the links' lists what was asked for. Classes stay pending that are not as they were.
func (s *Levels) seatAll(moved func(class, from, to int32)) {
	other := s.pending[:0]
	for _, i := range s.pending {
		c := &s.classes[i]
		c.pending = false
		if !c.moves && c.want == c.flows {
			continue
		}
		other = append(other, i)
		if c.flows > 0 {
			s.feel(c.places)
			if c.moves || c.want == 0 {
				s.unseat(i, moved)
			}
		}
		if c.want > 0 {
			s.seat(i)
			s.feel(c.places)
		}
	}
	s.pending = other
}

// feel notes links that a change touches.
func (s *Levels) feel(places []place) {
	for _, p := range places {
		s.meet(int32(p.link))
	}
}

func (s *Levels) meet(l int32) {
	if s.reached[l] != s.epoch {
		s.reached[l], s.was[l] = s.epoch, s.level[l]
		s.queue = append(s.queue, l)
	}
}

// unseat takes a class off its links.
func (s *Levels) unseat(i int32, moved func(class, from, to int32)) {
	c := &s.classes[i]
	for _, p := range c.places {
		s.total[p.link] -= int64(c.flows)
		on := s.on[p.link]
		last := int32(len(on) - 1)
		if p.at != last {
			on[p.at] = on[last]
			s.reseat(on[p.at].class, p.link, p.at)
		}
		s.on[p.link] = on[:last]
	}
	c.flows = 0
	if c.neck != none {
		moved(i, c.neck, none)
		c.neck = none
	}
}

func (s *Levels) reseat(class int32, l pathmap.LinkID, at int32) {
	c := &s.classes[class]
	for k := range c.places {
		if c.places[k].link == l {
			c.places[k].at = at
			return
		}
	}
	panic(fmt.Sprintf("maxmin: class %d sits on link %d and does not know", class, l))
}

// seat puts a class on the links that it asked for, or gives one that sits there the flows that it asked for.
func (s *Levels) seat(i int32) {
	c := &s.classes[i]
	if c.moves {
		c.places, c.moves = c.places[:0], false
		for _, l := range c.asked {
			c.places = append(c.places, place{link: l})
		}
	}
	if c.flows == 0 {
		for k := range c.places {
			p, peer := &c.places[k], int32(many)
			switch len(c.places) {
			case 1:
				peer = alone
			case 2:
				peer = int32(c.places[1-k].link)
			}
			p.at = int32(len(s.on[p.link]))
			s.on[p.link] = append(s.on[p.link], seat{class: i, neck: none, peer: peer})
		}
	}
	for _, p := range c.places {
		s.on[p.link][p.at].flows = c.want
		s.total[p.link] += int64(c.want - c.flows)
	}
	c.flows = c.want
}

// sits says whether places are on those links, in that order.
func sits(places []place, links []pathmap.LinkID) bool {
	if len(places) != len(links) {
		return false
	}
	for k := range places {
		if places[k].link != links[k] {
			return false
		}
	}
	return true
}
