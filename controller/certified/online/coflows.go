package online

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"lightloom/controller/certified"
	"lightloom/controller/solve"
)

// Coflow is a set of flows that arrives.
type Coflow struct {
	Arrival float64
	Volume  []float64
	Ends    [][2]int32
}

// Retry is how often a coflow that finds no bandwidth is tried again, in seconds.
const Retry = 1.0

// Privilege is how long a coflow waits until it is scheduled before all others (section 4.7.2.1).
const Privilege = 100.0

// Coflows is a run of coflows by RAPIER's policy: at each arrival and end all are scheduled anew,
// always the one that would end first on what those before it leave; those that have waited for
// Privilege come first. What is left then makes each coflow faster, in the same order: the document's
// special procedure, which it does not describe.
type Coflows struct {
	*Network
	Coflows []Coflow // by arrival
	Noise   []Noise
	Route   func(in *certified.Instance, ends [][2]int32) (*certified.Plan, error)
}

type coflowRun struct {
	*Coflows
	*medium
	first   []int // by coflow: its first flow
	of      []int // by flow: its coflow
	left    []float64
	open    []int // by coflow: flows that have not ended
	active  []int
	waiting map[int]float64 // coflows that carry nothing, since when
	tried   float64         // when all were scheduled last
}

// Run returns the coflows' completion times.
func (s *Coflows) Run() ([]float64, error) {
	r := &coflowRun{Coflows: s, medium: newMedium(s.Capacity(), s.Noise), waiting: map[int]float64{}}
	for c, x := range s.Coflows {
		r.first = append(r.first, len(r.of))
		r.open = append(r.open, len(x.Volume))
		for _, v := range x.Volume {
			r.of, r.left = append(r.of, c), append(r.left, v)
		}
	}
	out, next, over := make([]float64, len(s.Coflows)), 0, 0
	for range maxEvents {
		if over == len(out) {
			return out, nil
		}
		at := r.medium.next()
		if next < len(out) {
			at = min(at, s.Coflows[next].Arrival)
		}
		if math.IsInf(at, 1) {
			return nil, fmt.Errorf("run coflows: %d of %d have no routes", len(out)-over, len(out))
		}
		ended := r.advance(at, r.volume)
		due := len(r.waiting) > 0 && r.now >= r.tried+Retry
		for _, f := range ended {
			c := r.of[f]
			r.left[f] = 0
			if r.open[c]--; r.open[c] == 0 {
				out[c], due = r.now-s.Coflows[c].Arrival, true
				r.active = slices.DeleteFunc(r.active, func(a int) bool { return a == c })
				over++
			}
		}
		for ; next < len(out) && s.Coflows[next].Arrival <= r.now; next++ {
			r.active, r.waiting[next], due = append(r.active, next), r.now, true
		}
		if due {
			r.tried = r.now
			if err := r.schedule(); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("run coflows: more than %d events", maxEvents)
}

func (r *coflowRun) volume(f int) float64 {
	return r.Coflows.Coflows[r.of[f]].Volume[f-r.first[r.of[f]]]
}

// schedule preempts all and schedules them anew.
func (r *coflowRun) schedule() error {
	for _, f := range r.flows {
		r.left[f.flow] = f.left
	}
	r.flows = r.flows[:0]
	rest := slices.Clone(r.active)
	for len(rest) > 0 {
		c, plan, err := r.shortest(rest)
		if err != nil {
			return err
		}
		if plan == nil {
			break
		}
		rest = slices.DeleteFunc(rest, func(a int) bool { return a == c })
		delete(r.waiting, c)
		for k, f := range r.flowsOf(c) {
			r.flows = append(r.flows, sending{f, r.left[f], slices.Clone(plan.Path[k]), plan.Rate[k],
				plan.Rate[k]})
		}
	}
	for _, c := range rest {
		if _, waits := r.waiting[c]; !waits {
			r.waiting[c] = r.now
		}
	}
	r.faster()
	return nil
}

// shortest returns the coflow to be scheduled next and its plan; nil if none can be.
func (r *coflowRun) shortest(rest []int) (at int, best *certified.Plan, err error) {
	privileged := false
	for _, c := range rest {
		since, waits := r.waiting[c]
		long := waits && r.now-since > Privilege
		if privileged && !long {
			continue
		}
		plan, err := r.plan(c)
		if err != nil {
			return 0, nil, err
		}
		if plan != nil && (best == nil || long && !privileged || plan.Value < best.Value) {
			at, best, privileged = c, plan, long
		}
	}
	return at, best, nil
}

// flowsOf returns the flows of a coflow that have something left.
func (r *coflowRun) flowsOf(c int) (out []int) {
	for k := range r.Coflows.Coflows[c].Volume {
		if f := r.first[c] + k; r.left[f] > 0 {
			out = append(out, f)
		}
	}
	return out
}

func (r *coflowRun) plan(c int) (*certified.Plan, error) {
	in := &certified.Instance{Capacity: r.medium.left(current)}
	var ends [][2]int32
	for _, f := range r.flowsOf(c) {
		in.Volume, ends = append(in.Volume, r.left[f]), append(ends, r.Coflows.Coflows[c].Ends[f-r.first[c]])
	}
	in.Router = r.Router(ends)
	p, err := r.Route(in, ends)
	if infeasible := new(solve.InfeasibleError); errors.As(err, &infeasible) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("route coflow %d at %v: %w", c, r.now, err)
	}
	return p, nil
}

// faster multiplies the rates of each coflow by what its links allow, in the order of scheduling.
func (r *coflowRun) faster() {
	for from := 0; from < len(r.flows); {
		to := from
		used := map[int32]float64{}
		for ; to < len(r.flows) && r.of[r.flows[to].flow] == r.of[r.flows[from].flow]; to++ {
			for _, l := range r.flows[to].path {
				used[l] += r.flows[to].rate
			}
		}
		left, factor := r.medium.left(current), math.Inf(1)
		for l, u := range used {
			if u > 0 {
				factor = min(factor, 1+left[l]/u)
			}
		}
		if !math.IsInf(factor, 1) {
			for i := from; i < to; i++ {
				r.flows[i].rate *= factor
				r.flows[i].base = r.flows[i].rate
			}
		}
		from = to
	}
}
