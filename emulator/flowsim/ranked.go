package flowsim

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/propfair"
)

// rankedShares shares links among classes of strict priorities: each gets what those above leave,
// max-min fairly among its own, or proportionally fairly.
type rankedShares struct {
	Proportional bool

	of    linkDemand
	fair  propfair.Solver
	room  []float64 // by link
	all   []rankedClass
	ranks [][]int // by priority: the classes that can send
	at    []int   // the classes of the priority that is being solved for
	rates []float64
}

// rankedClass is n flows over the same links at the same priority; none of them where they cannot send.
type rankedClass struct {
	Links    []pathmap.LinkID
	Flows    int
	Priority uint8
}

// takenShare is the share of a link's capacity below which it counts as taken: the rounding of
// priorities above.
const takenShare = 1e-9

// Solve returns the rate of each of n classes. Borrowed until the next call.
func (r *rankedShares) Solve(capacity []float64, highest uint8, n int,
	class func(i int) rankedClass) []float64 {
	r.room = append(r.room[:0], capacity...)
	r.rates = slices.Grow(r.rates[:0], n)[:n]
	clear(r.rates)
	r.sort(highest, n, class)
	for p := int(highest); p >= 0; p-- {
		if len(r.ranks[p]) > 0 {
			r.solve(capacity, r.ranks[p])
		}
	}
	return r.rates
}

// sort lists the classes that can send by their priority.
func (r *rankedShares) sort(highest uint8, n int, class func(i int) rankedClass) {
	r.ranks = slices.Grow(r.ranks[:0], int(highest)+1)[:int(highest)+1]
	for p := range r.ranks {
		r.ranks[p] = r.ranks[p][:0]
	}
	r.all = slices.Grow(r.all[:0], n)[:n]
	for i := range n {
		c := class(i)
		if r.all[i] = c; c.Flows > 0 && c.Priority <= highest {
			r.ranks[c.Priority] = append(r.ranks[c.Priority], i)
		}
	}
}

// solve shares what is left among the classes of one priority, and takes it.
func (r *rankedShares) solve(capacity []float64, rank []int) {
	r.at, r.of.Classes = r.at[:0], r.of.Classes[:0]
next:
	for _, i := range rank {
		c := &r.all[i]
		for _, l := range c.Links {
			if r.room[l] <= takenShare*capacity[l] {
				continue next
			}
		}
		r.at = append(r.at, i)
		r.of.Add(c.Links, c.Flows, unbounded)
	}
	if len(r.at) == 0 {
		return
	}
	solve := r.of.solver.Solve
	if r.Proportional {
		solve = r.fair.Solve
	}
	for k, rate := range r.of.solve(r.room, solve) {
		r.rates[r.at[k]] = rate
		for _, l := range r.of.Classes[k].Links {
			r.room[l] -= rate * r.of.Classes[k].Flows
		}
	}
}
