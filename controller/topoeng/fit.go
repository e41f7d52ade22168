package topoeng

import (
	"cmp"
	"slices"
)

// Usable is which ports can have circuits, by switch and pod; nil: all can.
type Usable [][]bool

// Joins reports whether a switch can join two pods.
func (u Usable) Joins(k, i, j int) bool { return u == nil || u[k][i] && u[k][j] }

// ports is a topology with its circuits by input, and how many each switch has.
type ports struct {
	out, in [][]int32
	load    []int
	usable  Usable
}

func (t Topology) ports(usable Usable) *ports {
	p := &ports{out: t.Out, in: NewTopology(t.Pods, len(t.Out)).Out, load: make([]int, len(t.Out)), usable: usable}
	for k := range t.Out {
		for i, j := range t.Out[k] {
			if j >= 0 {
				p.in[k][j] = int32(i)
				p.load[k]++
			}
		}
	}
	return p
}

func (p *ports) put(k, i, j int) {
	p.out[k][i], p.in[k][j] = int32(j), int32(i)
	p.load[k]++
}

func (p *ports) take(k, i, j int) {
	p.out[k][i], p.in[k][j] = none, none
	p.load[k]--
}

// free returns the switch with the fewest circuits of those that have usable ports free for a pair; none if none has.
func (p *ports) free(i, j int) int {
	to := none
	for k := range p.out {
		if p.usable.Joins(k, i, j) && p.out[k][i] < 0 && p.in[k][j] < 0 && (to < 0 || p.load[k] < p.load[to]) {
			to = k
		}
	}
	return to
}

// Spread moves circuits that do not stand to switches that have fewer, as long as both of their ports are usable and
// free there: a switch that fails then takes fewer of them. What is disturbed stays the same.
func (t Topology) Spread(standing Topology, usable Usable) {
	p := t.ports(usable)
	for k := range t.Out {
		for i, j := range t.Out[k] {
			if j < 0 || standing.Out[k][i] == j {
				continue
			}
			if to := p.free(i, int(j)); to >= 0 && p.load[to]+1 < p.load[k] {
				p.take(k, i, int(j))
				p.put(to, i, int(j))
			}
		}
	}
}

// Return moves circuits back to the switches where they stand, as far as ports are free there.
func (t Topology) Return(standing Topology) {
	at, p := map[[2]int]int{}, t.ports(nil)
	for k := range standing.Out {
		for i, j := range standing.Out[k] {
			if j >= 0 {
				at[[2]int{i, int(j)}] = k
			}
		}
	}
	for again := true; again; {
		again = false
		for k := range t.Out {
			for i, j := range t.Out[k] {
				to, stands := at[[2]int{i, int(j)}]
				if stands && standing.Out[k][i] != j && t.Out[to][i] < 0 && p.in[to][j] < 0 {
					p.take(k, i, int(j))
					p.put(to, i, int(j))
					again = true
				}
			}
		}
	}
}

// Fit moves circuits from ports that are not usable to a switch where both of their ports are, and free. Where there
// is none, others make room: those that do not stand by going to another switch, and those without demand by going.
// Pairs of most demand come first, and what fits nowhere is dropped.
func (t Topology) Fit(standing Topology, usable Usable, d Demand) {
	p := t.ports(usable)
	var all [][2]int
	for k := range t.Out {
		for i, j := range t.Out[k] {
			if j >= 0 && !usable.Joins(k, i, int(j)) {
				p.take(k, i, int(j))
				all = append(all, [2]int{i, int(j)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b [2]int) int { return cmp.Compare(d[b[0]][b[1]], d[a[0]][a[1]]) })
	for _, pair := range all {
		to := p.free(pair[0], pair[1])
		if to < 0 && d[pair[0]][pair[1]] > 0 {
			to = p.room(pair[0], pair[1], standing, d)
		}
		if to >= 0 {
			p.put(to, pair[0], pair[1])
		}
	}
}

// room makes room for a pair on the first switch whose circuits give way, and returns it; none if none do.
func (p *ports) room(i, j int, standing Topology, d Demand) int {
	for k := range p.out {
		if !p.usable.Joins(k, i, j) {
			continue
		}
		var way [][2]int
		if to := p.out[k][i]; to >= 0 {
			way = append(way, [2]int{i, int(to)})
		}
		if from := p.in[k][j]; from >= 0 {
			way = append(way, [2]int{int(from), j})
		}
		stays := func(c [2]int) bool {
			return d[c[0]][c[1]] > 0 && (standing.Out[k][c[0]] == int32(c[1]) || p.free(c[0], c[1]) < 0)
		}
		if slices.ContainsFunc(way, stays) {
			continue
		}
		for _, c := range way {
			to := p.free(c[0], c[1])
			p.take(k, c[0], c[1])
			if d[c[0]][c[1]] > 0 {
				p.put(to, c[0], c[1])
			}
		}
		return k
	}
	return none
}
