package flowsim

// recycle lets the routes that have lost their host flows be those of other pairs, with their classes. One
// that was told a rate keeps it for its next host flow.
func (f *fluid) recycle() {
	for _, i := range f.idle {
		r := &f.routes[i]
		if r.live > 0 || r.rate > 0 || r.hop != whole || r.capped || len(f.classes.byPriority) > 0 {
			continue
		}
		if f.routeAt(r.pair) != i || !f.classes.retire(r.shared) || !f.classes.retire(r.even) {
			continue
		}
		if r.shared, r.even = none, none; len(r.links()) == 2 {
			f.local += r.posted // over the links of two hosts of a rack
		}
		r.posted = 0
		f.byPair.Drop(r.pair)
		f.unused = append(f.unused, i)
	}
	f.idle = f.idle[:0]
}

// retire lets a class be another's; it returns false for one with host flows, or that still waits on the
// clock of a group.
func (cs *classes) retire(index int32) bool {
	if index == none {
		return true
	}
	if c := &cs.list[index]; c.size > 0 || c.group != none || c.pos != none {
		return false
	}
	cs.free = append(cs.free, index)
	return true
}
