package rollout

import (
	"math"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// unreached is the distance of what has no way.
const unreached = math.MaxInt16

// distances are hops to one rack's ToR over packet switches, by node.
type distances struct {
	up  []int16 // over links that are up
	all []int16 // over any links; at a node without a path over links that are up, packets follow these, up to the fault
}

// measure finds the distances of every switch from every rack.
func (b *Base) measure() {
	b.far = make([]distances, b.fabric.Racks)
	none := func(pathmap.LinkID) bool { return false }
	var queue []pathmap.NodeID
	for d := range b.far {
		b.far[d].up, queue = b.spread(b.fabric.ToRNode[d], b.down, queue)
		b.far[d].all = b.far[d].up
		if slices.Contains(b.far[d].up, unreached) {
			b.far[d].all, queue = b.spread(b.fabric.ToRNode[d], none, queue)
		}
	}
}

// spread is a breadth-first search from a ToR against the direction of packets. It passes other ToRs
// only if the fabric allows transit.
func (b *Base) spread(to pathmap.NodeID, down func(pathmap.LinkID) bool, queue []pathmap.NodeID) ([]int16,
	[]pathmap.NodeID) {
	t := b.fabric.Topology
	dist := slices.Repeat([]int16{unreached}, len(t.Nodes()))
	dist[to] = 0
	queue = append(queue[:0], to)
	for head := 0; head < len(queue); head++ {
		at := queue[head]
		if at != to && !b.passes(at) {
			continue
		}
		for _, l := range t.Out(at) {
			next := t.Link(l).To
			if role := t.Node(next).Role; dist[next] == unreached && !down(pathmap.Reverse(l)) &&
				(role == pathmap.Switch || role == pathmap.ToR) {
				dist[next] = dist[at] + 1
				queue = append(queue, next)
			}
		}
	}
	return dist, queue
}

// passes reports whether packets that are on no path may go through a switch.
func (b *Base) passes(n pathmap.NodeID) bool {
	role := b.fabric.Topology.Node(n).Role
	return role == pathmap.Switch || role == pathmap.ToR && b.fabric.Transit
}

// behind returns the distance from a rack of the switch that a link leads to, if a packet can be sent
// there, or unreached.
func (b *Base) behind(l pathmap.LinkID, d southbound.RackID) int16 {
	to := b.fabric.Topology.Link(l).To
	if to != b.fabric.ToRNode[d] && !b.passes(to) || b.down(l) {
		return unreached
	}
	return b.far[d].up[to]
}

// descend returns the lowest port of a switch that leads one hop closer to a rack, over links that are
// up if there is such a way; NoPort if there is none at all.
func (b *Base) descend(n pathmap.NodeID, d southbound.RackID) southbound.Port {
	t := b.fabric.Topology
	dist, down := b.far[d].up, b.down
	if dist[n] == unreached {
		dist, down = b.far[d].all, func(pathmap.LinkID) bool { return false }
	}
	if dist[n] == unreached {
		return southbound.NoPort
	}
	for _, l := range t.Out(n) {
		to := t.Link(l).To
		if dist[to] == dist[n]-1 && !down(l) && (to == b.fabric.ToRNode[d] || b.passes(to)) {
			return southbound.Port(t.Link(l).FromPort)
		}
	}
	return southbound.NoPort
}
