package maxmin

// A link that holds back many classes of flows changes the rate of all of them at once. Most of the other links on
// their paths are the same few: a host's link has a hundred classes in common with each link between switches. So such
// a link is told once, of all flows that it has in common with the one that holds them back.

const (
	manyClasses = 24 // a link that holds back that many classes counts what it has in common with others
	spread      = 2  // unless these are more than a spread-th of what its classes have in links
)

// overlaps is what a link that holds back many classes has in common with others.
type overlaps struct {
	with []overlap
	at   map[int32]int32 // by link: where in with; nil: not counted
	from int32           // classes from which it is counted: after an attempt in vain, twice as many
}

// overlap is flows that another link has in common with the one that holds them back.
type overlap struct{ flows, link int32 }

// overlapsOf returns what a link has in common with others, which is counted if it is not known: false if it is not
// worth while.
func (s *Levels) overlapsOf(l int32) ([]overlap, bool) {
	own := s.links[l].own
	if s.overlaps == nil && own >= manyClasses {
		s.overlaps = make([]*overlaps, len(s.links))
	}
	if s.overlaps == nil || s.overlaps[l] == nil && own < manyClasses {
		return nil, false
	}
	h := s.overlaps[l]
	if h == nil {
		h = &overlaps{}
		s.overlaps[l] = h
	}
	if own < manyClasses/2 || len(h.with) > few*int(own) { // most of them had flows in common only once
		s.forget(h)
	}
	if h.at == nil && own >= max(h.from, manyClasses) {
		s.count(h, l)
	}
	return h.with, h.at != nil
}

// count counts what a link has in common with others.
func (s *Levels) count(h *overlaps, l int32) {
	h.at = map[int32]int32{}
	s.crowded++
	seats := 0
	for _, o := range s.links[l].on[:s.links[l].own] {
		seats += len(s.linksOf(o.class))
		s.add(l, o.class, s.classes[o.class].flows)
	}
	s.work += int64(seats)
	if len(h.with)*spread > seats {
		s.forget(h)
		h.from = 2 * s.links[l].own
	}
}

// forget gives up what is known of that.
func (s *Levels) forget(h *overlaps) {
	if h.at != nil {
		s.crowded--
	}
	*h = overlaps{}
}

// add counts more flows, or fewer, of a class that a link holds back.
func (s *Levels) add(l, class, flows int32) {
	h := s.overlaps[l]
	if h == nil || h.at == nil {
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

// passAll is pass for all classes that a link holds back. All together they have less than its capacity, so that one
// sum goes no further than that of one class.
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
