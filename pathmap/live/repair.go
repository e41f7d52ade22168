package live

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/internal/ksp"
)

// far is the distance of nodes that no path joins. Sums of a few do not overflow.
const far = 1 << 28

// lose takes cables out of the map. Pairs that do not use them keep their paths: the first k of fewer
// paths, in an order that down links do not change.
func (v *Paths) lose(cables []int32) []pathmap.Pair {
	next := v.next(cables, true)
	sides := make([][2]int32, len(cables))
	for i, c := range cables {
		sides[i][0], sides[i][1] = v.nodes(c)
	}
	stale := func(t int) bool { return strands(next.Graph, v.m.Dist[t], sides) }
	v.refill(next, stale, func(d *drift, t int, r ksp.Row) bool {
		if len(cables) > 1 {
			return false
		}
		x, y := sides[0][0], sides[0][1]
		if ksp.Detour(r.Code(x), r.Code(y)) != 0 {
			x = y
		}
		return d.sink(r, next.Graph, x)
	})
	if v.users == nil {
		v.m = next
		return nil
	}
	var pairs []uint32
	for _, c := range cables {
		pairs = v.users.append(pairs, c)
		v.users.clear(c)
	}
	if len(cables) > 1 {
		slices.Sort(pairs)
		pairs = slices.Compact(pairs)
	}
	return v.touch(next, pairs, nil)
}

// gain brings cables back into the map: one, or some of one node. A pair is looked at if a path over
// one of them could be as short as its k-th, d(s,u) + 1 + d(v,t) ≤ length. Settle looks closer: equal
// ones rank by the order of ties, and a pair's paths have changed if one of the new ones uses such a
// cable.
func (v *Paths) gain(cables []int32) []pathmap.Pair {
	next := v.next(cables, false)
	apart := v.distanceChanges(cables)
	v.refill(next, apart.stale, func(d *drift, t int, r ksp.Row) bool {
		x, y := v.nodes(cables[0])
		switch by := apart.by[t]; {
		case len(cables) > 1 || max(by, -by) >= far/2:
			return false
		case by > 0:
			return d.rise(r, next.Graph, x, y, by-1)
		default:
			return d.rise(r, next.Graph, y, x, -by-1)
		}
	})
	if v.users == nil {
		v.m = next
		return nil
	}
	t := v.gainFilter(next.Graph, cables)
	pairs := t.within(next.Node, v.users.last)
	return v.touch(next, pairs, t)
}

// touch makes next the map, in which pairs, ascending, are searched for until Settle has packed them again.
func (v *Paths) touch(next *ksp.Table, pairs []uint32, back *gainFilter) []pathmap.Pair {
	v.settled, v.m, v.pending, v.returning = v.m, next, pairs, back
	if len(pairs) > 0 {
		ends := len(next.Node)
		next.Stale = make([]uint64, (ends*(ends-1)/2+63)/64)
		for _, n := range pairs {
			next.Stale[n>>6] |= 1 << (n & 63)
		}
	}
	return v.pairs(pairs)
}

// next returns a copy of the map whose graph has the cables cut or joined; what repairs write is its own.
func (v *Paths) next(cables []int32, cut bool) *ksp.Table {
	m, g := *v.m, *v.m.Graph
	g.To = slices.Clone(g.To)
	for _, c := range cables {
		there, back := v.entry[2*c], v.entry[2*c+1]
		from, to := v.nodes(c)
		if cut {
			from, to = to, from
		}
		g.To[there], g.To[back] = to, from
	}
	m.Graph, m.Dist = &g, slices.Clone(m.Dist)
	return &m
}

// nodes returns the nodes that a cable joins.
func (v *Paths) nodes(cable int32) (x, y int32) {
	l := v.t.Link(pathmap.LinkID(2 * cable))
	return v.m.Graph.Find(int32(l.From)), v.m.Graph.Find(int32(l.To))
}

// refill brings the rows in line whose targets are stale: by a shift where that can be done, else all anew.
func (v *Paths) refill(next *ksp.Table, stale func(target int) bool,
	shift func(d *drift, target int, r ksp.Row) bool) {
	var ranks []int32
	var d drift
	for t, before := range next.Dist {
		if !stale(t) {
			continue
		}
		r := slices.Clone(before)
		if next.Dist[t] = r; !shift(&d, t, r) {
			ranks = append(ranks, int32(t))
		}
	}
	next.Refill(ranks)
}

// strands reports whether some node has lost its last nearer neighbour with the cables, so that
// distances have grown. r is the row before, g the graph after: nodes that keep a nearer neighbour, and
// so all of them, keep their distance. Each cable has two sides.
func strands(g *ksp.Graph, r ksp.Row, cables [][2]int32) bool {
	for _, c := range cables {
		x, y := c[0], c[1]
		switch {
		case r.Code(x) == ksp.Unreached:
		case ksp.Detour(r.Code(x), r.Code(y)) == 0 && !leads(r, g, x):
			return true
		case ksp.Detour(r.Code(y), r.Code(x)) == 0 && !leads(r, g, y):
			return true
		}
	}
	return false
}

// leads reports whether n has a neighbour that is nearer.
func leads(r ksp.Row, g *ksp.Graph, n int32) bool {
	code := r.Code(n)
	for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
		if ksp.Detour(code, r.Code(to)) == 0 {
			return true
		}
	}
	return false
}

// distanceChanges is, by target's rank, how much farther away the first side of a cable is than the second,
// before it is back; of several cables, of the last that shortens a way there, or 0.
type distanceChange struct{ by []int32 }

// stale reports whether a row's distances shrink with the cables: they do where two sides are more than
// a link apart.
func (a distanceChange) stale(target int) bool { return a.by[target] < -1 || a.by[target] > 1 }

// distanceChanges measures cables that come back. A row knows distances modulo 3 only, so they are measured from
// the cables' nodes.
func (v *Paths) distanceChanges(cables []int32) distanceChange {
	known := map[int32][]int32{}
	level := func(n int32) []int32 {
		if known[n] == nil {
			known[n] = levels(v.m.Graph, n)
		}
		return known[n]
	}
	a := distanceChange{make([]int32, len(v.m.Node))}
	for _, c := range cables {
		x, y := v.nodes(c)
		dx, dy := level(x), level(y)
		for t, n := range v.m.Node {
			if d := dx[n] - dy[n]; d < -1 || d > 1 {
				a.by[t] = d
			}
		}
	}
	return a
}

// levels returns every node's distance from n, far where there is no path.
func levels(g *ksp.Graph, n int32) []int32 {
	level := make([]int32, g.Nodes())
	for i := range level {
		level[i] = far
	}
	level[n] = 0
	queue := append(make([]int32, 0, g.Nodes()), n)
	for head := 0; head < len(queue); head++ {
		n := queue[head]
		for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
			if level[to] == far {
				level[to] = level[n] + 1
				queue = append(queue, to)
			}
		}
	}
	return level
}
