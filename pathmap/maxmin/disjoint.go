package maxmin

import "math"

// Where circuits carry everything, a class is alone on all of its links: its level is the smallest
// capacity per flow among them, and no other class matters.

// disjoint reports whether every class that has changed is alone on its links, and whether the links of
// every class that has left are empty now.
func (s *Levels) disjoint() bool {
	seats := 0
	for _, i := range s.pending {
		c := &s.classes[i]
		if c.flows == 0 {
			continue
		}
		for _, p := range c.places() {
			if len(s.on[p.link]) != 1 {
				return false
			}
		}
		seats += len(c.places())
	}
	for _, l := range s.queue {
		seats -= len(s.on[l])
	}
	return seats == 0
}

// fillDisjoint is reach and fill for classes that share no link: each is held back by that of its links which
// the water fills first.
func (s *Levels) fillDisjoint(moved func(class, from, to int32)) {
	for _, l := range s.queue {
		s.level[l] = math.Inf(1)
	}
	s.heap.items = s.heap.items[:0]
	for _, i := range s.pending {
		c := &s.classes[i]
		if c.flows == 0 {
			continue
		}
		least := item[float64]{math.Inf(1), none}
		for _, p := range c.places() {
			if it := (item[float64]{s.capacity[p.link] / float64(c.flows), p.link}); least.id == none ||
				it.before(least) {
				least = it
			}
		}
		s.heap.items = append(s.heap.items, least)
		s.work += int64(len(c.places()))
	}
	for s.heap.build(); len(s.heap.items) > 0; s.heap.pop() {
		top := s.heap.items[0]
		if o := &s.on[top.id][0]; o.neck != top.id {
			s.move(o.class, top.id, moved)
		}
		s.level[top.id] = top.key
	}
}
