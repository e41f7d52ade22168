package pathmap

import "slices"

// far is the distance of nodes that no way joins. Sums of a few do not overflow.
const far = 1 << 28

// lose takes cables out of the map. Pairs that do not use them keep their paths: the first k of fewer paths, in an order
// that down links do not change.
func (v *Live) lose(cables []int32) []Pair {
	next := v.next(cables, true)
	v.refill(next, func(t int) bool { return v.strands(next.g, v.m.dist[t], cables) }, func(d *drift, t int, r row) bool {
		if len(cables) > 1 {
			return false
		}
		x, y := v.nodes(cables[0])
		if detour[r.code(x)<<2|r.code(y)] != 0 {
			x = y
		}
		return d.sink(r, next.g, x)
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

// gain brings cables back into the map: one, or some of one node. A pair is looked at if a path over one of them could
// be as short as its k-th, d(s,u) + 1 + d(v,t) ≤ length. Settle looks closer: equal ones rank by the order of ties, and a
// pair's paths have changed if one of the new ones uses such a cable.
func (v *Live) gain(cables []int32) []Pair {
	next := v.next(cables, false)
	apart := v.apart(cables)
	v.refill(next, apart.stale, func(d *drift, t int, r row) bool {
		x, y := v.nodes(cables[0])
		switch by := apart.by[t]; {
		case len(cables) > 1 || max(by, -by) >= far/2:
			return false
		case by > 0:
			return d.rise(r, next.g, x, y, by-1)
		default:
			return d.rise(r, next.g, y, x, -by-1)
		}
	})
	if v.users == nil {
		v.m = next
		return nil
	}
	t := v.gate(next.g, cables)
	pairs := t.within(next.node, v.users.last)
	return v.touch(next, pairs, t)
}

// touch makes next the map, in which pairs, ascending, are searched for until Settle has packed them again.
func (v *Live) touch(next *Map, pairs []uint32, back *gate) []Pair {
	v.settled, v.m, v.pending, v.returning = v.m, next, pairs, back
	if len(pairs) > 0 {
		ends := len(next.node)
		next.stale = make([]uint64, (ends*(ends-1)/2+63)/64)
		for _, n := range pairs {
			next.stale[n>>6] |= 1 << (n & 63)
		}
	}
	return v.pairs(pairs)
}

// next returns a copy of the map whose graph has the cables cut or joined; what repairs write is its own.
func (v *Live) next(cables []int32, cut bool) *Map {
	m, g := *v.m, *v.m.g
	g.to = slices.Clone(g.to)
	for _, c := range cables {
		there, back := v.entry[2*c], v.entry[2*c+1]
		from, to := m.g.find(v.t.links[2*c].From), m.g.find(v.t.links[2*c].To)
		if cut {
			from, to = to, from
		}
		g.to[there], g.to[back] = to, from
	}
	m.g, m.dist = &g, slices.Clone(m.dist)
	return &m
}

// nodes returns the nodes that a cable joins.
func (v *Live) nodes(cable int32) (x, y int32) {
	l := v.t.links[2*cable]
	return v.m.g.find(l.From), v.m.g.find(l.To)
}

// refill brings the rows in line whose targets are stale: by a shift where that can be done, else all anew.
func (v *Live) refill(next *Map, stale func(target int) bool, shift func(d *drift, target int, r row) bool) {
	var ranks []int32
	var d drift
	for t, before := range next.dist {
		if !stale(t) {
			continue
		}
		r := slices.Clone(before)
		if next.dist[t] = r; !shift(&d, t, r) {
			ranks = append(ranks, int32(t))
		}
	}
	each(len(ranks), func() func(int) {
		queue := make([]int32, 0, next.g.nodes())
		return func(i int) { next.dist[ranks[i]].fill(next.g, next.node[ranks[i]], queue) }
	})
}

// strands says whether some node has lost its last nearer neighbour with the cables, so that distances have grown. r
// is the row before, g the graph after: nodes that keep a nearer neighbour, and so all of them, keep their distance.
func (v *Live) strands(g *graph, r row, cables []int32) bool {
	for _, c := range cables {
		x, y := v.nodes(c)
		switch {
		case r.code(x) == unreached:
		case detour[r.code(x)<<2|r.code(y)] == 0 && !r.leads(g, x):
			return true
		case detour[r.code(y)<<2|r.code(x)] == 0 && !r.leads(g, y):
			return true
		}
	}
	return false
}

// leads says whether n has a neighbour that is nearer.
func (r row) leads(g *graph, n int32) bool {
	code := r.code(n)
	for _, to := range g.to[g.start[n]:g.start[n+1]] {
		if detour[code<<2|r.code(to)] == 0 {
			return true
		}
	}
	return false
}

// apart is, by target's rank, how much farther away the first side of a cable is than the second, before it is back;
// of several cables, of the last that shortens a way there, or 0.
type apart struct{ by []int32 }

// stale says whether a row's distances shrink with the cables: they do where two sides are more than a link apart.
func (a apart) stale(target int) bool { return a.by[target] < -1 || a.by[target] > 1 }

// apart measures cables that come back. A row knows distances modulo 3 only, so they are measured from the cables' nodes.
func (v *Live) apart(cables []int32) apart {
	levels := map[int32][]int32{}
	level := func(n int32) []int32 {
		if levels[n] == nil {
			levels[n] = v.m.g.levels(n)
		}
		return levels[n]
	}
	a := apart{make([]int32, len(v.m.node))}
	for _, c := range cables {
		x, y := v.nodes(c)
		dx, dy := level(x), level(y)
		for t, n := range v.m.node {
			if d := dx[n] - dy[n]; d < -1 || d > 1 {
				a.by[t] = d
			}
		}
	}
	return a
}

// levels returns every node's distance from n, far where there is no way.
func (g *graph) levels(n int32) []int32 {
	level := make([]int32, g.nodes())
	for i := range level {
		level[i] = far
	}
	level[n] = 0
	queue := append(make([]int32, 0, g.nodes()), n)
	for head := 0; head < len(queue); head++ {
		n := queue[head]
		for _, to := range g.to[g.start[n]:g.start[n+1]] {
			if level[to] == far {
				level[to] = level[n] + 1
				queue = append(queue, to)
			}
		}
	}
	return level
}
