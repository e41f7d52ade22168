package flowsim

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// pair is what decides a route: switches see no more of a packet.
type pair struct {
	src, dst southbound.HostID
	tag      southbound.Tag
}

// fate is where a walk ends.
type fate uint8

const (
	unwalked fate = iota
	arrives       // at the destination
	withheld      // nowhere: the tag says to send nothing
	stranded      // at a port without light, a switch without a rule for it, or the wrong host
	loops         // at a switch where it has been before
)

// finder is what knows the tables. Generations count their changes: whoever makes one adds one to fluid.tables.
type finder interface {
	// find appends the links from a pair's source to where its packets end, and to asked whatever decided the way.
	find(p pair, links []pathmap.LinkID, asked []pathmap.NodeID) ([]pathmap.LinkID, []pathmap.NodeID, fate, error)
	// stands says whether none of that has changed since a generation.
	stands(asked []pathmap.NodeID, since uint64) bool
	// foresee reads what find will look at where a way begins, and returns whatever it is.
	foresee(p pair) uint32
}

// route is the way of a pair's packets as the tables stand, and the bundles that go there.
type route struct {
	// What every bundle that comes and goes looks at lies together, in one line of a cache.
	pair
	fate   fate
	hop    hop           // of a leg: the part of the way that it is for
	capped bool          // of one bundle that has a cap
	asks   uint8         // how many of few were asked; many: those in spill were
	live   int32         // bundles that are not withheld, in whichever class or pace
	pos    int32         // in fluid.active
	stuck  int32         // bundles that have been counted as standing still
	shared int32         // class, none where there never was one
	walked uint64        // generation of the tables that links are right for
	books  pathmap.Bytes // received over links and not yet in fluid.payload
	few    [4]pathmap.NodeID

	// And in the next line what a new way of it changes.
	near   [6]pathmap.LinkID
	listed [4]pathmap.NodeID
	posted pathmap.Bytes // received over whatever links and in fluid.payload
	even   int32         // class of the bundles that have what their ports were told; none where there never was one
	hops   uint8         // how many of near are its links; many: those in spill are
	lists  uint8         // how many of listed it is in, besides those in spill
	moved  bool          // another way has just been found, while bundles were on theirs
	spill  *spill        // nil: all of it is here

	tight []pathmap.LinkID // of its links, those that can hold a bundle back, where not all can
	rate  float64          // asked for each bundle of the shared class: bits a second; 0 holds

	// Of a bundle that has a cap, which has a route of its own.
	door  pathmap.LinkID // a link of that capacity that nothing else goes over
	plain int32          // the route of its pair without a cap

	_ [3]uint64 // for the next one to begin with a line
}

// route returns the route of a pair.
func (f *fluid) route(p pair) int32 {
	if i := f.byPair.find(p); i != none {
		return i
	}
	i := int32(len(f.routes))
	f.byPair.set(p, i)
	f.routes = append(f.routes, newRoute(p))
	return i
}

// enter counts one more bundle on a route. Those that are withheld are on none.
func (f *fluid) enter(index int32) {
	r := &f.routes[index]
	if r.holds() {
		return
	}
	if r.live++; r.live == 1 {
		r.pos = int32(len(f.active))
		f.active = append(f.active, index)
		if !f.fresh(r) {
			links, fate := f.walk(r, f.tmp.links[:0])
			f.adopt(r, links, fate)
			f.tmp.links = links
		}
		f.list(index)
	}
	f.suspect(index)
}

// list has a route walked again when what was asked for it changes.
func (f *fluid) list(index int32) {
	r := &f.routes[index]
	for _, n := range r.asked() {
		if r.enlist(n) {
			f.watch[n] = append(f.watch[n], index)
		}
	}
}

// unlist takes the routes that do not ask any more out of a list.
func (f *fluid) unlist(n pathmap.NodeID) {
	keep := f.watch[n][:0]
	for _, i := range f.watch[n] {
		r := &f.routes[i]
		if r.live > 0 && slices.Contains(r.asked(), n) {
			keep = append(keep, i)
			continue
		}
		r.delist(n)
	}
	f.watch[n] = keep
}

// exit counts one bundle less. Books of routes without bundles are empty.
func (f *fluid) exit(index int32) {
	r := &f.routes[index]
	if r.holds() {
		return
	}
	r.live--
	r.stuck = min(r.stuck, r.live)
	if r.live > 0 {
		return
	}
	f.post(r)
	last := f.active[len(f.active)-1]
	f.active[r.pos] = last
	f.routes[last].pos = r.pos
	f.active = f.active[:len(f.active)-1]
	r.pos = none
}

