package maxmin

// ground is what solutions from the ground up remember.
type ground struct {
	water []water // by link
	work  int64   // of the last solution from the ground up

	patience patience // with following
	plenty   patience // with leaving out links that had plenty left
}

// water is what is left of a link while all levels are found from the ground up: half a line of a cache.
type water struct {
	left  int64 // of its capacity
	rough int64 // likewise, with rates as they count on links that are not exact
	flows int64 // that have no level yet; full, a constant, once the link has given them its own
	most  int64 // the highest level that others of its flows have
}

const full = -1

// linkCost is what a link costs a solution from the ground up, in seats (of a class on a link) or overlaps that it
// looks at. One that is looked at to follow a change costs about as much.
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

// worth reports whether a solution should go on to follow changes after that many seats and overlaps: not once it has
// looked at as many as the last one from the ground up, or as there are seats.
func (s *Levels) worth(looked int64) bool {
	most := s.seats
	if s.ground.work > 0 {
		most = min(most, s.ground.work)
	}
	return looked <= most+linkCost*int64(len(s.links))
}

// refill finds all levels from the ground up: of the links with classes that have no level yet, the one that is full
// first, as the water rises, gives them its own, and other links have that much less left for the rest. What is left
// for each flow never falls by that, not even rounded down, so that the levels are those that follow from each other.
//
// It takes the bottlenecks that classes had for theirs, and looks at the classes on a link only where some of its flows
// without a level have their bottleneck elsewhere: these become its own.
//
// Links that are not exact are left out, and looked at afterwards. If one has not enough left, all are filled again.
func (s *Levels) refill() {
	for s.queue.len > 0 {
		s.pop()
	}
	before, done := s.work, false
	if s.ground.plenty.tries() {
		done = s.fill(false)
		s.ground.plenty.after(done)
	}
	if !done {
		s.fill(true)
	}
	s.ground.work = s.work - before
}

// fill is refill with links that are not exact, or without: false means that one of them has not enough left.
func (s *Levels) fill(all bool) bool {
	s.heap.items, s.ground.water = s.heap.items[:0], s.ground.water[:0]
	for l := range s.links {
		x := &s.links[l]
		s.ground.water = append(s.ground.water, water{s.cap[l], s.cap[l], x.total, -1})
		if x.total > 0 && (x.exact || all) {
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
		if s.links[at.id].open < w.flows {
			s.take(at.id)
		}
		s.know(at.id, at.key, w.left, w.flows)
		s.pour(at.id, at.key)
		w.flows = full
	}
	return all || s.hadPlenty()
}

// hadPlenty reports whether the links that were left out have enough for all of their flows.
func (s *Levels) hadPlenty() bool {
	for l := range s.links {
		x, w := &s.links[l], &s.ground.water[l]
		switch {
		case x.exact || x.total == 0:
		case w.flows > 0 || w.rough < x.total:
			return false
		default:
			x.most = w.most
			s.know(int32(l), unheld, w.rough, 0)
		}
	}
	return true
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

// take makes a link the bottleneck of all classes on it that have no level yet.
func (s *Levels) take(l int32) {
	x := &s.links[l]
	s.work += int64(len(x.on)) - int64(x.own)
	for i := x.own; i < int32(len(x.on)); i++ {
		class := x.on[i].class
		from := s.necks[class]
		if from != none && s.ground.water[from].flows == full {
			continue
		}
		if from != none {
			y := &s.links[from]
			y.own--
			y.open -= int64(s.classes[class].flows)
			s.swap(from, s.placeOn(class, from), y.own)
		}
		s.swap(l, i, x.own)
		x.own++
		s.hold(class, l)
	}
}

// pour gives the classes that a link holds back its level.
func (s *Levels) pour(l int32, level int64) {
	rough := roughly(level)
	if with, counted := s.overlapsOf(l); counted {
		s.work += int64(len(with))
		for _, h := range with {
			if h.flows > 0 {
				s.ground.water[h.link].give(level, rough, int64(h.flows))
			}
		}
		return
	}
	own := s.links[l].on[:s.links[l].own]
	s.work += int64(len(own))
	for _, o := range own {
		flows := int64(s.classes[o.class].flows)
		for _, p := range s.linksOf(o.class) {
			if p != l {
				s.ground.water[p].give(level, rough, flows)
			}
		}
	}
}

// give gives flows a level.
func (w *water) give(level, rough, flows int64) {
	w.left -= level * flows
	w.rough = max(w.rough-rough*flows, -farBelow) // flows of a link left out can have more than 64 bits hold
	w.flows -= flows
	w.most = level
}
