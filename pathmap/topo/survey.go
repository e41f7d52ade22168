package topo

import (
	"lightloom/pathmap"
)

// Survey is what one wants to know of a topology at a glance.
type Survey struct {
	Nodes, Hosts, ToRs, Switches, OCS int
	Cables                            int
	Parallel                          int // cables beside another one between the same two nodes
	LeastDegree, MostDegree           int // cables of a node that is no host
	Slowest, Fastest                  pathmap.BitsPerSecond
	Parts                             int              // of the packet network, hosts and all: 1 if it is connected
	Apart                             []pathmap.NodeID // the first node of each part, by NodeID, the largest part left out
	Alone                             []pathmap.NodeID // nodes without any cable
}

// NewSurvey surveys t. Circuits do not connect parts: an OCS is none of the packet network.
func NewSurvey(t *pathmap.Topology) Survey {
	s := Survey{Nodes: len(t.Nodes()), Cables: len(t.Links()) / 2, LeastDegree: -1}
	seen := map[[2]pathmap.NodeID]bool{}
	for i, l := range t.Links() {
		if s.Slowest == 0 || l.Capacity < s.Slowest {
			s.Slowest = l.Capacity
		}
		s.Fastest = max(s.Fastest, l.Capacity)
		if i%2 == 0 {
			pair := [2]pathmap.NodeID{min(l.From, l.To), max(l.From, l.To)}
			if seen[pair] {
				s.Parallel++
			}
			seen[pair] = true
		}
	}
	for n, node := range t.Nodes() {
		degree := len(t.Out(pathmap.NodeID(n)))
		if degree == 0 {
			s.Alone = append(s.Alone, pathmap.NodeID(n))
		}
		switch node.Role {
		case pathmap.Host:
			s.Hosts++
			continue
		case pathmap.ToR:
			s.ToRs++
		case pathmap.Switch:
			s.Switches++
		case pathmap.OCS:
			s.OCS++
		}
		if s.LeastDegree < 0 || degree < s.LeastDegree {
			s.LeastDegree = degree
		}
		s.MostDegree = max(s.MostDegree, degree)
	}
	s.LeastDegree = max(s.LeastDegree, 0)
	s.parts(t)
	return s
}

// parts finds the connected parts: of each two nodes in one, a path joins them. Hosts forward nothing:
// one that joins two switches does not connect them. Hosts without a switch are of one part where each
// has a cable to each other.
func (s *Survey) parts(t *pathmap.Topology) {
	part := make([]int, len(t.Nodes()))
	var first []pathmap.NodeID
	var size []int
	join := func(n pathmap.NodeID) {
		part[n] = len(first)
		size[len(first)-1]++
	}
	for n, node := range t.Nodes() {
		if part[n] == 0 && node.Role != pathmap.OCS && node.Role != pathmap.Host {
			first, size = append(first, pathmap.NodeID(n)), append(size, 0)
			reach(t, pathmap.NodeID(n), func(n pathmap.NodeID) bool { return part[n] != 0 }, join)
		}
	}
	for n, node := range t.Nodes() {
		if part[n] == 0 && node.Role == pathmap.Host {
			first, size = append(first, pathmap.NodeID(n)), append(size, 0)
			clique(t, pathmap.NodeID(n), func(n pathmap.NodeID) bool { return part[n] != 0 }, join)
		}
	}
	largest := 0
	for i := range size {
		if size[i] > size[largest] {
			largest = i
		}
	}
	s.Parts = len(first)
	for i, n := range first {
		if i != largest {
			s.Apart = append(s.Apart, n)
		}
	}
}

// reach joins all nodes that a switch reaches.
func reach(t *pathmap.Topology, from pathmap.NodeID, joined func(pathmap.NodeID) bool,
	join func(pathmap.NodeID)) {
	join(from)
	for queue := []pathmap.NodeID{from}; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		for _, l := range t.Out(at) {
			to := t.Link(l).To
			if joined(to) || t.Node(to).Role == pathmap.OCS {
				continue
			}
			if join(to); t.Node(to).Role != pathmap.Host {
				queue = append(queue, to)
			}
		}
	}
}

// clique joins hosts that are cabled each to each.
func clique(t *pathmap.Topology, from pathmap.NodeID, joined func(pathmap.NodeID) bool,
	join func(pathmap.NodeID)) {
	join(from)
	members := map[pathmap.NodeID]bool{from: true}
	for _, l := range t.Out(from) {
		to := t.Link(l).To
		if joined(to) || t.Node(to).Role != pathmap.Host {
			continue
		}
		near := map[pathmap.NodeID]bool{}
		for _, l := range t.Out(to) {
			if m := t.Link(l).To; members[m] {
				near[m] = true
			}
		}
		if len(near) == len(members) {
			members[to] = true
			join(to)
		}
	}
}
