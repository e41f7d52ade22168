package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// all returns all tasks.
func (p *placing) all() []int {
	out := make([]int, len(p.host))
	for t := range out {
		out[t] = t
	}
	return out
}

// scatter puts tasks anywhere, the largest first; where the last of them find no room so, all of them
// are packed.
func (p *placing) scatter(tasks []int, rng *rand.Rand, fresh *[]hostFlowKey) {
	for i, t := range p.bySize(tasks) {
		h := p.any(p.g.need(t), rng)
		if h >= 0 {
			p.put(t, h, fresh)
			continue
		}
		for _, u := range p.bySize(tasks)[:i] {
			p.put(u, -1, fresh)
		}
		p.pack(tasks, p.hosts, fresh)
		return
	}
}

// pack puts tasks on the first hosts of an order that have room.
func (p *placing) pack(tasks []int, order []southbound.HostID, fresh *[]hostFlowKey) {
	need, free := make([]int32, len(tasks)), make([]int32, len(order))
	for i, t := range tasks {
		need[i] = p.g.need(t)
	}
	for i, h := range order {
		free[i] = p.free[h]
	}
	found := controller.Pack(need, free)
	if found == nil && !slices.Equal(order, p.hosts) { // the order decides what first-fit finds
		p.pack(tasks, p.hosts, fresh)
		return
	}
	if found == nil {
		panic("anneal: a job was given too few slots")
	}
	for i, t := range tasks {
		p.put(t, order[found[i]], fresh)
	}
}

// bySize returns tasks, the largest first.
func (p *placing) bySize(tasks []int) []int {
	if p.g.sizes == nil {
		return tasks
	}
	tasks = slices.Clone(tasks)
	slices.SortStableFunc(tasks, func(a, b int) int { return int(p.g.need(b)) - int(p.g.need(a)) })
	return tasks
}

// swaps reports whether two tasks on different hosts find room when they change places.
func (p *placing) swaps(t, u int) bool {
	if p.g.sizes == nil {
		return true
	}
	more := p.g.need(t) - p.g.need(u)
	return p.free[p.host[u]] >= more && p.free[p.host[t]] >= -more
}
