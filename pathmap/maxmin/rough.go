package maxmin

import "math/bits"

// Most links of a fabric hold nothing back, and have enough left for that whatever exactly the flows on them have. On
// such a link a rate counts for the next number of roughBits bits. Most changes of a rate do not change that number, so
// that the link need not be told. A link that could be a bottleneck is exact: it is told of every change.

const (
	roughBits = 6
	plenty    = 4 // a link of which that many powers of two less are left stays no bottleneck if rates count roughly
)

// roughly returns what a rate counts for on a link that is not exact: no less, and at most a 32nd more.
func roughly(rate int64) int64 {
	drop := max(bits.Len64(uint64(rate))-roughBits, 0)
	return (rate + 1<<drop - 1) >> drop << drop
}

// counts returns what a rate counts for on a link.
func (x *levelLink) counts(rate int64) int64 {
	if x.exact {
		return rate
	}
	return roughly(rate)
}

// beExact has a link told of every change from now on. What it has left is then to be found anew.
func (s *Levels) beExact(l int32) {
	if s.links[l].exact {
		return
	}
	s.links[l].exact = true
	s.work += int64(len(s.links[l].on))
	for _, o := range s.links[l].on {
		if o.k < few {
			s.classes[o.class].exact |= 1 << o.k
		}
	}
}

// beRough has a link that holds back no flows told of changes of rough rates only.
func (s *Levels) beRough(l int32) {
	x := &s.links[l]
	x.exact, x.left = false, s.cap[l]
	s.work += int64(len(s.links[l].on))
	for _, o := range s.links[l].on {
		c := &s.classes[o.class]
		if o.k < few {
			c.exact &^= 1 << o.k
		}
		if neck := s.necks[o.class]; neck != none {
			x.left -= roughly(s.level[neck]) * int64(c.flows)
		}
	}
}

// spares reports whether a link that holds back no flows has enough for what they have elsewhere. False means that a
// closer look is needed.
func (s *Levels) spares(l int32) bool {
	x := &s.links[l]
	if x.left >= x.total {
		if x.exact && (x.left-x.total)>>x.plenty > 0 {
			s.beRough(l)
		}
		return true
	}
	if x.exact && x.left < 0 {
		return false
	}
	s.beExact(l)
	return s.tied(l)
}

// tied finds what an exact link that holds back no flows has left, and reports whether it is no bottleneck even if
// that is less than a unit a flow. So it is where another link with the same flows and a lower number is full, too,
// which is common on paths through layers of switches.
//
// If the link held back flows, at a level that is rounded down, these would have that much or more now, and all of them
// together less than a unit each above it. So the highest rate of all flows would be among theirs, less than total
// units above the level, and one of them would have just the level: from a link with a higher number, or it would keep
// it.
func (s *Levels) tied(l int32) bool {
	x := &s.links[l]
	left, top, later := s.cap[l], int64(-1), int64(-1)
	s.work += int64(len(x.on))
	for _, o := range x.on {
		neck := s.necks[o.class]
		if neck == none {
			return false
		}
		rate := s.level[neck]
		left -= rate * int64(s.classes[o.class].flows)
		if top = max(top, rate); neck > l {
			later = max(later, rate)
		}
	}
	x.left = left
	return left >= x.total || left >= 0 && (later < 0 || later < top-x.total)
}
