package fluid

import (
	"math"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
)

// flow is a message on its links.
type flow struct {
	left     float64 // bits, when its set was solved
	rate     float64 // bit/ns
	route    route
	set      int32 // in sharer.sets, or one of the next
	instance int32
	message  int32
}

const (
	noSet = -1
	taken = -2 // it is being solved
	over  = -3 // it has ended
)

// route is the links between two ranks: in two, or from place two[0] of the arena if there are more.
type route struct {
	two   [2]pathmap.LinkID
	links int32
}

// block is how many flows are allocated at once: there can be millions.
const block = 1 << 12

// set is flows that share links, directly or through others, and so were solved together.
type set struct {
	flows []int32
	since float64 // ns
	live  bool
}

// sharer shares links among flows. Of flows that share nothing with a change, it solves nothing again.
type sharer struct {
	capacity []float64
	network  *Network
	arena    []pathmap.LinkID
	flows    [][]flow // by id, in blocks
	unused   []int32
	routes   map[[2]int32]longRoute
	on       [][]int32 // by link: the flows
	sets     []set
	spare    []int32 // sets that are not live
	dirty    []int32 // flows to be solved

	seen    []bool // by link
	queue   []pathmap.LinkID
	solver  maxmin.Solver
	classes []maxmin.Class
	rates   []float64
}

func newSharer(n *Network) *sharer {
	return &sharer{network: n, routes: map[[2]int32]longRoute{}}
}

// longRoute is a route in the arena, and its latency.
type longRoute struct {
	route
	latency float64
}

// routeOf returns the way between two ranks, and its latency. Those of more than two links are kept.
func (s *sharer) routeOf(from, to int32) (route, float64) {
	k := [2]int32{from, to}
	if long, ok := s.routes[k]; ok {
		return long.route, long.latency
	}
	at := len(s.arena)
	links, latency := s.network.Route(from, to, s.arena)
	for len(s.on) < len(s.network.Capacity) {
		s.on, s.seen = append(s.on, nil), append(s.seen, false)
	}
	r := route{links: int32(len(links) - at)}
	if copy(r.two[:], links[at:]); r.links > 2 {
		r.two[0] = pathmap.LinkID(at)
		s.arena = links
		s.routes[k] = longRoute{r, latency}
		return r, latency
	}
	s.arena = links[:at]
	return r, latency
}

// linksOf returns the links of a flow, borrowed.
func (s *sharer) linksOf(f *flow) []pathmap.LinkID {
	if f.route.links <= 2 {
		return f.route.two[:f.route.links]
	}
	at := int32(f.route.two[0])
	return s.arena[at : at+f.route.links]
}

// add adds a flow, which gets its rate when solve is called.
func (s *sharer) add(from, to int32, bytes pathmap.Bytes, instance, message int32) {
	r, _ := s.routeOf(from, to)
	f := flow{left: float64(bytes) * 8, route: r, set: noSet, instance: instance, message: message}
	var id int32
	if k := len(s.unused); k > 0 {
		id, s.unused = s.unused[k-1], s.unused[:k-1]
		*s.flow(id) = f
	} else {
		id = s.extend(f)
	}
	for _, l := range s.linksOf(&f) {
		s.on[l] = append(s.on[l], id)
	}
	s.dirty = append(s.dirty, id)
}

// extend adds a flow at the end of the last block.
func (s *sharer) extend(f flow) int32 {
	last := len(s.flows) - 1
	if last < 0 || len(s.flows[last]) == block {
		s.flows = append(s.flows, make([]flow, 0, block))
		last++
	}
	s.flows[last] = append(s.flows[last], f)
	return int32(last*block + len(s.flows[last]) - 1)
}

func (s *sharer) flow(id int32) *flow { return &s.flows[id/block][id%block] }

// instant is how close events are taken for one, in ns.
const instant = 1e-3

// grain returns how close two events can be told apart at an instant: late in a run, floats are wider than that.
func grain(now float64) float64 { return max(instant, math.Nextafter(now, math.Inf(1))-now) }

// fire ends the flows of a set that have nothing left, calls ended with each, and has the others solved again.
func (s *sharer) fire(k int32, now float64, ended func(f flow)) {
	members := s.dissolve(k, now)
	for _, id := range members {
		if f := s.flow(id); f.left <= f.rate*grain(now) {
			f.set = over
		} else {
			s.dirty = append(s.dirty, id)
		}
	}
	s.clear(members)
	for _, id := range members {
		if f := *s.flow(id); f.set == over {
			s.flow(id).set = noSet // the next flow to come may have this place
			s.unused = append(s.unused, id)
			ended(f)
		}
	}
}

