package share

import (
	"cmp"
	"math"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Selection is which of the host flows that wait OnFRoBA has send (section 5.5.2).
type Selection int

// The selections.
const (
	VFF    Selection = iota // all whose path has bandwidth
	SFF                     // always the one that could end first alone, then the next beside it
	SLF                     // those of the fewest bytes left first
	InTurn                  // FCFS: in order of their coflows' arrival, each alone
)

// OnFRoBA has host flows wait for bandwidth (the online scheduler of section 5.5 of Shi, "Task
// Scheduling in Modern Data Center", 2016), on the paths that they have. It selects among those that
// wait, gives them rates on what the others' allocations leave, and holds the rest at zero. With DRB
// all that send then share what is left, by the rates of OptBA-TTT, until the next decision. With
// Preempt every host flow waits again at each decision, and DRB has those that still wait send over
// what is left of their paths.
//
// It decides whenever a host flow starts or ends, and not by a period. Host flows on circuits come first.
type OnFRoBA struct {
	Select  Selection
	Preempt bool
	DRB     bool

	optba OptBA
	base  map[southbound.HostFlowKey]float64 // of those that send: their allocation
}

// valid is the part of a link above which a host flow can begin on what is left of it.
const valid = 0.01

// Wants implements the part's list of events.
func (*OnFRoBA) Wants() controller.KindSet { return ofFlows() }

// Fill sets the rates of all host flows.
func (a *OnFRoBA) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	o := &a.optba.ordered
	o.start(v, p)
	q := &queue{OnFRoBA: a}
	var in *certified.Instance
	q.keys, in, q.paths = a.optba.instance(v)
	q.in, q.free = *in, slices.Clone(in.Capacity)
	q.rate, q.since, q.begun = make([]float64, len(q.keys)), q.arrivals(v), a.sent(v, q.keys)
	q.resume()
	q.admit()
	a.base = make(map[southbound.HostFlowKey]float64, len(q.keys))
	for i, r := range q.rate {
		if r > 0 {
			a.base[q.keys[i]] = r
		}
	}
	if a.DRB {
		q.distribute()
	}
	for i, rate := range q.rate {
		if whole := pathmap.BitsPerSecond(rate * (1 - 1e-9)); whole >= 1 { // rounds down
			o.rates.Extra = append(o.rates.Extra, southbound.Extra{HostFlowKey: q.keys[i], Rate: whole})
		}
	}
	o.finish(p)
}

// sent reports which host flows have sent something.
func (*OnFRoBA) sent(v *controller.View, keys []southbound.HostFlowKey) []bool {
	of := make(map[southbound.CoflowID]*controller.CoflowView, len(v.Coflows))
	for i := range v.Coflows {
		of[v.Coflows[i].ID] = &v.Coflows[i]
	}
	out := make([]bool, len(keys))
	for i, k := range keys {
		c := of[k.Coflow]
		out[i] = c.Remaining.Row(k.Row) < float64(c.Size[k.Row])-1
	}
	return out
}

// queue is one decision of OnFRoBA.
type queue struct {
	*OnFRoBA
	keys  []southbound.HostFlowKey
	in    certified.Instance // all host flows
	paths [][]int32
	free  []float64 // by link: what is not allocated
	rate  []float64 // by host flow; 0: it waits
	since []time.Duration
	begun []bool
}

// arrivals are when each host flow's coflow started.
func (q *queue) arrivals(v *controller.View) []time.Duration {
	start := make(map[southbound.CoflowID]time.Duration, len(v.Coflows))
	for i := range v.Coflows {
		start[v.Coflows[i].ID] = v.Coflows[i].Start
	}
	out := make([]time.Duration, len(q.keys))
	for i, k := range q.keys {
		out[i] = start[k.Coflow]
	}
	return out
}

// resume lets host flows go on that are under way, at their allocation. What has sent though nothing is
// remembered of it, as after a change of leaders, is allocated anew.
func (q *queue) resume() {
	if q.Preempt {
		return
	}
	var lost []int
	for i, k := range q.keys {
		if r, known := q.base[k]; known {
			q.send(i, min(r, q.narrowest(i)))
		} else if q.begun[i] {
			lost = append(lost, i)
		}
	}
	q.together(lost)
}

