package flowsim

import (
	"lightloom/pathmap"
)

// ceiling bounds the rate of one host flow, whose source produces no more. Rate sharing sees it as a
// link that only this host flow uses, its door, numbered after those of the fabric.
type ceiling struct {
	rate float64 // bits a second at layer 2; 0: none
	door pathmap.LinkID
}

// takeCaps gives a new coflow's rows their caps.
func (f *fluid) takeCaps(index int32, rates []pathmap.BitsPerSecond) {
	if len(rates) == 0 {
		return
	}
	caps := make([]ceiling, len(rates))
	for i, r := range rates {
		if r > 0 {
			caps[i] = ceiling{float64(r), f.makeDoor(float64(r))}
		}
	}
	f.coflows[index].caps = caps
	f.classes.noting = false
	if f.levels.solver != nil {
		f.levels.disband() // they know as many links as there were
		f.disturb()
	}
}

// routeOf returns the route of a row: that of its pair, or where it has a cap, one of its own. A leg's
// are others.
func (f *fluid) routeOf(coflow, row int32, p pair) int32 {
	if l := f.coflows[coflow].leg; l != 0 {
		return f.relay.route(l-1, p)
	}
	plain := f.route(p)
	caps := f.coflows[coflow].caps
	if caps == nil || caps[row].rate == 0 {
		return plain
	}
	r := newRoute(p)
	r.capped, r.door, r.plain = true, caps[row].door, plain
	return f.addRoute(r)
}

// wishOf returns the rate that a host flow's pace or spread requests, in b/s: infinite if the pace has
// passed.
func (f *fluid) wishOf(co *coflow, b int32, left float64) float64 {
	extra := co.extraOf(b - co.first)
	switch {
	case co.kind == spread:
		return co.spreadOf(&f.routes[f.hostFlows[b].route].pair) + extra
	case co.until > 0 && co.until <= f.clock.Now():
		return unbounded
	}
	return f.paces.rateOf(co, left) + extra
}
