package maxmin

// water is what is left of a link while all levels are found from the ground up.
type water struct {
	left  int64 // of its capacity
	flows int64 // that have no level yet
	spare int64 // as Levels.spare, if it holds nobody back
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
		s.inHeap[it.id] = false
	}
	s.heap.items = s.heap.items[:0]
	s.water = s.water[:0]
	for l := range s.links {
		x := &s.links[l]
		s.water = append(s.water, water{x.cap, x.total, x.cap >> coarseBits})
		if x.total > 0 {
			s.heap.items = append(s.heap.items, item[int64]{x.cap / x.total, int32(l)})
		} else {
			s.put(int32(l), unheld)
		}
	}
	s.heap.build()
	for len(s.heap.items) > 0 {
		at := s.heap.items[0]
		w := &s.water[at.id]
		switch {
		case w.flows == 0:
			s.heap.pop()
			s.put(at.id, unheld)
		case w.left/w.flows > at.key:
			s.heap.raise(w.left / w.flows)
		default:
			s.heap.pop()
			s.put(at.id, at.key)
			s.pour(at.id, at.key)
		}
	}
	for l := range s.water {
		s.spare[l] = s.water[l].spare
	}
}

// put gives a link its level in this solution.
func (s *Levels) put(l int32, level int64) {
	if s.level[l] != level {
		s.note(l)
		s.level[l] = level
	}
}

// pour gives the classes of a link that have no level yet that of the link.
func (s *Levels) pour(l int32, level int64) {
	part := coarse(level)
	s.work += int64(len(s.on[l]))
	for i := range s.on[l] {
		o := &s.on[l][i]
		if s.filled[o.class] == s.epoch {
			continue
		}
		s.filled[o.class] = s.epoch
		if s.necks[o.class] != l {
			s.feel(o.class)
		}
		flows := int64(o.flows)
		has := water{level * flows, flows, part * flows}
		if o.peers[0] == many {
			for _, p := range s.classes[o.class].places() {
				s.water[p.link].less(has) // l itself among them, which is not asked again
			}
			continue
		}
		for _, p := range o.peers {
			if int(p) == len(s.on) {
				break
			}
			s.water[p].less(has)
		}
	}
}

func (w *water) less(has water) {
	w.left -= has.left
	w.flows -= has.flows
	w.spare -= has.spare
}