// admit has those send that are selected.
func (q *queue) admit() {
	var order []int
	for i := range q.keys {
		if q.rate[i] == 0 {
			order = append(order, i)
		}
	}
	by := func(a, b int) int { return 0 }
	switch q.Select {
	case SLF:
		by = func(a, b int) int { return cmp.Compare(q.in.Volume[a], q.in.Volume[b]) }
	case InTurn:
		by = func(a, b int) int { return cmp.Compare(q.since[a], q.since[b]) }
	}
	slices.SortStableFunc(order, by) // keys are in order
	if q.Select == InTurn {
		for _, i := range order {
			if q.open(i) {
				q.send(i, q.narrowest(i))
			}
		}
		return
	}
	q.together(q.choose(order))
}

// choose is the selection. VFF looks at each host flow alone, the others take what a selected one could
// have.
func (q *queue) choose(order []int) (out []int) {
	kept := slices.Clone(q.free)
	for len(order) > 0 {
		order = slices.DeleteFunc(order, func(i int) bool { return !q.open(i) })
		best := -1
		for _, i := range order {
			if best < 0 || q.Select == SFF && q.in.Volume[i]/q.narrowest(i) < q.in.Volume[best]/q.narrowest(best) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		out = append(out, best)
		order = slices.DeleteFunc(order, func(i int) bool { return i == best })
		if q.Select != VFF {
			w := q.narrowest(best)
			for _, l := range q.paths[best] {
				q.free[l] -= w
			}
		}
	}
	q.free = kept
	return out
}

// open reports whether what is left of a host flow's path is enough to begin on.
func (q *queue) open(i int) bool {
	for _, l := range q.paths[i] {
		if q.free[l] <= valid*q.in.Capacity[l] {
			return false
		}
	}
	return true
}

func (q *queue) narrowest(i int) float64 {
	least := math.Inf(1)
	for _, l := range q.paths[i] {
		least = min(least, max(0, q.free[l]))
	}
	return least
}

func (q *queue) send(i int, rate float64) {
	q.rate[i] = rate
	for _, l := range q.paths[i] {
		q.free[l] -= rate
	}
}

// together gives host flows the rates of OptBA-TTT on what is free.
func (q *queue) together(some []int) {
	for k, rate := range q.shared(some, q.free) {
		q.send(some[k], rate)
	}
}

// shared returns the rates of some host flows on given links; those with a link that has nothing left
// get none.
func (q *queue) shared(some []int, free []float64) []float64 {
	in := certified.Instance{Capacity: slices.Clone(free)}
	for l := range in.Capacity {
		in.Capacity[l] = max(0, in.Capacity[l])
	}
	var of []int
	var paths [][]int32
	for k, i := range some {
		if !slices.ContainsFunc(q.paths[i], func(l int32) bool { return in.Capacity[l] <= 0 }) {
			in.Volume, paths, of = append(in.Volume, q.in.Volume[i]), append(paths, q.paths[i]), append(of, k)
		}
	}
	out := make([]float64, len(some))
	a := OptBA{Total: true}
	rates, _ := a.rates(&in, paths)
	for n, rate := range rates {
		out[of[n]] = rate
	}
	return out
}

// distribute is the DRB procedure: all that send share all links.
func (q *queue) distribute() {
	var some []int
	for i, r := range q.rate {
		if r > 0 {
			some = append(some, i)
		}
	}
	rates := q.shared(some, q.in.Capacity)
	q.free = slices.Clone(q.in.Capacity)
	for k, i := range some {
		q.send(i, rates[k])
	}
	if !q.Preempt {
		return
	}
	var rest []int
	for i, r := range q.rate {
		if r == 0 {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(q.in.Volume[a], q.in.Volume[b]) })
	for _, i := range rest {
		if q.open(i) {
			q.send(i, q.narrowest(i))
		}
	}
}
