package pathmap

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// graph is the part of a Topology that paths may use, as flat arrays: the nodes that forward and the ends, numbered in
// the order of their NodeIDs. An entry is a position in to and link; the entries of node n are start[n] to start[n+1],
// in the order of n's ports. Cables have two directions, so the graph is symmetric: distances and paths are searched
// from either side. An entry whose link is down leads back to its own node: no search ever takes it, and every other
// entry keeps its number.
type graph struct {
	start []int32
	to    []int32
	link  []LinkID
	leaf  []bool   // hosts among the ends: a path starts or ends there and never passes
	leafy bool     // there are leaves: rows are lower bounds only
	prime []uint32 // by degree: the smallest prime not below it, at least 2
	id    []NodeID // by node of this graph
	multi bool     // some two nodes are joined by parallel links
	least int32    // a link that leads no nearer makes a path longer by so much at least: 2 where all circles are even, else 1
}

func (g *graph) nodes() int { return len(g.start) - 1 }

func (g *graph) degree(n int32) int32 { return g.start[n+1] - g.start[n] }

// newGraph keeps the nodes of t that paths between ends may use.
func newGraph(t *Topology, ends []NodeID, avoid func(NodeID) bool) (*graph, error) {
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
	g := &graph{start: []int32{0}}
	index := make([]int32, len(t.nodes))
	for n := range t.nodes {
		index[n] = None
		host := t.nodes[n].Role == Host
		if !isEnd[n] && (host || avoid != nil && avoid(NodeID(n))) {
			continue
		}
		index[n] = int32(len(g.id))
		g.id = append(g.id, NodeID(n))
		g.leaf, g.leafy = append(g.leaf, host), g.leafy || host
	}
	g.id, g.leaf = slices.Clip(g.id), slices.Clip(g.leaf)
	g.join(t, index)
	if g.least = 1; g.even() {
		g.least = 2
	}
	return g, nil
}

// join adds the links whose two ends are kept, index giving the kept nodes' numbers.
func (g *graph) join(t *Topology, index []int32) {
	links := 0
	for _, n := range g.id {
		for _, l := range t.out[n] {
			if index[t.links[l].To] != None {
				links++
			}
		}
	}
	g.start = append(make([]int32, 0, len(g.id)+1), 0)
	g.to, g.link = make([]int32, 0, links), make([]LinkID, 0, links)
	seen := make([]int32, len(g.id)) // the last node, plus one, that had a link to this one
	most := int32(0)
	for n, id := range g.id {
		for _, l := range t.out[id] {
			to := index[t.links[l].To]
			if to == None {
				continue
			}
			g.multi = g.multi || seen[to] == int32(n)+1
			seen[to] = int32(n) + 1
			g.to, g.link = append(g.to, to), append(g.link, l)
		}
		g.start = append(g.start, int32(len(g.to)))
		most = max(most, g.degree(int32(n)))
	}
	g.prime = primes(most)
}

// even says whether all circles are of an even number of links, so that no two neighbours are as far from any third node.
func (g *graph) even() bool {
	side := make([]int8, g.nodes())
	var queue []int32
	for first := range side {
		if side[first] != 0 {
			continue
		}
		side[first] = 1
		queue = append(queue[:0], int32(first))
		for len(queue) > 0 {
			n := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, to := range g.to[g.start[n]:g.start[n+1]] {
				switch side[to] {
				case side[n]:
					return false
				case 0:
					side[to] = -side[n]
					queue = append(queue, to)
				}
			}
		}
	}
	return true
}

// bytes is the memory that g holds.
func (g *graph) bytes() int64 {
	return int64(4*(cap(g.start)+cap(g.to)+cap(g.link)+cap(g.prime)+cap(g.id)) + cap(g.leaf))
}

// entryBits is the width of an entry's number within its node.
func (g *graph) entryBits() int {
	most := int32(1)
	for n := range g.id {
		most = max(most, g.degree(int32(n)))
	}
	return bits.Len32(uint32(most - 1))
}

// find returns the number of a node in g.
func (g *graph) find(n NodeID) int32 {
	i, _ := slices.BinarySearchFunc(g.id, n, func(a, b NodeID) int { return cmp.Compare(a, b) })
	return int32(i)
}

// entryTo returns the first entry of n that leads to node to. There must be one.
func (g *graph) entryTo(n, to int32) int32 {
	return g.start[n] + int32(slices.Index(g.to[g.start[n]:g.start[n+1]], to))
}

// cut makes the links that are down lead nowhere.
func (g *graph) cut(down func(LinkID) bool) {
	for n := range g.id {
		for e := g.start[n]; e < g.start[n+1]; e++ {
			if down(g.link[e]) || down(Reverse(g.link[e])) {
				g.to[e] = int32(n)
			}
		}
	}
}

// entries returns the entry of each of so many links, None for those that paths never use.
func (g *graph) entries(links int) []int32 {
	entry := make([]int32, links)
	for l := range entry {
		entry[l] = None
	}
	for e, l := range g.link {
		entry[l] = int32(e)
	}
	return entry
}
