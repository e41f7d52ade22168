package maxmin

// A link that holds back many classes of flows changes the rate of all of them at once. Most of the other links on
// their paths are the same few: a host's link has a hundred classes in common with each link between switches. So such
// a link is told once, of all flows that it has in common with the one that holds them back.

// manyClasses is from how many classes on a link counts what it has in common with others. It gives that up below half
// as many.
const manyClasses = 24

// overlaps is what a link that holds back many classes has in common with others.
type overlaps struct {
	with  []overlap
	at    map[int32]int32 // by link: where in with; nil: not counted
	first int             // overlaps when they were counted
	from  int32           // classes from which they are worth counting, as far as is known
	again bool            // asked for since there are many classes: most crowds that are asked for twice stay
}

// overlap is flows that another link has in common with the one that holds them back.
type overlap struct{ flows, link int32 }

// overlapsOf returns what a link has in common with others, counted when it is asked for the second time: false if it
// is not worth while.
func (s *Levels) overlapsOf(l int32) ([]overlap, bool) {
	own := s.links[l].own
	if s.overlaps == nil && own >= manyClasses {
		s.overlaps = make([]*overlaps, len(s.links))
	}
	if s.overlaps == nil || s.overlaps[l] == nil && own < manyClasses {
		return nil, false
	}
	h := s.overlaps[l]
	switch {
	case h == nil:
		s.overlaps[l] = &overlaps{again: true}
		return nil, false
	case own < manyClasses/2 || len(h.with) > 2*h.first: // half of them are of classes that have gone
		s.forget(h)
	case h.at == nil && own >= max(h.from, manyClasses) && h.again:
		s.count(h, l)
	}
	h.again = h.again || own >= manyClasses
	return h.with, h.at != nil
}

// count counts what a link has in common with others. If these are more than half as many as the links of its classes,
// it is not worth while, and not tried again before there are twice as many classes.
func (s *Levels) count(h *overlaps, l int32) {
	h.at = map[int32]int32{}
	s.crowded++
	seats := 0
	for _, o := range s.links[l].on[:s.links[l].own] {
		seats += len(s.linksOf(o.class))
		s.add(l, o.class, s.classes[o.class].flows)
	}
	s.work += int64(seats)
	if h.first = len(h.with); 2*h.first > seats {
		s.forget(h)
		h.from = 2 * s.links[l].own
	}
}

// forget gives up what a link has in common with others.
func (s *Levels) forget(h *overlaps) {
	if h.at != nil {
		s.crowded--
	}
	*h = overlaps{}
}

// forgetAll gives up all of it if so many classes change at once that counting anew is less work.
func (s *Levels) forgetAll(changes int) {
	if s.crowded == 0 || 4*changes < len(s.classes) {
		return
	}
	for _, h := range s.overlaps {
		if h != nil {
			s.forget(h)
		}
	}
}

// add counts more flows, or fewer, of a class that a link holds back.
func (s *Levels) add(l, class, flows int32) {
	h := s.overlaps[l]
	if h == nil || h.at == nil {
		return
	}
	if s.links[l].own < manyClasses/2 {
		s.forget(h)
		return
	}
	for _, p := range s.linksOf(class) {
		if p == l {
			continue
		}
		i, ok := h.at[p]
		if !ok {
			i = int32(len(h.with))
			h.at[p], h.with = i, append(h.with, overlap{link: p})
		}
		h.with[i].flows += flows
	}
}

// passAll is pass for all classes that a link holds back. At its new level they have no more than its capacity all
// together, so that no sum goes further than that of one class could. What they had can go around, where flows were
// added: then those links are unsure already.
func (s *Levels) passAll(with []overlap, c *change) {
	s.work += int64(len(with))
	from := min(c.was, c.now)
	for _, h := range with {
		switch p, flows := h.link, int64(h.flows); {
		case flows == 0:
		case s.links[p].exact:
			s.hear(p, c.more*flows, c.now, from)
		case c.rough != 0:
			s.hearRoughly(p, c.rough*flows, from)
		}
	}
}
