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

// finder looks up routes in the tables. Generations count their changes: every change adds one to
// routeTable.tables.
type finder interface {
	// find appends to links the path from a pair's source to its packets' end, and to asked the switches
	// that decided it.
	find(p pair, links []pathmap.LinkID, asked []pathmap.NodeID) ([]pathmap.LinkID,
		[]pathmap.NodeID, fate, error)
	// stands reports whether none of the switches in asked has changed since a generation.
	stands(asked []pathmap.NodeID, since uint64) bool
	// foresee prefetches what find reads first for a path; its result only keeps the compiler from
	// dropping the reads.
	foresee(p pair) uint32
}

// route is the path of a pair's packets under the current tables, and the host flows that use it.
type route struct {
	// The fields that every start and end of a host flow reads are together in one cache line.
	pair
	fate     fate
	hop      hop           // of a leg: the part of the path that it is for
	capped   bool          // of one host flow that has a cap
	asks     uint8         // how many of few were asked; many: those in spill were
	live     int32         // host flows that are not withheld, in whichever class or pace
	pos      int32         // in routeTable.active
	stuck    int32         // host flows that have been counted as standing still
	shared   int32         // class, none where there never was one
	walked   uint64        // generation of the tables that links are right for
	unposted pathmap.Bytes // received over links and not yet in linkTable.payload
	few      [4]pathmap.NodeID

	// And in the next line what a new path of it changes.
	near   [6]pathmap.LinkID
	listed [4]pathmap.NodeID
	posted pathmap.Bytes // received over whatever links and in linkTable.payload
	even   int32         // class of the host flows with the rates of their ports; none if there was none yet
	hops   uint8         // how many of near are its links; many: those in spill are
	lists  uint8         // how many of listed it is in, besides those in spill
	moved  bool          // another path has just been found, while host flows were on theirs
	spill  *spill        // nil: all of it is here

	tight []pathmap.LinkID // of its links, those that can hold a host flow back, where not all can
	rate  float64          // asked for each host flow of the shared class: bits a second; 0 holds

	// Of a host flow that has a cap, which has a route of its own.
	door  pathmap.LinkID // a link of that capacity that nothing else goes over
	plain int32          // the route of its pair without a cap

	_ [3]uint64 // for the next one to begin with a line
}

// routeTable is all routes, and which of them a change of tables concerns.
type routeTable struct {
	routes []route
	byPair *routeIndex
	active []int32 // routes with host flows that have not ended, and are not withheld

	find     finder
	tables   uint64           // generation of all tables of all devices
	walked   uint64           // generation that routes are up to date with
	changed  []pathmap.NodeID // whose tables have changed since
	recabled bool             // since, cables have been cut or mended: any route may be another
	crooked  bool             // other links than those of its hosts can have held back some route, or it has led nowhere
	watch    [][]int32        // by what finder.find says was asked: routes that must be walked again when it changes
	asked    []pathmap.NodeID // memory that walks reuse

	// On a fabric with many pairs of hosts and no circuits, routes without host flows are used again for
	// other pairs: memory is by what is live. What a change of tables concerns is then found among all
	// that are active.
	recycles bool
	idle     []int32 // routes that may be used again
	unused   []int32
	local    pathmap.Bytes // posted of those that were within a rack

	suspects []int32 // routes whose host flows may stand still
	stalls   int64   // times that a host flow stood still
}

// routeAt returns the index of a pair's route, none where it has none.
func (rt *routeTable) routeAt(p pair) int32 {
	return rt.byPair.Find(p)
}

// route returns the route of a pair.
func (rt *routeTable) route(p pair) int32 {
	if i := rt.routeAt(p); i != none {
		return i
	}
	i := rt.addRoute(newRoute(p))
	rt.byPair.Set(p, i)
	return i
}

func (rt *routeTable) addRoute(r route) int32 {
	if n := len(rt.unused); n > 0 {
		i := rt.unused[n-1]
		rt.unused = rt.unused[:n-1]
		r.tight = rt.routes[i].tight[:0]
		rt.routes[i] = r
		return i
	}
	rt.routes = append(rt.routes, r)
	return int32(len(rt.routes) - 1)
}

// activate puts a route on the list of those with host flows.
func (rt *routeTable) activate(index int32) {
	rt.routes[index].pos = int32(len(rt.active))
	rt.active = append(rt.active, index)
}

// deactivate takes a route off it.
func (rt *routeTable) deactivate(r *route) {
	rt.routes[takeOut(&rt.active, r.pos)].pos = r.pos
	r.pos = none
}

// subscribe has a route walked again when what was asked for it changes.
func (rt *routeTable) subscribe(index int32) {
	r := &rt.routes[index]
	if rt.recycles {
		return
	}
	for _, n := range r.asked() {
		if r.enlist(n) {
			rt.watch[n] = append(rt.watch[n], index)
		}
	}
}

// prune takes the routes that do not ask any more out of a list.
func (rt *routeTable) prune(n pathmap.NodeID) {
	keep := rt.watch[n][:0]
	for _, i := range rt.watch[n] {
		r := &rt.routes[i]
		if r.live > 0 && slices.Contains(r.asked(), n) {
			keep = append(keep, i)
			continue
		}
		r.delist(n)
	}
	rt.watch[n] = keep
}

func (r *route) stalls() bool { return r.fate != arrives && r.fate != withheld }

// fresh reports whether a route is as the tables have it.
func (rt *routeTable) fresh(r *route) bool {
	if r.fate == unwalked {
		return false
	}
	if r.walked != rt.tables {
		if !rt.find.stands(r.asked(), r.walked) {
			return false
		}
		r.walked = rt.tables
	}
	return true
}

// suspect records that host flows on a route may stand still, once time passes.
func (rt *routeTable) suspect(index int32) {
	if rt.routes[index].stalls() {
		rt.suspects = append(rt.suspects, index)
	}
}

// pass counts the host flows that stand still from now on. A dark time of zero stops none.
func (rt *routeTable) pass() {
	for _, i := range rt.suspects {
		if r := &rt.routes[i]; r.stalls() {
			rt.stalls += int64(r.live - r.stuck)
			r.stuck = r.live
		}
	}
	rt.suspects = rt.suspects[:0]
}
