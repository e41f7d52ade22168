package pathmap

import (
	"fmt"
	"slices"

	"lightloom/pathmap/internal/ksp"
)

// graphOf keeps the nodes of t that paths between ends may use.
func graphOf(t *Topology, ends []NodeID, avoid func(NodeID) bool) (*ksp.Graph, error) {
	isEnd := make([]bool, len(t.nodes))
	for _, e := range ends {
		switch {
		case e < 0 || int(e) >= len(t.nodes):
			return nil, fmt.Errorf("end %d is no node: the topology has nodes 0 to %d", e, len(t.nodes)-1)
		case isEnd[e]:
			return nil, fmt.Errorf("end %q is named twice", t.nodes[e].Name)
		case avoid != nil && avoid(e):
			return nil, fmt.Errorf("end %q is to be avoided", t.nodes[e].Name)
		}
		isEnd[e] = true
	}
	var id []int32
	var leaf []bool
	index := make([]int32, len(t.nodes))
	for n := range t.nodes {
		index[n] = None
		host := t.nodes[n].Role == Host
		if !isEnd[n] && (host || avoid != nil && avoid(NodeID(n))) {
			continue
		}
		index[n] = int32(len(id))
		id, leaf = append(id, int32(n)), append(leaf, host)
	}
	start, to, link := join(t, id, index)
	return ksp.NewGraph(slices.Clip(id), slices.Clip(leaf), start, to, link), nil
}

// join returns the entries of links whose two ends are kept, index giving the kept nodes' numbers.
func join(t *Topology, id, index []int32) (start, to, link []int32) {
	links := 0
	for _, n := range id {
		for _, l := range t.out[n] {
			if index[t.links[l].To] != None {
				links++
			}
		}
	}
	start = append(make([]int32, 0, len(id)+1), 0)
	to, link = make([]int32, 0, links), make([]int32, 0, links)
	for _, n := range id {
		for _, l := range t.out[n] {
			if node := index[t.links[l].To]; node != None {
				to, link = append(to, node), append(link, int32(l))
			}
		}
		start = append(start, int32(len(to)))
	}
	return start, to, link
}
