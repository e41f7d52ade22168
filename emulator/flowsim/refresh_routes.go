package flowsim

import (
	"slices"

	"lightloom/pathmap"
)

// enter counts one more host flow on a route. Those that are withheld are on none.
func (f *fluid) enter(index int32) {
	r := &f.routes[index]
	if r.holds() {
		return
	}
	if r.live++; r.live == 1 {
		f.activate(index)
		if !f.fresh(r) {
			links, fate := f.walk(r, f.tmp.links[:0])
			f.adopt(r, links, fate)
			f.tmp.links = links
		}
		f.subscribe(index)
	}
	f.suspect(index)
}

// adopt gives a route other links. What its host flows have received must be counted.
func (f *fluid) adopt(r *route, links []pathmap.LinkID, fate fate) {
	f.post(r)
	r.lead(links)
	f.tighten(r)
	r.fate = fate
	f.crooked = f.crooked || !f.hostsBind(r)
	f.severed = f.severed || fate != arrives
	f.classes.noting = false
	for _, c := range [...]int32{r.shared, r.even} {
		if c != none {
			f.classes.touch(c)
		}
	}
	if !r.stalls() {
		r.stuck = 0
	}
}

// rerouted is a walk that came out differently: its links are tmp.links[first:end].
type rerouted struct {
	route      int32
	first, end int
	fate       fate
}

// refreshRoutes brings every route with host flows up to date with the tables.
func (f *fluid) refreshRoutes() {
	var w routeRefresh
	w.links = f.tmp.links[:0]
	if f.recabled || f.recycles {
		for _, i := range f.active {
			f.refreshRoute(&w, i)
		}
	} else {
		for _, n := range f.changed {
			f.prune(n)
			for _, i := range f.watch[n] {
				f.refreshRoute(&w, i)
			}
		}
	}
	for _, i := range w.walked {
		f.subscribe(i)
	}
	f.changed, f.recabled = f.changed[:0], false
	f.tmp.links = w.links
	if len(w.changed) == 0 {
		return
	}
	f.spreads.scatter(&f.individual)
	f.backfilled.scatter(&f.individual)
	if w.apart {
		f.accountApart()
	}
	for _, c := range w.changed {
		r := &f.routes[c.route]
		f.adopt(r, w.links[c.first:c.end], c.fate)
		r.moved = true
		f.suspect(c.route)
	}
	f.disturb()
	if w.apart {
		f.rejoin()
		f.individual.recount()
	}
	for _, c := range w.changed {
		f.routes[c.route].moved = false
	}
}

// routeRefresh is what refreshRoutes has found.
type routeRefresh struct {
	walked  []int32
	changed []rerouted
	links   []pathmap.LinkID
	apart   bool // host flows that follow paces are on routes that have changed
}

// refreshRoute walks a route that is not as the tables have it.
func (f *fluid) refreshRoute(w *routeRefresh, i int32) {
	r := &f.routes[i]
	if f.fresh(r) {
		return
	}
	first := len(w.links)
	links, fate := f.walk(r, w.links)
	w.links, w.walked = links, append(w.walked, i)
	if fate == r.fate && slices.Equal(links[first:], r.links()) {
		w.links = links[:first]
		return
	}
	w.changed = append(w.changed, rerouted{i, first, len(links), fate})
	w.apart = f.accountShared(r) || w.apart
}

// rejoin puts the host flows of paced coflows to where they belong after their routes have changed.
func (f *fluid) rejoin() {
	for _, i := range f.live {
		co := &f.coflows[i]
		co.Stale, co.steady = true, 0
		if co.kind == free || co.kind == leveled || co.kind == paced && co.until == 0 && len(co.extra) == 0 &&
			co.caps == nil {
			continue
		}
		for b := co.first; b < co.end; b++ {
			bu := &f.hostFlows[b]
			r := &f.routes[bu.route]
			if bu.class == gone || !r.moved {
				continue
			}
			if bu.class == onIndividual || bu.class == onPace && co.until > 0 && r.fate != arrives ||
				bu.class >= 0 &&
					f.classes.list[bu.class].alone && r.fate == arrives {
				f.again(b)
			}
		}
	}
}
