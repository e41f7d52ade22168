package ksp

import (
	"math/bits"
	"slices"
)

// Graph is the part of a topology that paths can use, as flat arrays: the nodes that forward and the
// ends, numbered in the order of their ids. An entry is a position in To and Link; the entries of node
// n are Start[n] to Start[n+1], in the order of n's ports. Cables have two directions, links 2c and
// 2c+1, so the graph is symmetric: distances and paths are searched from either side. An entry whose
// link is down leads back to its own node: no search ever takes it, and every other entry keeps its
// number.
type Graph struct {
	Start []int32
	To    []int32
	Link  []int32
	Leaf  []bool   // hosts among the ends: a path starts or ends there and never passes
	Leafy bool     // there are leaves: rows are lower bounds only
	Prime []uint32 // by degree: the smallest prime not below it, at least 2
	id    []int32  // by node of this graph
	multi bool     // some two nodes are joined by parallel links
	// a link that leads no nearer makes a path longer by so much at least: 2 where all circles are even, else 1
	least int32
}

// none is no entry and no node.
const none = -1

// Nodes returns how many nodes there are.
func (g *Graph) Nodes() int { return len(g.Start) - 1 }

// Degree returns how many entries a node has.
func (g *Graph) Degree(n int32) int32 { return g.Start[n+1] - g.Start[n] }

// NewGraph takes a graph's arrays over.
func NewGraph(id []int32, leaf []bool, start, to, link []int32) *Graph {
	g := &Graph{id: id, Leaf: leaf, Start: start, To: to, Link: link,
		Leafy: slices.Contains(leaf, true), least: 1}
	seen := make([]int32, len(id)) // the last node, plus one, that had a link to this one
	most := int32(0)
	for n := range int32(len(id)) {
		for _, to := range to[start[n]:start[n+1]] {
			g.multi = g.multi || seen[to] == n+1
			seen[to] = n + 1
		}
		most = max(most, g.Degree(n))
	}
	g.Prime = primes(most)
	if g.even() {
		g.least = 2
	}
	return g
}

// even reports whether all circles are of an even number of links, so that no two neighbours are as far
// from any third node.
func (g *Graph) even() bool {
	side := make([]int8, g.Nodes())
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
			for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
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
func (g *Graph) bytes() int64 {
	return int64(4*(cap(g.Start)+cap(g.To)+cap(g.Link)+cap(g.Prime)+cap(g.id)) + cap(g.Leaf))
}

// entryBits is the width of an entry's number within its node.
func (g *Graph) entryBits() int {
	most := int32(1)
	for n := range g.id {
		most = max(most, g.Degree(int32(n)))
	}
	return bits.Len32(uint32(most - 1))
}

// Find returns the number of the node with that id.
func (g *Graph) Find(id int32) int32 {
	i, _ := slices.BinarySearch(g.id, id)
	return int32(i)
}

// entryTo returns the first entry of n that leads to node to. There must be one.
func (g *Graph) entryTo(n, to int32) int32 {
	return g.Start[n] + int32(slices.Index(g.To[g.Start[n]:g.Start[n+1]], to))
}

// Cut makes the links that are down lead nowhere.
func (g *Graph) Cut(down func(link int32) bool) {
	for n := range g.id {
		for e := g.Start[n]; e < g.Start[n+1]; e++ {
			if down(g.Link[e]) || down(g.Link[e]^1) {
				g.To[e] = int32(n)
			}
		}
	}
}

// Entries returns the entry of each link, none for links that no path uses; links is their number.
func (g *Graph) Entries(links int) []int32 {
	entry := make([]int32, links)
	for l := range entry {
		entry[l] = none
	}
	for e, l := range g.Link {
		entry[l] = int32(e)
	}
	return entry
}
