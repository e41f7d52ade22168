package flowsim

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// send starts a leg.
func (x *relay) send(parent, i, j, k int32, n pathmap.Bytes) {
	f := x.fluid
	r := &f.routes[f.hostFlows[parent].route]
	l := x.newLeg()
	g := &x.legs[l]
	g.parent, g.size, g.from, g.over, g.to, g.src, g.dst, g.hop = parent, n, i, j, k, r.src, r.dst, firstHop
	x.begin(l, southbound.TagCircuit)
	for int(parent) >= len(x.owed) {
		x.owed = append(x.owed, 0)
	}
	x.owed[parent]++
	co := &f.coflows[f.hostFlows[parent].coflow]
	co.legs = append(co.legs, l)
	x.racks[i].out = append(x.racks[i].out, l)
	x.racks[j].kept = append(x.racks[j].kept, l)
}

// newLeg returns a leg that is free, with its row.
func (x *relay) newLeg() int32 {
	f := x.fluid
	if n := len(x.idle); n > 0 {
		l := x.idle[n-1]
		x.idle = x.idle[:n-1]
		f.revive(x.legs[l].coflow, 1, f.clock.Now())
		return l
	}
	l := int32(len(x.legs))
	first := f.makeRows(1)
	index := f.append(coflow{id: noCoflow, leg: l + 1, rows: 1, first: first, end: first + 1})
	x.legs = append(x.legs, leg{coflow: index})
	f.revive(index, 1, f.clock.Now())
	return l
}

// noCoflow is the coflow id of the rows of legs, which is unknown outside the package.
const noCoflow southbound.CoflowID = -2

// begin puts a leg on its hop.
func (x *relay) begin(l int32, tag southbound.Tag) {
	f, g := x.fluid, &x.legs[l]
	b := x.row(l)
	p := x.pairOf(g, tag)
	r := f.routeOf(g.coflow, 0, p)
	f.hostFlows[b] = hostFlow{pair: p, size: g.size, coflow: g.coflow, route: r, away: none}
	f.enter(r)
	f.place(b, float64(g.size))
}

// pairOf is the pair of hosts that stands for a leg's hop: one of the rack that keeps it in that rack's
// place.
func (x *relay) pairOf(g *leg, tag southbound.Tag) pair {
	keeper := southbound.HostID(x.sim.fabric.FirstHost[g.over])
	if g.hop == firstHop {
		return pair{g.src, keeper, tag}
	}
	return pair{keeper, g.dst, tag}
}

// route returns the route of a leg's row.
func (x *relay) route(l int32, p pair) int32 {
	f, key := x.fluid, hopOf{p, x.legs[l].hop}
	if i, ok := x.routes[key]; ok {
		return i
	}
	rack := x.sim.fabric.RackOf(int32(p.src))
	up := x.sim.linkBy(x.sim.fabric.ToRNode[rack], southbound.Port(x.sim.fabric.OCSUplink[rack]))
	r := newRoute(p)
	r.hop, r.rate = key.hop, f.capacity[up]
	i := f.addRoute(r)
	x.routes[key] = i
	return i
}

// trim removes the host that represents a rack from a walk, and refuses a walk that does not use a circuit.
func (x *relay) trim(r *route, links []pathmap.LinkID, first int) ([]pathmap.LinkID, fate) {
	f := x.sim.fabric
	if n := len(links) - first; n != 4 || f.Topology.Link(links[first+1]).To != f.OCSNode {
		return links[:first], stranded
	}
	if r.hop == lastHop {
		copy(links[first:], links[first+1:])
	}
	return links[:len(links)-1], arrives
}

// keeps records that the last byte of a row has come. It returns true if no event is due yet: the row
// is a leg, or legs of it are still under way.
func (x *relay) keeps(b int32) bool {
	if l := x.fluid.coflows[x.fluid.hostFlows[b].coflow].leg; l != 0 {
		x.landed = append(x.landed, l-1)
		return true
	}
	return x.owes(b)
}

func (x *relay) owes(b int32) bool { return int(b) < len(x.owed) && x.owed[b] > 0 }

// land ends a hop: what has come to a rack is kept until its circuit leads on, which is never in the
// same slot, and what has come to its host was a part of a host flow.
func (x *relay) land(l int32) {
	g := &x.legs[l]
	if g.hop == firstHop {
		x.racks[g.from].out = without(x.racks[g.from].out, l)
		g.hop = lastHop
		x.begin(l, southbound.TagHold)
		if x.racks[g.over].to == g.to { // it may last longer than its slot
			x.fluid.clock.At(x.slotEnd(), event{kind: relaySlot, index: g.over})
		}
		return
	}
	x.over(l)
	if x.delivered(g.parent) {
		x.fluid.report(g.parent)
	}
}

// delivered reports whether a host flow has nothing left, itself or under way.
func (x *relay) delivered(b int32) bool { return x.fluid.hostFlows[b].class == gone && x.owed[b] == 0 }

// forsake gives up the legs of host flows from a host that is lost, or to it, without a word.
func (x *relay) forsake(h southbound.HostID) {
	x.step()
	f := x.fluid
	for l := range int32(len(x.legs)) {
		g := &x.legs[l]
		if g.hop == whole || g.src != h && g.dst != h {
			continue
		}
		b := x.row(l)
		f.account(b)
		f.pull(b)
		f.hostFlows[b].class = gone
		f.exit(f.hostFlows[b].route)
		x.over(l)
		if x.delivered(g.parent) {
			f.lessLive(g.parent)
		}
	}
}

// addKept adds to what is left of a coflow's rows what is under way of them.
func (x *relay) addKept(co *coflow) {
	for _, l := range co.legs {
		row := x.legs[l].parent
		co.lefts[row-co.first] = x.fluid.leftOf(row)
	}
	for _, l := range co.legs {
		co.lefts[x.legs[l].parent-co.first] += x.stillToCome(l)
	}
}

func without(list []int32, x int32) []int32 {
	if i := slices.Index(list, x); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// over takes a leg whose row has ended out of everything.
func (x *relay) over(l int32) {
	f, g := x.fluid, &x.legs[l]
	if g.hop == firstHop {
		x.racks[g.from].out = without(x.racks[g.from].out, l)
	}
	x.racks[g.over].kept = without(x.racks[g.over].kept, l)
	co := &f.coflows[f.hostFlows[g.parent].coflow]
	co.legs = without(co.legs, l)
	if co.lefts != nil {
		co.lefts[g.parent-co.first] = f.leftOf(g.parent)
	}
	x.owed[g.parent]--
	g.hop = whole
	f.unlive(g.coflow)
	x.idle = append(x.idle, l)
}
