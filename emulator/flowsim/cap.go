package flowsim

import (
	"lightloom/pathmap"
)

// ceiling bounds what one bundle sends: a source that makes no more. Whoever shares finds it as a link that only this bundle
// goes over, its door, behind those of the fabric.
type ceiling struct {
	rate float64 // bits a second at layer 2; 0: none
	door pathmap.LinkID
}

// takeCaps gives a new coflow's rows their caps.
func (f *fluid) takeCaps(index int32, rates []pathmap.BitsPerSecond) {
	if rates == nil {
		return
	}
	caps := make([]ceiling, len(rates))
	for i, r := range rates {
		if r > 0 {
			caps[i] = ceiling{float64(r), f.makeDoor(float64(r))}
		}
	}
	f.coflows[index].caps = caps
	if f.levels != nil {
		f.disband() // levels know as many links as there were
		f.disturb()
	}
}

// makeDoor returns a door of a capacity.
func (f *fluid) makeDoor(capacity float64) pathmap.LinkID {
	if n := len(f.doors); n > 0 {
		door := f.doors[n-1]
		f.doors = f.doors[:n-1]
		f.capacity[door] = capacity
		return door
	}
	f.capacity = append(f.capacity, capacity)
	f.tmp.load = append(f.tmp.load, 0)
	return pathmap.LinkID(len(f.capacity) - 1)
}

// dropCaps lets the doors of a coflow that is over be others'.
func (f *fluid) dropCaps(co *coflow) {
	for _, c := range co.caps {
		if c.rate > 0 {
			f.doors = append(f.doors, c.door)
		}
	}
	co.caps = nil
}

// routeOf returns the route of a row: that of its pair, or where it has a cap, one of its own. A leg's are others.
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
	f.routes = append(f.routes, r)
	return int32(len(f.routes) - 1)
}

// wishOf returns what its coflow's pace or spread asks for a bundle, in bits a second: no end of it where the pace has
// passed.
func (f *fluid) wishOf(co *coflow, b int32, left float64) float64 {
	extra := co.extraOf(b - co.first)
	switch {
	case co.kind == spread:
		return co.spreadOf(&f.routes[f.bundles[b].route].pair) + extra
	case co.until > 0 && co.until <= f.clock.Now():
		return unbounded
	}
	return f.paceOf(co, left) + extra
}
