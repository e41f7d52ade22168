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

// parts finds the connected parts. Hosts forward nothing: one that joins two switches does not connect them.
func (s *Survey) parts(t *pathmap.Topology) {
	part := make([]int, len(t.Nodes()))
	var first []pathmap.NodeID
	var size []int
	var queue []pathmap.NodeID
	visit := func(n pathmap.NodeID) {
		part[n] = len(first)
		size[len(first)-1]++
		queue = append(queue, n)
	}
	begin := func(n pathmap.NodeID) {
		first, size = append(first, n), append(size, 0)
		for visit(n); len(queue) > 0; {
			at := queue[0]
			queue = queue[1:]
			for _, l := range t.Out(at) {
				if to := t.Link(l).To; part[to] == 0 && t.Node(to).Role != pathmap.OCS && t.Node(at).Role != pathmap.Host {
					visit(to)
				}
			}
		}
	}
	for _, host := range []bool{false, true} { // switches first, so that a host is found as part of theirs
		for n, node := range t.Nodes() {
			if part[n] == 0 && node.Role != pathmap.OCS && (node.Role == pathmap.Host) == host {
				begin(pathmap.NodeID(n))
			}
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
