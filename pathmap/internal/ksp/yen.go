package ksp

import (
	"cmp"
	"slices"
)

// yen finds paths by J. Y. Yen's algorithm (Management Science 17, 1971) with Lawler's partition:
// polynomial on any graph, and slower than a walk where a walk ends within its budget. It gives the
// same paths in the same order: each part of the partition is represented by its first path in the
// stated order.
type yen struct {
	g              *Graph
	order          Order
	source, target int32
	dist           []int32 // of this spur: links to the target, -1 where there is no way
	banned         []bool  // nodes of the root
	queue          []int32
	taken          []yenPath
	waiting        []yenPath
}

// yenPath is a path as entries, with the rank of each in its node's order.
type yenPath struct {
	via, rank []int32
	deviates  int // where it left the path that it was made from
}

func (p yenPath) compare(q yenPath) int {
	return cmp.Or(cmp.Compare(len(p.via), len(q.via)), slices.Compare(p.rank, q.rank))
}

// run returns the first k paths, fewer where there are fewer.
func (y *yen) run(k int) []yenPath {
	n := y.g.Nodes()
	y.dist, y.banned = make([]int32, n), make([]bool, n)
	y.spur(yenPath{}, y.source)
	for len(y.taken) < k && len(y.waiting) > 0 {
		best := 0
		for i := range y.waiting {
			if y.waiting[i].compare(y.waiting[best]) < 0 {
				best = i
			}
		}
		p := y.waiting[best]
		y.waiting = slices.Delete(y.waiting, best, best+1)
		y.taken = append(y.taken, p)
		if len(y.taken) < k {
			y.deviate(p)
		}
	}
	return y.taken
}

// deviate adds the first path of each part that p splits its part into.
func (y *yen) deviate(p yenPath) {
	node := y.source
	for i := range p.via {
		if i >= p.deviates {
			y.spur(yenPath{via: p.via[:i], rank: p.rank[:i], deviates: i}, node)
		}
		y.banned[node] = true
		node = y.g.To[p.via[i]]
	}
	clear(y.banned)
}

// spur adds the first path that begins with root, stands then at node, and leaves it otherwise than
// every path taken.
func (y *yen) spur(root yenPath, node int32) {
	y.measure(node)
	var used []int32
	for _, p := range y.taken {
		if len(p.via) > len(root.via) && slices.Equal(p.via[:len(root.via)], root.via) {
			used = append(used, p.via[len(root.via)])
		}
	}
	p := yenPath{via: slices.Clone(root.via), rank: slices.Clone(root.rank), deviates: root.deviates}
	for node != y.target {
		entry, rank := y.step(node, len(p.via), used)
		if entry < 0 {
			return
		}
		p.via, p.rank = append(p.via, entry), append(p.rank, rank)
		node, used = y.g.To[entry], nil
	}
	y.waiting = append(y.waiting, p)
}

// measure computes the distances to the target around the root and the node spurred from.
func (y *yen) measure(node int32) {
	for i := range y.dist {
		y.dist[i] = -1
	}
	y.dist[y.target] = 0
	y.queue = append(y.queue[:0], y.target)
	for head := 0; head < len(y.queue); head++ {
		n := y.queue[head]
		if n == node || y.g.Leaf[n] && n != y.target {
			continue
		}
		for _, to := range y.g.To[y.g.Start[n]:y.g.Start[n+1]] {
			if y.dist[to] < 0 && !y.banned[to] {
				y.dist[to] = y.dist[n] + 1
				y.queue = append(y.queue, to)
			}
		}
	}
	y.dist[node] = -1 // never come back to it
}

// step returns the first entry, in the order of the node at that depth, that leads on by a shortest
// way, used ones left out, and its rank; -1 where there is none.
func (y *yen) step(node int32, depth int, used []int32) (entry, rank int32) {
	degree := uint32(y.g.Degree(node))
	p := y.g.Prime[degree]
	idx, stride := y.order.At(depth, p)
	entry = -1
	for x := range int32(p) {
		if e := y.g.Start[node] + int32(idx); idx < degree && y.better(e, entry) && !slices.Contains(used, e) {
			entry, rank = e, x
		}
		if idx += stride; idx >= p {
			idx -= p
		}
	}
	return entry, rank
}

// better reports whether entry e leads on and is nearer to the target than by.
func (y *yen) better(e, by int32) bool {
	to := y.g.To[e]
	d := y.dist[to]
	if d < 0 || y.g.Leaf[to] && to != y.target {
		return false
	}
	return by < 0 || d < y.dist[y.g.To[by]]
}
