package ksp

import "math"

// finder gives all paths of one pair at once, those of a walk in the same order, where the target's fan
// is at hand: it goes on by itself where a walk comes back with every path, and so keeps no frames. It
// makes what Build takes half.
type finder struct {
	g       *Graph
	fan     *Descents
	inverse [][]uint32
	order   Order
	target  int32
	k       int

	slack int32 // of this pass
	next  int32 // the smallest slack of a branch that this pass cut off
	steps int   // left to look at

	node []int32 // of the path being searched
	cur  []int32 // entries taken from them
	via  []int32 // of the paths found, one after the other
	end  []int32 // of each path in via
}

// run finds the first k paths from source, and reports whether that is certain: if not, the steps are spent.
func (f *finder) run(source int32) bool {
	f.via, f.end = f.via[:0], f.end[:0]
	if f.fan.level[source] < 0 {
		return true
	}
	f.steps = budget + perPath*f.k
	f.node[0] = source
	for f.slack = 0; ; f.slack = f.next {
		f.next = math.MaxInt32
		if f.visit(source, 0, f.slack) {
			return f.steps >= 0
		}
		if f.next == math.MaxInt32 {
			return true
		}
	}
}

// visit searches on from a node, which is depth links from the source, and reports whether the search
// is over.
func (f *finder) visit(n int32, depth int, slack int32) bool {
	if slack == 0 && f.fan.serves(n, f.next-f.slack) {
		return f.descend(n, depth)
	}
	f.room(depth)
	g, level := f.g, f.fan.level
	all := g.To[g.Start[n]:g.Start[n+1]]
	p := g.Prime[len(all)]
	i, stride := f.order.At(depth, p)
	here := level[n] - 1
	if f.steps -= int(p); f.steps < 0 {
		return true
	}
	for left := p; left > 0; left-- {
		at := i
		i += stride - p
		i += p & uint32(int32(i)>>31) // modulo p, without a branch that could not be foretold
		if int(at) >= len(all) {
			continue
		}
		to := all[at]
		e := g.Start[n] + int32(at)
		rest := slack - (level[to] - here)
		switch {
		case to == f.target:
			if rest == 0 {
				f.cur[depth] = e
				if f.found(depth) {
					return true
				}
			}
		case rest < 0:
			if f.slack-rest < f.next && f.open(to, depth) {
				f.next = f.slack - rest
			}
		case rest == 0 && level[to] == 1 && f.fan.count[to] == 1 && f.fan.serves(to, f.next-f.slack):
			if f.open(to, depth) {
				f.cur[depth] = e
				if f.last(to, depth+1) {
					return true
				}
			}
		default:
			if f.open(to, depth) {
				f.cur[depth], f.node[depth+1] = e, to
				if f.visit(to, depth+1, rest) {
					return true
				}
			}
		}
	}
	return false
}

// descend searches on from a node whose ways nearer are few, with no slack left.
func (f *finder) descend(n int32, depth int) bool {
	count := int(f.fan.count[n])
	if f.steps -= count; f.steps < 0 {
		return true
	}
	f.room(depth)
	near := f.fan.near[few*n : few*n+few]
	var turned [few]int32
	if count > 1 {
		f.sort(turned[:count], near, n, depth)
		near = turned[:]
	}
	for _, e := range near[:count] {
		to := f.g.To[e]
		f.cur[depth] = e
		switch {
		case to == f.target:
			if f.found(depth) {
				return true
			}
		case !f.open(to, depth):
		case f.fan.level[to] == 1 && f.fan.count[to] == 1 && f.fan.serves(to, f.next-f.slack):
			if f.last(to, depth+1) {
				return true
			}
		default:
			f.node[depth+1] = to
			if f.visit(to, depth+1, 0) {
				return true
			}
		}
	}
	return false
}

// sort writes entries of a node in the pair's order.
func (f *finder) sort(to, near []int32, n int32, depth int) {
	start, degree := f.g.Start[n], f.g.Degree(n)
	p := f.g.Prime[degree]
	first, stride := f.order.At(depth, p)
	inv := f.inverse[degree][stride]
	var rank [few]uint32
	for i := range to {
		e := near[i]
		r := RankOf(e-start, first, inv, p)
		k := i
		for ; k > 0 && rank[k-1] > r; k-- {
			to[k], rank[k] = to[k-1], rank[k-1]
		}
		to[k], rank[k] = e, r
	}
}

// last goes from a node to the target over its only link there.
func (f *finder) last(n int32, depth int) bool {
	f.room(depth)
	f.steps--
	f.cur[depth] = f.fan.near[few*n]
	return f.found(depth)
}

// found keeps a path of depth+1 links, and reports whether there are enough paths.
func (f *finder) found(depth int) bool {
	f.via = append(f.via, f.cur[:depth+1]...)
	f.end = append(f.end, int32(len(f.via)))
	return len(f.end) == f.k
}

// open reports whether the path can go on to n: not a leaf, and not on the path.
func (f *finder) open(n int32, depth int) bool {
	if f.g.Leaf[n] {
		return false
	}
	for _, m := range f.node[:depth+1] {
		if m == n {
			return false
		}
	}
	return true
}

// room makes room for a node one link on.
func (f *finder) room(depth int) {
	if depth+2 > len(f.node) {
		f.node, f.cur = append(f.node, 0), append(f.cur, 0)
	}
}
