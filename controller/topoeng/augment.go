package topoeng

import (
	"math"
	"slices"
)

// exchanges finds how a choice changes best where an output can have one more circuit: it gets one, or another output
// gives one up for it, or nothing changes. Paths of such exchanges are found as Dijkstra has it, at costs that a
// potential of each pod keeps from being negative (Edmonds and Karp, 1972), so that each search ends after as many
// steps as there are pods. Costs are whole nanoseconds: of fractions, rounding has a ring of exchanges that gains
// nothing gain a little.
type exchanges struct {
	*choice
	worth     [][]int64 // demand in nanoseconds
	holders   [][]int   // by input: the outputs that have a circuit to it
	potential [2][]int64

	// Of one search, by side and pod.
	cost [2][]int64
	from [2][]int
	done [2][]bool
}

// unreached is the cost of a pod that no path leads to.
const unreached = math.MaxInt64

// optimum chooses the pairs that leave least.
func (c *choice) optimum() {
	x := c.exchanges()
	for i := range c.demand {
		for c.spare[0][i] > 0 && x.augment(i) {
			c.spare[0][i]--
		}
	}
}

func (c *choice) exchanges() *exchanges {
	n := len(c.demand)
	x := &exchanges{choice: c, worth: make([][]int64, n), holders: make([][]int, n)}
	for side := range 2 {
		x.potential[side], x.cost[side] = make([]int64, n), make([]int64, n)
		x.from[side], x.done[side] = make([]int, n), make([]bool, n)
	}
	for i := range c.demand {
		x.worth[i] = make([]int64, n)
		for j, d := range c.demand[i] {
			x.worth[i][j] = int64(math.Round(min(d*1e9, longestDemand)))
		}
		x.potential[0][i] = slices.Max(x.worth[i])
	}
	return x
}

// augment lets an output have one more circuit, and reports whether that changes anything.
func (x *exchanges) augment(start int) bool {
	side, last, cost := x.search(start)
	for s := range 2 {
		for i, done := range x.done[s] {
			if done {
				x.potential[s][i] -= cost - x.cost[s][i]
			}
		}
	}
	if side == 0 && last == start {
		return false
	}
	if side == 1 {
		x.spare[1][last]--
	}
	for at := last; side == 1 || at != start; side = 1 - side {
		before := x.from[side][at]
		if side == 1 {
			x.counts[before][at] = 1
			x.holders[at] = append(x.holders[at], before)
		} else {
			x.counts[at][before] = 0
			k := slices.Index(x.holders[before], at)
			x.holders[before] = slices.Delete(x.holders[before], k, k+1)
		}
		at = before
	}
	return true
}

// search finds the cheapest path from an output to an input that can have more circuits, or to an output that gives
// one up, perhaps the same. It returns that, its side, and the cost.
func (x *exchanges) search(start int) (side, last int, cost int64) {
	for s := range 2 {
		clear(x.done[s])
		for i := range x.cost[s] {
			x.cost[s][i] = unreached
		}
	}
	x.cost[0][start] = 0
	last, cost = none, unreached
	for {
		s, i := x.cheapest()
		if i < 0 || x.cost[s][i] >= cost {
			return side, last, cost
		}
		x.done[s][i] = true
		if ends := x.cost[s][i] + x.potential[s][i]; (s == 0 || x.spare[1][i] > 0) && ends < cost {
			side, last, cost = s, i, ends
		}
		x.lead(s, i)
	}
}

// cheapest returns the pod, and its side, that costs least of those that paths have reached and not passed.
func (x *exchanges) cheapest() (side, pod int) {
	pod = none
	least := int64(unreached)
	for s := range 2 {
		for i, c := range x.cost[s] {
			if c < least && !x.done[s][i] {
				side, pod, least = s, i, c
			}
		}
	}
	return side, pod
}

// lead leads on from an output by each circuit that it can get, and from an input by each that it can lose.
func (x *exchanges) lead(side, i int) {
	base := x.cost[side][i] + x.potential[side][i]
	if side == 1 {
		for _, out := range x.holders[i] {
			x.reach(0, out, i, base+x.worth[out][i]-x.potential[0][out])
		}
		return
	}
	for j, w := range x.worth[i] {
		if w > 0 && x.counts[i][j] == 0 {
			x.reach(1, j, i, base-w-x.potential[1][j])
		}
	}
}

func (x *exchanges) reach(side, pod, from int, cost int64) {
	if cost < x.cost[side][pod] {
		x.cost[side][pod], x.from[side][pod] = cost, from
	}
}
