package flowsim

import "lightloom/southbound"

// turn is a bundle that is to have another tag.
type turn struct {
	bundle int32
	tag    southbound.Tag
}

// foresee reads what turns will look at: a bundle, the table where the route that it gets begins, that route, its class.
// Hardly any of it is in a cache where there are many bundles and routes, and each says where the next one is; but those of
// several bundles are waited for together here, and one after the other where they are turned.
func (f *fluid) foresee(turns []turn) {
	seen := uint32(0)
	for _, t := range turns {
		bu := &f.bundles[t.bundle]
		p := pair{bu.src, bu.dst, t.tag}
		if p.holds() {
			continue // it gets no route
		}
		seen += f.find.foresee(p)
		i := bu.away
		if bu.awayTag != t.tag || i == none {
			i = f.byPair.find(p)
		}
		if i == none {
			continue
		}
		r := &f.routes[i]
		seen += uint32(r.live) + uint32(r.even)
		if r.shared != none {
			seen += f.foreseeClass(r.shared)
		}
	}
	f.tmp.seen = seen
}

// foreseeClass reads what is looked at of a class that a bundle comes to or leaves, here and where rates are shared.
func (f *fluid) foreseeClass(index int32) uint32 {
	seen := uint32(f.classes[index].pos)
	if f.levels != nil {
		seen += uint32(f.levels.Foresee(index))
	}
	return seen
}

// foreseeEnd reads what the end of a class's first bundle will look at, for the same reason.
func (f *fluid) foreseeEnd(index int32) {
	c := &f.classes[index]
	bu, r := &f.bundles[c.first], &f.routes[c.route]
	f.tmp.seen += f.foreseeClass(index) + uint32(bu.pos) + uint32(r.live) + uint32(r.even)
}

// steer gives a live bundle another route.
func (f *fluid) steer(b int32, tag southbound.Tag) {
	bu := &f.bundles[b]
	if bu.tag == tag {
		return
	}
	f.account(b)
	left := f.pull(b)
	if !bu.holds() {
		f.exit(bu.route)
	}
	to, known := f.awayOf(bu, tag)
	if !known {
		to = f.routeOf(bu.coflow, b-f.coflows[bu.coflow].first, pair{bu.src, bu.dst, tag})
	}
	bu.away, bu.awayTag = bu.route, bu.tag
	bu.route, bu.tag = to, tag
	if !bu.holds() {
		f.enter(to)
	}
	f.place(b, left)
}

// awayOf returns the route that a bundle was expected to be given, if it is the one of this tag. Rows with caps and legs
// have routes of their own.
func (f *fluid) awayOf(bu *bundle, tag southbound.Tag) (int32, bool) {
	if bu.away == none || bu.awayTag != tag {
		return none, false
	}
	co := &f.coflows[bu.coflow]
	return bu.away, co.caps == nil && co.leg == 0
}
