package maxmin

// ground is what solutions from the ground up remember.
type ground struct {
	filled []uint32 // by class: the last of them that gave it a rate
	water  []water  // by link
	poured []move   // classes that have another bottleneck than before
	skip   int      // how many solutions to come are from the ground up, without trying to follow changes
	vain   int      // what skip was set to by the last that tried, 0 if it followed them to the end
}

// water is what is left of a link while all levels are found from the ground up.
type water struct {
	left  int64 // of its capacity
	flows int64 // that have no level yet
	most  int64 // the highest level that others of its flows have
}

// What a solution costs, in seats (of a class on a link) that are looked at from the ground up: one that is looked
// at to follow a change costs as much as followCost of them, and a link linkCost.
const (
	followCost = 4
	linkCost   = 4
)

// maxVain is how many solutions are from the ground up before changes are followed again, at most. It is one after
// the first that was given up, and twice as many and one after each in a row.
const maxVain = 31

// worth reports whether a solution should go on to follow changes after that many seats.
func (s *Levels) worth(seats int64) bool {
	return followCost*seats <= s.seats+linkCost*int64(len(s.links))
}

// refill finds all levels from the ground up: of the links with classes that have no level yet, the one that is full
// first, as the water rises, gives them its own, and other links have that much less left for the rest. What is left
// for each flow never falls by that, not even rounded down, so that the levels are those that follow from each other.
func (s *Levels) refill() {
	for _, it := range s.heap.items {
		s.links[it.id].inHeap = false
	}
	s.heap.items, s.ground.water = s.heap.items[:0], s.ground.water[:0]
	for l := range s.links {
		x := &s.links[l]
		s.ground.water = append(s.ground.water, water{x.cap, x.total, -1})
		if x.total > 0 {
			s.heap.items = append(s.heap.items, item[int64]{x.cap / x.total, int32(l)})
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
		s.links[at.id].most, s.links[at.id].refit = w.most, false
		if w.flows == 0 {
			s.know(at.id, unheld, w.left, 0)
			continue
		}
		s.know(at.id, at.key, w.left, w.flows)
		s.pour(at.id, at.key)
	}
	s.regroup()
}

// pour gives the classes of a link that have no level yet that of the link.
func (s *Levels) pour(l int32, level int64) {
	s.work += int64(len(s.on[l]))
	for i := range s.on[l] {
		o := &s.on[l][i]
		if s.ground.filled[o.class] == s.epoch {
			continue
		}
		s.ground.filled[o.class] = s.epoch
		if s.necks[o.class] != l {
			s.ground.poured = append(s.ground.poured, move{mark{level, l}, o.class})
		}
		if o.peers[0] == many {
			for _, p := range s.classes[o.class].places() {
				s.ground.water[p.link].less(level, int64(o.flows)) // l itself among them, which is not asked again
			}
			continue
		}
		for _, p := range o.peers {
			if int(p) == len(s.on) {
				break
			}
			s.ground.water[p].less(level, int64(o.flows))
		}
	}
}

func (w *water) less(level, flows int64) {
	w.left -= level * flows
	w.flows -= flows
	w.most = level
}

// regroup lists the classes that were given a rate by another link than before with that one.
func (s *Levels) regroup() {
	for _, m := range s.ground.poured {
		if from := s.necks[m.class]; from != none {
			x := &s.links[from]
			x.own--
			s.swap(from, s.placeOn(m.class, from).at, x.own)
		}
		x := &s.links[m.to.link]
		s.swap(m.to.link, s.placeOn(m.class, m.to.link).at, x.own)
		x.own++
		s.hold(m.class, m.to.link)
	}
	s.ground.poured = s.ground.poured[:0]
}
