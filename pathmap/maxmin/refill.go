package maxmin

// ground is what solutions from the ground up remember.
type ground struct {
	filled []uint32 // by class: the last of them that gave it a rate
	water  []water  // by link
	poured []move   // classes that have another bottleneck than before

	patience patience
}

// water is what is left of a link while all levels are found from the ground up.
type water struct {
	left  int64 // of its capacity
	rough int64 // likewise, with rates as they count on links that are not exact
	flows int64 // that have no level yet
	most  int64 // the highest level that others of its flows have
}

// linkCost is what a link costs a solution from the ground up, in seats (of a class on a link) that it looks at. One
// that is looked at to follow a change costs about as much.
const linkCost = 4

// patience says which solutions try to follow the change: after one that gave up, some do not.
type patience struct {
	skip int // how many to come do not try
	vain int // what skip was set to by the last that tried, 0 if it followed the change to the end
}

// maxVain is how many solutions in a row do not try, at most. It is one after the first that gave up, and twice as many
// and one after each in a row.
const maxVain = 31

func (p *patience) tries() bool {
	if p.skip > 0 {
		p.skip--
		return false
	}
	return true
}

func (p *patience) after(success bool) {
	p.vain = min(2*p.vain+1, maxVain)
	if success {
		p.vain = 0
	}
	p.skip = p.vain
}

// worth reports whether a solution should go on to follow changes after that many seats.
func (s *Levels) worth(seats int64) bool {
	return seats <= s.seats+linkCost*int64(len(s.links))
}

// refill finds all levels from the ground up: of the links with classes that have no level yet, the one that is full
// first, as the water rises, gives them its own, and other links have that much less left for the rest. What is left
// for each flow never falls by that, not even rounded down, so that the levels are those that follow from each other.
func (s *Levels) refill() {
	for s.queue.len > 0 {
		s.pop()
	}
	s.heap.items, s.ground.water = s.heap.items[:0], s.ground.water[:0]
	for l := range s.links {
		x := &s.links[l]
		s.ground.water = append(s.ground.water, water{s.cap[l], s.cap[l], x.total, -1})
		if x.total > 0 {
			s.heap.items = append(s.heap.items, item[int64]{s.cap[l] / x.total, int32(l)})
		}
	}
	s.heap.build()
	for len(s.heap.items) > 0 {
		at := s.heap.items[0]
		w := &s.ground.water[at.id]
		if w.flows > 0 && w.left/w.flows > at.key {
			s.heap.raise(w.left / w.flows)
			continue
		}
		s.heap.pop()
		s.links[at.id].most = w.most
		if w.flows == 0 {
			s.spare(at.id, w.left, w.rough)
			continue
		}
		s.beExact(at.id)
		s.know(at.id, at.key, w.left, w.flows)
		s.pour(at.id, at.key)
	}
	s.regroup()
}

// spare notes that a link is no bottleneck, and what it has left.
func (s *Levels) spare(l int32, left, rough int64) {
	if x := &s.links[l]; !x.exact && rough < x.total {
		s.beExact(l)
	} else if !x.exact {
		left = rough
	}
	s.know(l, unheld, left, 0)
}

// pour gives the classes of a link that have no level yet that of the link.
func (s *Levels) pour(l int32, level int64) {
	s.work += int64(len(s.links[l].on))
	rough := roughly(level)
	for _, o := range s.links[l].on {
		if s.ground.filled[o.class] == s.epoch {
			continue
		}
		s.ground.filled[o.class] = s.epoch
		c := &s.classes[o.class]
		if s.necks[o.class] != l {
			s.ground.poured = append(s.ground.poured, move{mark{level, l}, o.class})
		}
		flows := int64(c.flows)
		less, lessRough := level*flows, rough*flows
		for _, p := range s.linksOf(o.class) {
			if p == l {
				continue
			}
			w := &s.ground.water[p]
			w.left -= less
			w.rough -= lessRough
			w.flows -= flows
			w.most = level
		}
	}
}

// regroup lists the classes that were given a rate by another link than before with that one.
func (s *Levels) regroup() {
	for _, m := range s.ground.poured {
		if from := s.necks[m.class]; from != none {
			x := &s.links[from]
			x.own--
			s.swap(from, s.placeOn(m.class, from), x.own)
		}
		x := &s.links[m.to.link]
		s.swap(m.to.link, s.placeOn(m.class, m.to.link), x.own)
		x.own++
		s.hold(m.class, m.to.link)
	}
	s.ground.poured = s.ground.poured[:0]
}
