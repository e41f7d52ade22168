// Package pathtest is the slow, obviously right reference implementation of pathmap's search: it lists
// every loopless path and sorts them. Tests compare the two. It serves graphs of a few nodes only, and
// nothing but tests.
package pathtest

import (
	"cmp"
	"slices"

	"lightloom/pathmap"
)

// Paths returns the first opt.K loopless paths from node s to node d, as links, in the order that
// pathmap states, the map being built between ends.
func Paths(t *pathmap.Topology, ends []pathmap.NodeID, s, d pathmap.NodeID,
	opt pathmap.Options) [][]pathmap.LinkID {
	if s == d {
		return [][]pathmap.LinkID{{}}
	}
	if s > d {
		paths := Paths(t, ends, d, s, opt)
		for _, p := range paths {
			slices.Reverse(p)
			for i := range p {
				p[i] = pathmap.Reverse(p[i])
			}
		}
		return paths
	}
	b := brute{t: t, ends: ends, opt: opt, s: s, d: d}
	b.from(s, nil)
	slices.SortFunc(b.found, func(p, q ranked) int {
		return cmp.Or(cmp.Compare(len(p.links), len(q.links)), slices.Compare(p.ranks, q.ranks))
	})
	var paths [][]pathmap.LinkID
	for _, p := range b.found[:min(opt.K, len(b.found))] {
		paths = append(paths, p.links)
	}
	return paths
}

type brute struct {
	t     *pathmap.Topology
	ends  []pathmap.NodeID
	opt   pathmap.Options
	s, d  pathmap.NodeID
	found []ranked
}

type ranked struct {
	links []pathmap.LinkID
	ranks []int
}

// from adds every path that begins with links, which lead from s to n.
func (b *brute) from(n pathmap.NodeID, links []pathmap.LinkID) {
	if n == b.d {
		b.found = append(b.found, ranked{slices.Clone(links), b.ranks(links)})
		return
	}
	if n != b.s && b.t.Node(n).Role == pathmap.Host {
		return
	}
	for _, l := range b.usable(n) {
		if b.opt.Down != nil && (b.opt.Down(l) || b.opt.Down(pathmap.Reverse(l))) {
			continue
		}
		to := b.t.Link(l).To
		seen := to == b.s
		for _, before := range links {
			seen = seen || b.t.Link(before).To == to
		}
		if !seen {
			b.from(to, append(links, l))
		}
	}
}

// usable returns the links of n to nodes that paths can use, by port, those that are down too: they
// have a place in the order of ties.
func (b *brute) usable(n pathmap.NodeID) []pathmap.LinkID {
	var out []pathmap.LinkID
	for _, l := range b.t.Out(n) {
		to := b.t.Link(l).To
		end := slices.Contains(b.ends, to)
		if end || b.t.Node(to).Role != pathmap.Host && (b.opt.Avoid == nil || !b.opt.Avoid(to)) {
			out = append(out, l)
		}
	}
	return out
}

// ranks returns the place of each link of a path in its node's order of ties.
func (b *brute) ranks(links []pathmap.LinkID) []int {
	ranks := make([]int, len(links))
	for depth, l := range links {
		usable := b.usable(b.t.Link(l).From)
		ranks[depth] = slices.Index(b.order(depth, len(usable)), slices.Index(usable, l))
	}
	return ranks
}

// order returns the numbers below n in the order in which a node at that depth is searched.
func (b *brute) order(depth, n int) []int {
	p := max(n, 2)
	for !prime(p) {
		p++
	}
	const golden = 0x9e3779b97f4a7c15
	h := splitmix(splitmix(splitmix(b.opt.Seed+golden)^uint64(b.s)<<32^uint64(b.d)) + uint64(depth+1)*golden)
	first := int((h & 0xffffffff) * uint64(p) >> 32)
	stride := 1 + int((h>>32)*uint64(p-1)>>32)
	var order []int
	for x := range p {
		if i := (first + x*stride) % p; i < n {
			order = append(order, i)
		}
	}
	return order
}

func prime(n int) bool {
	for d := 2; d < n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}

func splitmix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// All returns every path of a map, by pair.
func All(m *pathmap.Map) [][][]pathmap.LinkID {
	var pairs [][][]pathmap.LinkID
	for s := range m.Ends() {
		for d := range m.Ends() {
			var paths [][]pathmap.LinkID
			for i := range m.Paths(s, d) {
				paths = append(paths, m.AppendPath([]pathmap.LinkID{}, s, d, i))
			}
			pairs = append(pairs, paths)
		}
	}
	return pairs
}
