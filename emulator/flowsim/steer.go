package flowsim

import "lightloom/southbound"

// reroute is a host flow that is to have another tag.
type reroute struct {
	hostFlow int32
	tag      southbound.Tag
}

// foresee reads what reroutes will look at: a host flow, the table where the route that it gets begins,
// that route, its class. Hardly any of it is in a cache where there are many host flows and routes, and
// each says where the next one is; but those of several host flows are waited for together here, and
// one after the other where they are rerouted.
func (f *fluid) foresee(reroutes []reroute) {
	seen := uint32(0)
	for _, t := range reroutes {
		bu := &f.hostFlows[t.hostFlow]
		p := pair{bu.src, bu.dst, t.tag}
		if p.holds() {
			continue // it gets no route
		}
		seen += f.find.foresee(p)
		i := bu.away
		if bu.awayTag != t.tag || i == none {
			i = f.routeAt(p)
		}
		if i == none {
			continue
		}
		r := &f.routes[i]
		seen += uint32(r.live) + uint32(r.even)
		if r.shared != none {
			seen += f.levels.foreseeClass(r.shared)
		}
	}
	f.levels.seen = seen
}

// steer gives a live host flow another route.
func (f *fluid) steer(b int32, tag southbound.Tag) {
	bu := &f.hostFlows[b]
	if bu.tag == tag {
		return
	}
	f.account(b)
	f.coflows[bu.coflow].steady = 0
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

// awayOf returns the route that a host flow was expected to be given, if it is the one of this tag.
// Rows with caps and legs have routes of their own, and where routes are used again it may be another's.
func (f *fluid) awayOf(bu *hostFlow, tag southbound.Tag) (int32, bool) {
	if bu.away == none || bu.awayTag != tag || f.recycles {
		return none, false
	}
	co := &f.coflows[bu.coflow]
	return bu.away, co.caps == nil && co.leg == 0
}
