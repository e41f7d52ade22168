package online

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lightloom/controller/certified"
	"lightloom/controller/solve"
)

// Flow is a flow that arrives.
type Flow struct {
	Arrival, Volume float64
	Ends            [2]int32
}

// Selection is which waiting flows are scheduled (section 5.5.2).
type Selection int

// The selections.
const (
	VFF    Selection = iota // all that have a path
	SFF                     // the one that could end first alone, then the next beside it
	SVF                     // those of least volume first (the document's SLF)
	InTurn                  // FCFS: one after the other as they arrived, each alone, at every arrival
)

// RouteFunc gives flows paths and rates on what links have; a flow without a path waits.
type RouteFunc func(in *certified.Instance, ends [][2]int32) (paths [][]int32, rates []float64, err error)

// By has FRoBA's forms route flows.
func By(algorithm func(*certified.Instance, certified.Effort) (*certified.Plan, error),
	e certified.Effort) RouteFunc {
	return func(in *certified.Instance, _ [][2]int32) ([][]int32, []float64, error) {
		p, err := algorithm(in, e)
		if infeasible := new(solve.InfeasibleError); errors.As(err, &infeasible) && len(in.Volume) == 1 {
			return make([][]int32, 1), make([]float64, 1), nil // it waits; sets are selected so that each flow has a route
		}
		if err != nil {
			return nil, nil, err
		}
		return p.Path, p.Rate, nil
	}
}

// Spread sends each flow along a shortest path drawn at random, ECMP, or by what paths have, WCMP, and
// gives the rates of OptBA-TTT. A flow whose path has no more than least waits.
func (n *Network) Spread(rng *rand.Rand, weighted bool, least float64) RouteFunc {
	return func(in *certified.Instance, ends [][2]int32) ([][]int32, []float64, error) {
		few, of, paths := certified.Instance{Capacity: in.Capacity}, []int{}, make([][]int32, len(ends))
		var some [][]int32
		for i, e := range ends {
			all := n.Shortest(e[0], e[1])
			links := all[rng.IntN(len(all))]
			if weighted {
				links = byWeight(rng, all, in.Capacity)
			}
			if Narrowest(links, in.Capacity) > least {
				few.Volume, of, some = append(few.Volume, in.Volume[i]), append(of, i), append(some, links)
			}
		}
		rates := make([]float64, len(ends))
		if len(of) == 0 {
			return paths, rates, nil
		}
		a, err := few.Total(some)
		if err != nil {
			return nil, nil, err
		}
		for k, i := range of {
			paths[i], rates[i] = some[k], a.Rate[k]
		}
		return paths, rates, nil
	}
}

// byWeight draws a path by what its narrowest link has.
func byWeight(rng *rand.Rand, all [][]int32, capacity []float64) []int32 {
	sum := 0.0
	for _, links := range all {
		sum += Narrowest(links, capacity)
	}
	x := sum * rng.Float64()
	for _, links := range all {
		if x -= Narrowest(links, capacity); x < 0 {
			return links
		}
	}
	return all[len(all)-1]
}

// Flows is a run of independent flows (section 5.5).
type Flows struct {
	*Network
	Flows   []Flow // by arrival
	Noise   []Noise
	Select  Selection
	Route   RouteFunc
	DRB     bool // residual bandwidth goes to flows until the next scheduling
	Preempt bool
	Every   float64 // seconds from one scheduling to the next
	Least   float64 // bandwidth above which VFF takes a path for valid
}

// Times are how long flows took, and how long they waited before their first bit.
type Times struct{ Took, Waited []float64 }

type flowRun struct {
	*Flows
	*medium
	waiting []int // by arrival
	left    []float64
	begun   []bool
	out     Times
}

