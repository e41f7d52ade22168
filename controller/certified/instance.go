package certified

import (
	"fmt"
	"math"
	"slices"

	"lightloom/controller/solve"
)

// Router knows the paths that flows can take, as lists of links. A link of infinite length, or of width
// zero, is not taken. Ties are broken the same way every time.
type Router interface {
	// Cheapest returns the path of the least sum of lengths and that sum; nil and +Inf if there is none of
	// less than most.
	Cheapest(flow int, length []float64, most float64) ([]int32, float64)
	// Widest returns the path whose narrowest link is widest, and of those one of fewest links; nil if
	// there is none.
	Widest(flow int, width []float64) []int32
	// Shortest returns a path of fewest links, and of those the one whose narrowest link is widest; nil if
	// there is none.
	Shortest(flow int, width []float64) []int32
}

// Instance is a set of flows that start together.
type Instance struct {
	Volume   []float64 // by flow: bits; a flow of none needs no rate
	Capacity []float64 // by link: bits a second that are left for these flows
	Router   Router
}

// Plan is a route and a rate for every flow, and what is proven of it.
type Plan struct {
	Path [][]int32 // by flow: links; nil for one of no volume
	Rate []float64 // by flow: bits a second
	solve.Certificate
	// Price is by link: the proof of the bound.
	Price []float64
	// Threshold is the time that the prices refute, with links too narrow for a flow to end in it left
	// out; 0: the prices prove the bound over all links.
	Threshold float64
	Trials    int // routings that the local search solved
}

// check refuses what no plan can be made for.
func (in *Instance) check() error {
	for i, v := range in.Volume {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("route flows: volume of flow %d is %v", i, v)
		}
	}
	for l, c := range in.Capacity {
		if !(c >= 0) || math.IsInf(c, 1) {
			return fmt.Errorf("route flows: capacity of link %d is %v", l, c)
		}
	}
	return nil
}

// noRoute is the error of a flow that no path with capacity leads for.
func noRoute(flow int) error {
	return &solve.InfeasibleError{Reason: fmt.Sprintf("flow %d has no route with capacity", flow)}
}

// lengths are prices, infinite where nothing can pass.
func (in *Instance) lengths(price []float64) []float64 {
	out := slices.Clone(price)
	for l, c := range in.Capacity {
		if c <= 0 {
			out[l] = math.Inf(1)
		}
	}
	return out
}

// path makes a path of the router one of solve.
func path(flow int, links []int32) solve.Path {
	q := solve.Path{Owner: int32(flow), Row: slices.Sorted(slices.Values(links)),
		Coef: make([]float64, len(links))}
	for i := range q.Coef {
		q.Coef[i] = 1
	}
	return q
}

// Cheapest is the oracle of solve.Concave.
func (in *Instance) Cheapest(y []float64) (least []float64, paths []solve.Path) {
	length := in.lengths(y)
	least = make([]float64, len(in.Volume))
	for i, v := range in.Volume {
		if v == 0 {
			continue
		}
		var links []int32
		links, least[i] = in.Router.Cheapest(i, length, math.Inf(1))
		if links != nil {
			paths = append(paths, path(i, links))
		}
	}
	return least, paths
}

// total is the program of the sum of transfer times over the paths that an oracle knows.
func (in *Instance) total(gap float64) *solve.Concave {
	return &solve.Concave{Weight: in.Volume, Alpha: 2, Right: in.Capacity, Oracle: in, Gap: gap}
}

// loads returns what links carry.
func (in *Instance) loads(p *Plan) []float64 {
	sum := make([]float64, len(in.Capacity))
	for i, links := range p.Path {
		for _, l := range links {
			sum[l] += p.Rate[i]
		}
	}
	return sum
}

// feasible checks that a plan's routes exist and carry no more than links have.
func (in *Instance) feasible(p *Plan) error {
	if len(p.Path) != len(in.Volume) || len(p.Rate) != len(in.Volume) {
		return fmt.Errorf("verify plan: %d routes and %d rates for %d flows", len(p.Path), len(p.Rate),
			len(in.Volume))
	}
	for i, v := range in.Volume {
		if r := p.Rate[i]; v > 0 && !(r > 0 && !math.IsInf(r, 1)) {
			return fmt.Errorf("verify plan: flow %d has a rate of %v", i, r)
		}
	}
	for l, sum := range in.loads(p) {
		if sum > in.Capacity[l]*(1+1e-9) {
			return fmt.Errorf("verify plan: link %d carries %v of %v", l, sum, in.Capacity[l])
		}
	}
	return nil
}

// same reports whether two figures that were computed in different ways agree.
func same(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-7*max(math.Abs(a), math.Abs(b)) }
