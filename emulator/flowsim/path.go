package flowsim

import (
	"slices"

	"lightloom/pathmap"
)

// The path of a route is kept within it: on a fabric of circuits most routes are met once in a long
// while, and each place in memory that must be found by way of another is waited for.

// many says in place of a number that what it counts is in the route's spill.
const many = 255

// spill is what a route has no places for: few fabrics have such long paths.
type spill struct {
	links         []pathmap.LinkID
	asked, listed []pathmap.NodeID
}

func (r *route) spilt() *spill {
	if r.spill == nil {
		r.spill = new(spill)
	}
	return r.spill
}

// links returns where a route leads. Borrowed until it is led elsewhere.
func (r *route) links() []pathmap.LinkID {
	if r.hops == many {
		return r.spill.links
	}
	return r.near[:r.hops]
}

// lead keeps the links of a route.
func (r *route) lead(links []pathmap.LinkID) {
	if len(links) > len(r.near) {
		s := r.spilt()
		s.links, r.hops = append(s.links[:0], links...), many
		return
	}
	r.hops = uint8(copy(r.near[:], links))
}

// asked returns whose tables say where a route leads. Borrowed until the route is walked again.
func (r *route) asked() []pathmap.NodeID {
	if r.asks == many {
		return r.spill.asked
	}
	return r.few[:r.asks]
}

// ask keeps the switches that decided the path.
func (r *route) ask(nodes []pathmap.NodeID) {
	if len(nodes) > len(r.few) {
		s := r.spilt()
		s.asked, r.asks = append(s.asked[:0], nodes...), many
		return
	}
	r.asks = uint8(copy(r.few[:], nodes))
}

// enlist notes in whose list of routeTable.watch a route is, and reports whether it was not there: all
// those asked, as long as it has host flows.
func (r *route) enlist(n pathmap.NodeID) bool {
	if slices.Contains(r.listed[:r.lists], n) || r.spill != nil && slices.Contains(r.spill.listed, n) {
		return false
	}
	if int(r.lists) < len(r.listed) {
		r.listed[r.lists] = n
		r.lists++
		return true
	}
	s := r.spilt()
	s.listed = append(s.listed, n)
	return true
}

// delist records that a route has been taken out of a list that it was in.
func (r *route) delist(n pathmap.NodeID) {
	if i := slices.Index(r.listed[:r.lists], n); i >= 0 {
		r.lists--
		r.listed[i] = r.listed[r.lists]
		return
	}
	s := r.spill
	i, last := slices.Index(s.listed, n), len(s.listed)-1
	s.listed[i] = s.listed[last]
	s.listed = s.listed[:last]
}
