package route

import (
	"cmp"
	"math"
	"slices"

	"lightloom/controller/certified"
)

// manyCoflows is up to how many coflows are compared before each choice; of more, those of the fewest
// bytes go first.
const manyCoflows = 8

// group is the flows of one coflow that is to be routed.
type group struct {
	coflow int // of todo
	flows  []int
	bits   float64
}

// byCoflow routes coflows one after the other: it plans all of them over what is left, keeps the plan
// that ends first, and plans the others anew.
func (in *instance) byCoflow(a *Certified) [][]int32 {
	out := make([][]int32, len(in.Volume))
	todo := in.groups()
	free := in.free(todo)
	if len(todo) > manyCoflows {
		slices.SortStableFunc(todo, func(a, b group) int { return cmp.Compare(a.bits, b.bits) })
	}
	for len(todo) > 0 {
		n := len(todo)
		if n > manyCoflows {
			n = 1
		}
		at, best := 0, (*certified.Plan)(nil)
		for k := range todo[:n] {
			if p := in.plan(a, &todo[k], free.left()); p != nil && (best == nil || p.Value < best.Value) {
				at, best = k, p
			}
		}
		g := todo[at]
		todo = slices.Delete(todo, at, at+1)
		if best == nil { // every flow has a path with capacity, so none is expected
			continue
		}
		for k, i := range g.flows {
			out[i] = best.Path[k]
			free.take(best.Path[k], best.Rate[k])
		}
		a.say(in.v, in.first[g.coflow:g.coflow+1], best)
	}
	return out
}

// groups returns the flows of each coflow to route, by id.
func (in *instance) groups() []group {
	var out []group
	for c, rows := range in.index {
		g := group{coflow: c}
		for _, i := range rows {
			if i >= 0 {
				g.flows = append(g.flows, i)
				g.bits += in.Volume[i]
			}
		}
		if len(g.flows) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// plan routes one coflow over what is left.
func (in *instance) plan(a *Certified, g *group, left []float64) *certified.Plan {
	one := certified.Instance{Capacity: left}
	var paths certified.Candidates
	for _, i := range g.flows {
		one.Volume = append(one.Volume, in.Volume[i])
		paths = append(paths, in.paths[i])
	}
	one.Router = paths
	p, err := a.Router(&one, certified.Effort{Trials: max(1, effort/len(g.flows))})
	if err != nil {
		return nil
	}
	return p
}

// free is what links have left: what their flows do not take, but at least what one flow more would get
// by equal shares, or where all is taken nobody could be routed.
type free struct {
	capacity, taken, flows []float64
}

// free counts the flows that are under way, at the rates at which the last of them ends earliest.
func (in *instance) free(todo []group) *free {
	n := len(in.Capacity)
	f := &free{in.Capacity, make([]float64, n), make([]float64, n)}
	isNew := make([]bool, len(in.Volume))
	for _, g := range todo {
		for _, i := range g.flows {
			isNew[i] = true
		}
	}
	old := certified.Instance{Capacity: in.Capacity}
	var paths [][]int32
	for i, v := range in.Volume {
		if !isNew[i] {
			old.Volume, paths = append(old.Volume, v), append(paths, in.paths[i][0])
		}
	}
	if rate, _, err := old.Makespan(paths); err == nil {
		for k, links := range paths {
			f.take(links, rate[k])
		}
	}
	return f
}

func (f *free) take(links []int32, rate float64) {
	for _, l := range links {
		f.taken[l] += rate
		f.flows[l]++
	}
}

func (f *free) left() []float64 {
	out := make([]float64, len(f.capacity))
	for l, c := range f.capacity {
		out[l] = math.Max(c-f.taken[l], c/(1+f.flows[l]))
	}
	return out
}

// MinCCT is the router of RAPIER's MinimizeCCT over k of the candidate paths.
func MinCCT(kind certified.Kind, k int) Router {
	return func(in *certified.Instance, e certified.Effort) (*certified.Plan, error) {
		return certified.MinCCT(in, in.Router.(certified.Candidates).Best(kind, k, in.Capacity), e)
	}
}