func (r *route) stalls() bool { return r.fate != arrives && r.fate != withheld }

// fresh says whether a route is as the tables have it.
func (f *fluid) fresh(r *route) bool {
	if r.fate == unwalked {
		return false
	}
	if r.walked != f.tables {
		if !f.find.stands(r.asked(), r.walked) {
			return false
		}
		r.walked = f.tables
	}
	return true
}

// walk appends the links of a route as the tables stand.
func (f *fluid) walk(r *route, buf []pathmap.LinkID) (links []pathmap.LinkID, fate fate) {
	r.walked = f.tables
	var err error
	links, f.tmp.asked, fate, err = f.find.find(r.pair, buf, f.tmp.asked[:0])
	r.ask(f.tmp.asked)
	if err != nil && fate != r.fate { // told once, however long it stands
		f.errs = append(f.errs, err)
	}
	if r.hop != whole && fate == arrives {
		return f.relay.trim(r, links, len(buf))
	}
	return links, fate
}

// adopt gives a route other links. What its bundles have received must be in its books.
func (f *fluid) adopt(r *route, links []pathmap.LinkID, fate fate) {
	f.post(r)
	r.lead(links)
	f.tighten(r)
	r.fate = fate
	for _, c := range [...]int32{r.shared, r.even} {
		if c != none {
			f.touch(c)
		}
	}
	if !r.stalls() {
		r.stuck = 0
	}
}

// tighten finds which links of a route can hold a bundle back.
func (f *fluid) tighten(r *route) {
	if f.narrow && !r.capped {
		return // all can
	}
	r.tight = r.tight[:0]
	for _, l := range r.links() {
		if !f.wide[l] {
			r.tight = append(r.tight, l)
		}
	}
	if r.capped {
		r.tight = append(r.tight, r.door)
	}
}

// tight returns the links of a route that can hold a bundle back. Borrowed until it is led elsewhere.
func (f *fluid) tight(r *route) []pathmap.LinkID {
	if f.narrow && !r.capped {
		return r.links()
	}
	return r.tight
}

// suspect notes that bundles on a route may stand still, once time passes.
func (f *fluid) suspect(index int32) {
	if f.routes[index].stalls() {
		f.suspects = append(f.suspects, index)
	}
}

// pass counts the bundles that stand still from now on: what is dark for no time stops nobody.
func (f *fluid) pass() {
	for _, i := range f.suspects {
		if r := &f.routes[i]; r.stalls() {
			f.stalls += int64(r.live - r.stuck)
			r.stuck = r.live
		}
	}
	f.suspects = f.suspects[:0]
}

// reroute is a walk that came out differently: its links are tmp.links[first:end].
type reroute struct {
	route      int32
	first, end int
	fate       fate
}

// rewalk brings every route with bundles up to date with the tables.
func (f *fluid) rewalk() {
	var w rewalker
	w.links = f.tmp.links[:0]
	if f.anywhere {
		for _, i := range f.active {
			f.walkAgain(&w, i)
		}
	} else {
		for _, n := range f.uneasy {
			f.unlist(n)
			for _, i := range f.watch[n] {
				f.walkAgain(&w, i)
			}
		}
	}
	for _, i := range w.walked {
		f.list(i)
	}
	f.uneasy, f.anywhere = f.uneasy[:0], false
	f.tmp.links = w.links
	if len(w.changed) == 0 {
		return
	}
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
	}
	for _, c := range w.changed {
		f.routes[c.route].moved = false
	}
}

// rewalker is what rewalk has found.
type rewalker struct {
	walked  []int32
	changed []reroute
	links   []pathmap.LinkID
	apart   bool // bundles that follow paces are on routes that have changed
}

// walkAgain walks a route that is not as the tables have it.
func (f *fluid) walkAgain(w *rewalker, i int32) {
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
	w.changed = append(w.changed, reroute{i, first, len(links), fate})
	w.apart = f.accountShared(r) || w.apart
}

// rejoin puts the bundles of paced coflows to where they belong after their routes have changed.
func (f *fluid) rejoin() {
	for _, i := range f.live {
		co := &f.coflows[i]
		co.stale = true
		if co.kind == free || co.kind == leveled || co.kind == paced && co.until == 0 && len(co.extra) == 0 && co.caps == nil {
			continue
		}
		for b := co.first; b < co.end; b++ {
			bu := &f.bundles[b]
			r := &f.routes[bu.route]
			if bu.class == gone || !r.moved {
				continue
			}
			if bu.class == onLane || bu.class == onPace && co.until > 0 && r.fate != arrives || bu.class >= 0 && f.classes[bu.class].alone && r.fate == arrives {
				f.again(b)
			}
		}
	}
}
