package certified

import "math"

// aim is what a search for the cheapest path goes for: a leaf's one link and the switch before it tell
// how much a path still costs at least.
type aim struct {
	from, to, gate int32   // gate is -1 where the end is no leaf, or has several links
	last, rest     float64 // the least from gate, and from any other node
	most           float64
	length         []float64
}

// Cheapest implements Router by Dijkstra's method. It leaves out what cannot lead to a path of less
// than most, or to one as cheap as the best so far. Ties are broken as in search.
func (g *Graph) Cheapest(flow int, length []float64, most float64) ([]int32, float64) {
	for _, n := range g.touch {
		g.forget(n)
	}
	w := g.aim(flow, length, most)
	g.touch, g.heap = append(g.touch[:0], w.from), g.heap[:0]
	g.dist[w.from] = 0
	at := item{node: w.from}
	for more := true; more; at, more = g.closest() {
		// Whatever is reached from here on is not closer than this, nor over fewer links.
		if g.via[w.to] >= 0 && g.dist[w.to] <= at.key && g.hops[w.to] <= at.hops+1 {
			links, sum := g.back(w.from, w.to), 0.0
			for _, l := range links {
				sum += length[l]
			}
			return links, sum
		}
		g.expand(at, w)
	}
	return nil, math.Inf(1)
}

func (g *Graph) aim(flow int, length []float64, most float64) *aim {
	w := &aim{from: g.ends[flow][0], to: g.ends[flow][1], gate: -1, most: most, length: length}
	if !g.leaf[w.to] || len(g.enter[w.to]) != 1 {
		return w
	}
	end := g.arcs[g.enter[w.to][0]]
	w.gate, w.last, w.rest = end.From, length[end.Link], math.Inf(1)
	for _, k := range g.enter[w.gate] {
		if a := g.arcs[k]; a.From != w.to {
			w.rest = min(w.rest, w.last+length[a.Link])
		}
	}
	return w
}

// closest takes the closest node from the heap.
func (g *Graph) closest() (at item, more bool) {
	for len(g.heap) > 0 {
		if at = g.pop(false); at.key == g.dist[at.node] && at.hops == g.hops[at.node] {
			return at, true
		}
	}
	return at, false
}

// expand reaches a node's neighbours.
func (g *Graph) expand(at item, w *aim) {
	for k := g.first[at.node]; k < g.inner[at.node]; k++ {
		a := g.arcs[k]
		ahead := w.rest
		if a.To == w.gate {
			ahead = w.last
		}
		if a.To != w.to {
			g.reach(k, item{at.key + w.length[a.Link], at.hops + 1, a.To}, ahead, w)
		}
	}
	for _, k := range g.enter[w.to] {
		if a := g.arcs[k]; a.From == at.node {
			g.reach(k, item{at.key + w.length[a.Link], at.hops + 1, w.to}, 0, w)
		}
	}
}

// reach notes a way to a node, if it is the best so far and can be part of a path that is wanted.
func (g *Graph) reach(arc int32, x item, ahead float64, w *aim) {
	switch {
	case !(x.key+ahead < w.most) || x.key+ahead > g.dist[w.to] || x.node == w.from:
		return
	case g.via[x.node] < 0:
		g.touch = append(g.touch, x.node)
	case x.key > g.dist[x.node] || x.key == g.dist[x.node] && x.hops >= g.hops[x.node]:
		return
	}
	g.dist[x.node], g.hops[x.node], g.via[x.node] = x.key, x.hops, arc
	g.push(x, false)
}
