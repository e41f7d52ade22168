package flowsim

import "lightloom/southbound"

// manyLinks is from how many links of a fabric on a coflow's loads are found by summing up again instead of by index:
// an index of all links for each coflow would cost more than it saves.
const manyLinks = 1 << 14

// addLoad adds a row that joins the pace (mark above zero) to the loads of its coflow, or takes one out that leaves.
func (f *fluid) addLoad(co *coflow, r *route, mark float64) {
	if co.stale || co.where == nil {
		co.stale = true
		return
	}
	co.sums++
	rows := int32(1)
	if mark < 0 {
		rows = -1
	}
	for _, l := range r.links() {
		i := co.where[l] - 1
		if i < 0 {
			i = int32(len(co.load))
			co.where[l] = i + 1
			co.load = append(co.load, southbound.LinkLoad{Link: l})
		}
		u := &co.load[i]
		u.Base += mark
		if u.Rows += rows; u.Rows == 0 {
			u.Base = 0 // what rounding has left
		}
	}
}

// loads brings up to date what each unit of a coflow's factor puts on each link, in payload bytes.
func (f *fluid) loads(co *coflow) {
	if !co.stale {
		return
	}
	co.stale = false
	co.sums++
	if co.where == nil && len(f.capacity) <= manyLinks {
		co.where = make([]int32, len(f.capacity))
	}
	where := co.where
	if where == nil {
		if f.tmp.where == nil {
			f.tmp.where = make([]int32, len(f.capacity))
		}
		where = f.tmp.where
	}
	for _, u := range co.load {
		where[u.Link] = 0
	}
	co.load = co.load[:0]
	for b := co.first; b < co.end; b++ {
		if f.bundles[b].class == onPace {
			co.load = f.sum(co.load, where, &f.routes[f.bundles[b].route], f.parts[b])
		}
	}
	if co.where == nil {
		for _, u := range co.load {
			where[u.Link] = 0
		}
	}
}

func (f *fluid) sum(load []southbound.LinkLoad, where []int32, r *route, mark float64) []southbound.LinkLoad {
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
