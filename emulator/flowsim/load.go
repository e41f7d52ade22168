package flowsim

import "lightloom/southbound"

// manyLinks is from how many links of a fabric on a coflow's loads are found by summing up again instead of by index:
// an index of all links for each coflow would cost more than it saves.
const manyLinks = 1 << 14

// linkLoads is what the rows on a coflow's pace put on links.
type linkLoads struct {
	load  []southbound.LinkLoad // per unit of factor
	where []int32               // by link: its place in load, and one; nil on fabrics of many links
	stale bool                  // load is to be summed up again
	sums  uint64                // version of load
}

// addLoad adds a row that joins the pace (mark above zero) to the loads, or takes one out that leaves.
func (ll *linkLoads) addLoad(r *route, mark float64) {
	if ll.stale || ll.where == nil {
		ll.stale = true
		return
	}
	ll.sums++
	rows := int32(1)
	if mark < 0 {
		rows = -1
	}
	for _, l := range r.links() {
		i := ll.where[l] - 1
		if i < 0 {
			i = int32(len(ll.load))
			ll.where[l] = i + 1
			ll.load = append(ll.load, southbound.LinkLoad{Link: l})
		}
		u := &ll.load[i]
		u.Base += mark
		if u.Rows += rows; u.Rows == 0 {
			u.Base = 0 // what rounding has left
		}
	}
}

// loads brings up to date what each unit of a coflow's factor puts on each link, in payload bytes.
func (ps *paces) loads(co *coflow) {
	if !co.stale {
		return
	}
	co.stale = false
	co.sums++
	if co.where == nil && len(ps.capacity) <= manyLinks {
		co.where = make([]int32, len(ps.capacity))
	}
	where := co.where
	if where == nil {
		if ps.where == nil {
			ps.where = make([]int32, len(ps.capacity))
		}
		where = ps.where
	}
	for _, u := range co.load {
		where[u.Link] = 0
	}
	co.load = co.load[:0]
	for b := co.first; b < co.end; b++ {
		if ps.hostFlows[b].class == onPace {
			co.load = sum(co.load, where, &ps.routes[ps.hostFlows[b].route], ps.parts[b])
		}
	}
	if co.where == nil {
		for _, u := range co.load {
			where[u.Link] = 0
		}
	}
}

func sum(load []southbound.LinkLoad, where []int32, r *route, mark float64) []southbound.LinkLoad {
	for _, l := range r.links() {
		if where[l] == 0 {
			load = append(load, southbound.LinkLoad{Link: l})
			where[l] = int32(len(load))
		}
		u := &load[where[l]-1]
		u.Base += mark
		u.Rows++
	}
	return load
}