// clear takes flows that are over off their links.
func (s *sharer) clear(members []int32) {
	s.queue = s.queue[:0]
	for _, id := range members {
		for _, l := range s.linksOf(s.flow(id)) {
			if s.flow(id).set == over && !s.seen[l] {
				s.seen[l] = true
				s.queue = append(s.queue, l)
			}
		}
	}
	for _, l := range s.queue {
		s.seen[l] = false
		s.on[l] = slices.DeleteFunc(s.on[l], func(id int32) bool { return s.flow(id).set == over })
	}
}

// dissolve brings the flows of a set up to now, and returns them.
func (s *sharer) dissolve(k int32, now float64) []int32 {
	x := &s.sets[k]
	members := x.flows
	for _, id := range members {
		f := s.flow(id)
		f.left = max(f.left-f.rate*(now-x.since), 0)
		f.set = noSet
	}
	*x = set{}
	s.spare = append(s.spare, k)
	return members
}

// solve gives all flows that are dirty, and those that share links with them, their rates, and calls wake with each
// set and the instant at which its first flow ends.
func (s *sharer) solve(now float64, wake func(set int32, at float64)) {
	dirty := s.dirty
	s.dirty = nil
	for _, id := range dirty {
		if s.flow(id).set >= 0 {
			continue
		}
		members := s.gather(id, now)
		first := s.rate(members)
		k := int32(len(s.sets))
		if n := len(s.spare); n > 0 {
			k, s.spare = s.spare[n-1], s.spare[:n-1]
			s.sets[k] = set{members, now, true}
		} else {
			s.sets = append(s.sets, set{members, now, true})
		}
		for _, m := range members {
			s.flow(m).set = k
		}
		wake(k, now+first)
	}
	s.dirty = dirty[:0]
}

// gather returns all flows that share links with one, directly or through others.
func (s *sharer) gather(id int32, now float64) []int32 {
	var members []int32
	s.queue = s.queue[:0]
	reach := func(id int32) {
		for _, l := range s.linksOf(s.flow(id)) {
			if !s.seen[l] {
				s.seen[l] = true
				s.queue = append(s.queue, l)
			}
		}
	}
	take := func(id int32) {
		f := s.flow(id)
		if f.set == taken {
			return
		}
		if f.set >= 0 {
			s.dissolve(f.set, now)
		}
		f.set = taken
		members = append(members, id)
		reach(id)
	}
	take(id)
	for i := 0; i < len(s.queue); i++ {
		for _, id := range s.on[s.queue[i]] {
			take(id)
		}
	}
	for _, l := range s.queue {
		s.seen[l] = false
	}
	return members
}

// rate sets the rates of flows that share links with no others, and returns in how many ns the first ends.
func (s *sharer) rate(members []int32) float64 {
	if !s.alike(members) {
		s.fill(members)
	}
	first := math.Inf(1)
	for _, id := range members {
		f := s.flow(id)
		first = min(first, f.left/f.rate)
	}
	return first
}

// alike sets the rates where each flow has one of the links with the smallest share for each of its flows: then all
// have that share. It returns false where that is not so.
func (s *sharer) alike(members []int32) bool {
	least := math.Inf(1)
	for _, l := range s.queue {
		least = min(least, s.capacityOf(l)/float64(len(s.on[l])))
	}
	for _, id := range members {
		full := false
		for _, l := range s.linksOf(s.flow(id)) {
			full = full || s.capacityOf(l)/float64(len(s.on[l])) <= least*(1+1e-12)
		}
		if !full {
			return false
		}
	}
	for _, id := range members {
		s.flow(id).rate = least
	}
	return true
}

// capacityOf returns the capacity of a link in bit/ns.
func (s *sharer) capacityOf(l pathmap.LinkID) float64 { return s.network.Capacity[l] / 1e9 }

// fill sets rates by water-filling.
func (s *sharer) fill(members []int32) {
	for len(s.capacity) < len(s.network.Capacity) {
		s.capacity = append(s.capacity, s.capacityOf(pathmap.LinkID(len(s.capacity))))
	}
	s.classes = s.classes[:0]
	for _, id := range members {
		s.classes = append(s.classes, maxmin.Class{Links: s.linksOf(s.flow(id)), Flows: 1})
	}
	if len(s.rates) < len(members) {
		s.rates = make([]float64, len(members))
	}
	s.solver.Solve(s.capacity, s.classes, s.rates[:len(members)])
	for i, id := range members {
		s.flow(id).rate = s.rates[i]
	}
}
