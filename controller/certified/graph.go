package certified

import (
	"cmp"
	"math"
	"slices"
)

// Arc is one direction of a connection. Two arcs of one link share its capacity: the documents' networks are
// undirected.
type Arc struct{ From, To, Link int32 }

// Graph is a Router over all paths between the ends of flows. Nodes with one neighbour are passed only
// by flows that begin or end there, so hosts cost nothing. It is not safe for use by several goroutines
// at once.
type Graph struct {
	*shape
	ends [][2]int32 // by flow

	dist  []float64
	hops  []int32
	via   []int32 // by node: the arc that leads to it, -1
	heap  []item
	touch []int32 // nodes that the last search reached
}

// shape is what never changes of a graph.
type shape struct {
	first []int32   // by node: its arcs' begin in arcs
	inner []int32   // by node: where its arcs to leaves begin
	enter [][]int32 // by node: the arcs that lead to it
	arcs  []Arc
	leaf  []bool
}

type item struct {
	key  float64
	hops int32
	node int32
}

// NewGraph returns the router of a graph of that many nodes for flows between the given ends.
func NewGraph(nodes int, arcs []Arc, ends [][2]int32) *Graph {
	g := &shape{first: make([]int32, nodes+1), inner: make([]int32, nodes), enter: make([][]int32, nodes),
		arcs: slices.Clone(arcs), leaf: make([]bool, nodes)}
	for _, a := range g.arcs {
		g.first[a.From+1]++
	}
	for n := range nodes {
		g.leaf[n] = g.first[n+1] < 2
		g.first[n+1] += g.first[n]
	}
	place := func(a Arc) int32 { // arcs of a node together, those to leaves last
		if g.leaf[a.To] {
			return 2*a.From + 1
		}
		return 2 * a.From
	}
	slices.SortStableFunc(g.arcs, func(a, b Arc) int { return cmp.Compare(place(a), place(b)) })
	copy(g.inner, g.first)
	for k, a := range g.arcs {
		if g.enter[a.To] = append(g.enter[a.To], int32(k)); !g.leaf[a.To] {
			g.inner[a.From]++
		}
	}
	return (&Graph{shape: g}).Between(ends)
}

// Between returns a router of the same graph for other flows. Both can be used by turns.
func (g *Graph) Between(ends [][2]int32) *Graph {
	nodes := len(g.leaf)
	x := &Graph{shape: g.shape, ends: ends, dist: make([]float64, nodes), hops: make([]int32, nodes),
		via: make([]int32, nodes)}
	for n := range x.via {
		x.forget(int32(n))
	}
	return x
}

func (g *Graph) forget(n int32) { g.dist[n], g.hops[n], g.via[n] = math.Inf(1), 0, -1 }

// search is Dijkstra's method with any key that does not fall along a path: step returns an arc's key
// after that of its beginning, +Inf where it cannot be taken. Ties go to fewer links, then to the
// smaller node.
func (g *Graph) search(from, to int32, step func(key float64, link int32) float64, byHops bool) []int32 {
	for _, n := range g.touch {
		g.forget(n)
	}
	g.touch, g.heap = append(g.touch[:0], from), g.heap[:0]
	g.dist[from] = math.Inf(-1)
	g.push(item{key: math.Inf(-1), node: from}, byHops)
	for len(g.heap) > 0 {
		at := g.pop(byHops)
		if at.key != g.dist[at.node] || at.hops != g.hops[at.node] {
			continue
		}
		if at.node == to {
			return g.back(from, to)
		}
		take := func(k int32) {
			a := g.arcs[k]
			key := step(at.key, a.Link)
			next := item{key, at.hops + 1, a.To}
			if math.IsInf(key, 1) || g.via[a.To] >= 0 &&
				!before(next, item{g.dist[a.To], g.hops[a.To], a.To}, byHops) ||
				a.To == from {
				return
			}
			if g.via[a.To] < 0 {
				g.touch = append(g.touch, a.To)
			}
			g.dist[a.To], g.hops[a.To], g.via[a.To] = key, next.hops, k
			g.push(next, byHops)
		}
		for k := g.first[at.node]; k < g.inner[at.node]; k++ {
			take(k)
		}
		if g.leaf[to] {
			for _, k := range g.enter[to] {
				if g.arcs[k].From == at.node {
					take(k)
				}
			}
		}
	}
	return nil
}

func before(a, b item, byHops bool) bool {
	switch {
	case byHops && a.hops != b.hops:
		return a.hops < b.hops
	case a.key != b.key:
		return a.key < b.key
	case a.hops != b.hops:
		return a.hops < b.hops
	}
	return a.node < b.node
}

func (g *Graph) back(from, to int32) []int32 {
	var links []int32
	for n := to; n != from; n = g.arcs[g.via[n]].From {
		links = append(links, g.arcs[g.via[n]].Link)
	}
	slices.Reverse(links)
	return links
}

// push and pop are a binary heap by before.
func (g *Graph) push(x item, byHops bool) {
	g.heap = append(g.heap, x)
	for i := len(g.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !before(g.heap[i], g.heap[up], byHops) {
			return
		}
		g.heap[i], g.heap[up] = g.heap[up], g.heap[i]
		i = up
	}
}

func (g *Graph) pop(byHops bool) item {
	x, n := g.heap[0], len(g.heap)-1
	g.heap[0] = g.heap[n]
	g.heap = g.heap[:n]
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k < min(2*i+3, n); k++ {
			if before(g.heap[k], g.heap[least], byHops) {
				least = k
			}
		}
		if least == i {
			return x
		}
		g.heap[i], g.heap[least] = g.heap[least], g.heap[i]
		i = least
	}
}

// narrow is a search key: the narrowest link so far, negated.
func narrow(width []float64) func(float64, int32) float64 {
	return func(key float64, link int32) float64 {
		if width[link] <= 0 {
			return math.Inf(1)
		}
		return max(key, -width[link])
	}
}

// Widest implements Router: it finds the width, and then the shortest path of links at least as wide.
func (g *Graph) Widest(flow int, width []float64) []int32 {
	from, to := g.ends[flow][0], g.ends[flow][1]
	links := g.search(from, to, narrow(width), false)
	if links == nil {
		return nil
	}
	least := narrowest(links, width)
	return g.search(from, to, func(key float64, link int32) float64 {
		if width[link] < least {
			return math.Inf(1)
		}
		return max(key, 0)
	}, true)
}

// Shortest implements Router.
func (g *Graph) Shortest(flow int, width []float64) []int32 {
	return g.search(g.ends[flow][0], g.ends[flow][1], narrow(width), true)
}
