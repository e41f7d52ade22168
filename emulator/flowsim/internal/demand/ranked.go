package demand

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/propfair"
)

// Ranked shares links among classes of strict priorities: each gets what those above leave, max-min fairly among its
// own, or proportionally fairly.
type Ranked struct {
	Proportional bool

	of    Demand
	fair  propfair.Solver
	room  []float64 // by link
	at    []int     // the classes of the priority that is being solved for
	rates []float64
}

// RankedClass is n flows over the same links at the same priority; none of them where they cannot send.
type RankedClass struct {
	Links    []pathmap.LinkID
	Flows    int
	Priority uint8
}

// least is the share of a link's capacity below which it counts as taken: the rounding of priorities above.
const least = 1e-9

// Solve returns the rate of each of n classes. Borrowed until the next call.
func (r *Ranked) Solve(capacity []float64, highest uint8, n int, class func(i int) RankedClass) []float64 {
	r.room = append(r.room[:0], capacity...)
	if cap(r.rates) < n {
		r.rates = make([]float64, 2*n)
	}
	r.rates = r.rates[:n]
	clear(r.rates)
	for p := int(highest); p >= 0; p-- {
		r.solve(capacity, uint8(p), n, class)
	}
	return r.rates
}

// solve shares what is left among the classes of one priority, and takes it.
func (r *Ranked) solve(capacity []float64, p uint8, n int, class func(i int) RankedClass) {
	r.at, r.of.Classes = r.at[:0], r.of.Classes[:0]
	for i := range n {
		c := class(i)
		taken := slices.ContainsFunc(c.Links, func(l pathmap.LinkID) bool { return r.room[l] <= least*capacity[l] })
		if c.Priority != p || c.Flows == 0 || taken {
			continue
		}
		r.at = append(r.at, i)
		r.of.Add(c.Links, c.Flows, unbounded)
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