// Run returns the times of the flows, by flow.
func (s *Flows) Run() (*Times, error) {
	n := len(s.Flows)
	r := &flowRun{Flows: s, medium: newMedium(s.Capacity(), s.Noise), left: make([]float64, n),
		begun: make([]bool, n),
		out:   Times{make([]float64, n), make([]float64, n)}}
	next, tick, over := 0, 0.0, 0
	for range maxEvents {
		if over == n {
			return &r.out, nil
		}
		at := r.medium.next()
		if next < n {
			at = min(at, s.Flows[next].Arrival)
		}
		if len(r.waiting) > 0 && s.Select != InTurn {
			at = min(at, tick)
		}
		if math.IsInf(at, 1) {
			return nil, fmt.Errorf("run flows: %d of %d have no route", n-over, n)
		}
		ended := r.advance(at, func(f int) float64 { return s.Flows[f].Volume })
		over += len(ended)
		for _, f := range ended {
			r.out.Took[f] = r.now - s.Flows[f].Arrival
		}
		arrived := false
		for ; next < n && s.Flows[next].Arrival <= r.now; next++ {
			r.waiting, r.left[next], arrived = append(r.waiting, next), s.Flows[next].Volume, true
		}
		due := s.Select == InTurn && (arrived || len(ended) > 0)
		if s.Select != InTurn && r.now >= tick {
			due, tick = true, (math.Floor(r.now/s.Every)+1)*s.Every
		}
		due = due && len(r.waiting) > 0
		if due {
			if err := r.schedule(); err != nil {
				return nil, err
			}
		}
		if s.DRB && (due || len(ended) > 0) {
			if err := r.distribute(); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("run flows: more than %d events", maxEvents)
}

// schedule selects flows and routes them on what is not allocated.
func (r *flowRun) schedule() error {
	if r.Preempt {
		for _, f := range r.flows {
			r.waiting, r.left[f.flow] = append(r.waiting, f.flow), f.left
		}
		slices.Sort(r.waiting)
		r.flows = r.flows[:0]
	}
	for i := range r.flows {
		r.flows[i].rate = r.flows[i].base
	}
	if r.Select != InTurn {
		return r.start(r.choose(r.medium.left(base)))
	}
	for _, f := range slices.Clone(r.waiting) {
		if err := r.start([]int{f}); err != nil {
			return err
		}
	}
	return nil
}

// choose is the flow selection.
func (r *flowRun) choose(free []float64) []int {
	order := slices.Clone(r.waiting)
	if r.Select == SVF {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.left[a], r.left[b]) })
	}
	var out []int
	needs := map[int]float64{} // by flow: seconds at least, since links only lose
	for len(order) > 0 {
		best, time, width, path := -1, math.Inf(1), 0.0, []int32(nil)
		kept := order[:0]
		for _, f := range order {
			if best >= 0 && (r.Select != SFF || needs[f] >= time) {
				kept = append(kept, f)
				continue
			}
			links := r.Router([][2]int32{r.Flows.Flows[f].Ends}).Widest(0, free)
			w := 0.0
			if links != nil {
				w = Narrowest(links, free)
			}
			if w <= r.Least {
				continue
			}
			kept, needs[f] = append(kept, f), r.left[f]/w
			if needs[f] < time {
				best, time, width, path = f, needs[f], w, slices.Clone(links)
			}
		}
		order = slices.DeleteFunc(kept, func(f int) bool { return f == best })
		if best < 0 {
			return out
		}
		out = append(out, best)
		if r.Select != VFF {
			for _, l := range path {
				free[l] -= width
			}
		}
	}
	return out
}

// start routes flows; those without a path go on waiting.
func (r *flowRun) start(flows []int) error {
	if len(flows) == 0 {
		return nil
	}
	in, ends := r.instance(flows, r.medium.left(base))
	paths, rates, err := r.Route(in, ends)
	if err != nil {
		return fmt.Errorf("route flows at %v: %w", r.now, err)
	}
	for k, f := range flows {
		if paths[k] != nil && rates[k] > 0 {
			r.send(f, paths[k], rates[k], rates[k])
		}
	}
	return nil
}

func (r *flowRun) instance(flows []int, free []float64) (*certified.Instance, [][2]int32) {
	in, ends := &certified.Instance{Capacity: free}, make([][2]int32, len(flows))
	for k, f := range flows {
		in.Volume, ends[k] = append(in.Volume, r.left[f]), r.Flows.Flows[f].Ends
	}
	in.Router = r.Router(ends)
	return in, ends
}

func (r *flowRun) send(f int, path []int32, base, rate float64) {
	r.waiting = slices.DeleteFunc(r.waiting, func(w int) bool { return w == f })
	if !r.begun[f] {
		r.begun[f], r.out.Waited[f] = true, r.now-r.Flows.Flows[f].Arrival
	}
	r.flows = append(r.flows, sending{f, r.left[f], slices.Clone(path), base, rate})
}

// distribute is the DRB procedure: all flows under way get the rates of OptBA-TTT over all that noise
// leaves, and then, if flows are preemptive, waiting ones take what is left of their widest paths.
func (r *flowRun) distribute() error {
	in := &certified.Instance{Capacity: slices.Clone(r.capacity)}
	var paths [][]int32
	for i := range r.flows {
		in.Volume, paths = append(in.Volume, r.flows[i].left), append(paths, r.flows[i].path)
	}
	if len(paths) > 0 {
		a, err := in.Total(paths)
		if err != nil {
			return fmt.Errorf("distribute bandwidth at %v: %w", r.now, err)
		}
		for i := range r.flows {
			r.flows[i].rate = a.Rate[i]
		}
	}
	if !r.Preempt {
		return nil
	}
	order := slices.Clone(r.waiting)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.left[a], r.left[b]) })
	free := r.medium.left(current)
	for _, f := range order {
		links := r.Router([][2]int32{r.Flows.Flows[f].Ends}).Widest(0, free)
		if links == nil || Narrowest(links, free) <= r.Least {
			continue
		}
		w := Narrowest(links, free)
		r.send(f, links, 0, w)
		for _, l := range links {
			free[l] -= w
		}
	}
	return nil
}
