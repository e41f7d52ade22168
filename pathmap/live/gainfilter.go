package live

import (
	"lightloom/pathmap/internal/ksp"
)

// A gainFilter returns which pairs can gain a path when cables come back: those with a path over one of them
// that ranks before the k-th. It never misses such a pair.
type gainFilter struct {
	cables []int32
	entry  []int32    // by link
	ends   [2]int32   // u and v, the nodes of a single cable; of several, the node that they share, twice
	from   [][2]int32 // by node: distance from u and from v, the cables being back
	extra  int32      // the cable itself, where there is a single one
}

// gainFilter returns the filter of cables, one or some of one node, in graph g.
func (v *Paths) gainFilter(g *ksp.Graph, cables []int32) *gainFilter {
	x, y := v.nodes(cables[0])
	if len(cables) > 1 {
		if a, b := v.nodes(cables[1]); x != a && x != b {
			x = y
		}
		return newGainFilter(g, &gainFilter{cables: cables, entry: v.entry, ends: [2]int32{x, x}})
	}
	return newGainFilter(g, &gainFilter{cables: cables, entry: v.entry, ends: [2]int32{x, y}, extra: 1})
}

// newGainFilter measures the path to the ends of a filter.
func newGainFilter(g *ksp.Graph, t *gainFilter) *gainFilter {
	u, v := levels(g, t.ends[0]), levels(g, t.ends[1])
	t.from = make([][2]int32, len(u))
	for n := range u {
		t.from[n] = [2]int32{u[n], v[n]}
	}
	return t
}

// length returns the least that a path between two nodes over the cables can have; far and more where
// there is none.
func (t *gainFilter) length(a, b int32) int32 {
	from, to := t.from[a], t.from[b]
	return min(from[0]+to[1], from[1]+to[0]) + t.extra
}

// within returns the pairs, ascending, between which a path over the cables can be as short as their
// last, or can be at all where any counts. Nodes are given by rank.
func (t *gainFilter) within(node []int32, last []uint16) []uint32 {
	near := make([][2]int32, len(node)) // by rank: distance from u and from v
	for r, n := range node {
		near[r] = t.from[n]
	}
	var pairs []uint32
	for b := range node {
		du, dv := near[b][0]+t.extra, near[b][1]+t.extra
		begin := ksp.PairOf(0, int32(b))
		for a, last := range last[begin : begin+uint32(b)] { // all below far, as is open
			if min(near[a][0]+dv, near[a][1]+du) <= int32(last) {
				pairs = append(pairs, begin+uint32(a))
			}
		}
	}
	return pairs
}

// uses reports whether one of the paths, given as entries, takes a cable that is back.
func (t *gainFilter) uses(via []int32) bool {
	for _, e := range via {
		for _, c := range t.cables {
			if e == t.entry[2*c] || e == t.entry[2*c+1] {
				return true
			}
		}
	}
	return false
}

// admits decides a tie: whether a path over the cables that is exactly as long as the last of the
// pair's paths, and cannot be shorter, may rank before it. Such a path goes to u (or v) the shortest
// path. Where it first differs from the last path, both have come to the same node, and it takes an
// entry that leads nearer to u and ranks before the other's. Mostly that is the pair's first node, and
// the other's entry there is known without reading the path.
func (t *gainFilter) admits(w *renewer, s, target int32) bool {
	a, b, n := w.Table.Node[s], w.Table.Node[target], ksp.PairOf(s, target)
	length, first := int32(w.users.last[n]), int32(w.users.first[n])
	o := w.Table.Order(s, target)
	for end := range t.ends {
		if t.from[a][end]+t.from[b][1-end]+t.extra != length {
			continue
		}
		earlier, same := false, true
		if first != open {
			earlier, same = t.parts(w, o, 0, a, w.Table.Graph.Start[a]+first, end)
		}
		if earlier || same && t.before(w, o, a, w.last(s, target), end) {
			return true
		}
	}
	return false
}

// before reports whether some shortest path from a node to one of the ends leaves the path last by an
// entry that ranks before last's.
func (t *gainFilter) before(w *renewer, o ksp.Order, node int32, last []int32, end int) bool {
	for depth, e := range last {
		if earlier, same := t.parts(w, o, depth, node, e, end); earlier || !same {
			return earlier
		}
		node = w.Table.Graph.To[e]
	}
	return false
}

// parts reports whether some shortest path to one of the ends leaves a path at a node by an entry that
// ranks before the path's there, e; and whether e is on such a path too, so that they may part later.
func (t *gainFilter) parts(w *renewer, o ksp.Order, depth int, node, e int32, end int) (earlier, same bool) {
	if node == t.ends[end] && t.extra == 0 {
		return true, false
	}
	g := w.Table.Graph
	p := g.Prime[g.Degree(node)]
	first, stride := o.At(depth, p)
	inv := w.Inverse[g.Degree(node)][stride]
	mine := ksp.RankOf(e-g.Start[node], first, inv, p)
	for f := g.Start[node]; f < g.Start[node+1]; f++ {
		nearer := t.from[g.To[f]][end] == t.from[node][end]-1
		if node == t.ends[end] {
			nearer = f == t.entry[2*t.cables[0]] || f == t.entry[2*t.cables[0]+1]
		}
		if nearer && ksp.RankOf(f-g.Start[node], first, inv, p) < mine {
			return true, false
		}
	}
	return false, t.from[g.To[e]][end] == t.from[node][end]-1
}
