// Package control runs the infinite-network control of experiments.
package control

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/lab/replay"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// The infinite-network control of a run: the same jobs on the same hosts, which give their slots in the
// same order, while bytes take no time. What is left of the time is slots and computing, so the control
// bounds what any network scheduler can gain.

// slotTimes is a policy that notes when it gave each task its first slot.
type slotTimes struct {
	controller.Policy
	given map[controller.JobID][]time.Duration // by task; below zero: none
}

// watched returns a maker of the policy, and where to find what the one that it makes has noted.
func watched(name string, with func() controller.Policy) (func() controller.Policy, *slotTimes, error) {
	s := &slotTimes{given: map[controller.JobID][]time.Duration{}}
	if with != nil {
		s.Policy = with()
		return func() controller.Policy { return s }, s, nil
	}
	var err error
	s.Policy, err = policy.New(name, policy.Options{})
	return func() controller.Policy { return s }, s, err
}

// Decide implements controller.Policy.
func (s *slotTimes) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	p := s.Policy.Decide(v, ev)
	for i := range p.Place {
		x := &p.Place[i]
		at := s.given[x.Job]
		if at == nil {
			at = slices.Repeat([]time.Duration{-1}, len(x.Hosts))
			s.given[x.Job] = at
		}
		for t, h := range x.Hosts {
			if h != controller.NoHost && at[t] < 0 {
				at[t] = v.Now
			}
		}
	}
	return p
}

// Run is a run with its control.
type Run struct {
	*replay.Ran
	free map[controller.JobID]time.Duration // when a job would have ended without a network, of those that ended
}

// Of runs a case on the simulator, and its control.
func Of(ctx context.Context, c *replay.Case) (*Run, error) {
	with, times, err := watched(c.Policies[0], c.With)
	if err != nil {
		return nil, err
	}
	spec, err := topo.FromArgument(c.Fabric)
	if err != nil {
		return nil, err
	}
	c.With = with
	r, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	var placed []*controller.Job
	for _, j := range r.State.Jobs {
		placed = append(placed, &j.Job)
	}
	f := &freeRun{jobs: placed, tasks: r.State.Tasks, given: times.given, slots: spec.WithDefaults().Slots}
	return &Run{Ran: r, free: f.ends()}, nil
}

// freeRun makes the control of a run, in which every task takes one slot.
type freeRun struct {
	jobs  []*controller.Job
	tasks []controller.TaskState
	given map[controller.JobID][]time.Duration
	slots int // of a host

	got  []time.Duration             // by task of all jobs: when it has its slot
	end  []time.Duration             // by task of all jobs
	held map[southbound.HostID][]int // tasks in the order in which they get slots of the host

	slotEnds []time.Duration // memory that calls of slot reuse
}

const unknown = time.Duration(math.MaxInt64)

// ends returns when each job ends. A task has its slot no later than in the run: of the tasks before it
// on its host, fewer than there are slots still hold one then.
func (f *freeRun) ends() map[controller.JobID]time.Duration {
	f.got = make([]time.Duration, len(f.tasks))
	f.end = slices.Repeat([]time.Duration{unknown}, len(f.tasks))
	f.held = map[southbound.HostID][]int{}
	order := f.order()
	for len(order) > 0 {
		n := 1 // those that one decision gives a job
		for n < len(order) && order[n].job == order[0].job && order[n].at == order[0].at {
			n++
		}
		f.grant(order[0].job, order[:n])
		f.finish(order[0].job)
		order = order[n:]
	}
	out := map[controller.JobID]time.Duration{}
	for _, j := range f.jobs {
		end := j.Arrival
		for t := range j.Tasks() {
			end = max(end, f.end[int(j.FirstTask)+t])
		}
		if end != unknown {
			out[j.ID] = end
		}
	}
	return out
}

// grant is one task that gets its slot.
type grant struct {
	at   time.Duration // in the run
	job  *controller.Job
	task int // of all jobs
}

func (f *freeRun) order() []grant {
	var order []grant
	for _, j := range f.jobs {
		for t, at := range f.given[j.ID] {
			if at >= 0 {
				order = append(order, grant{at, j, int(j.FirstTask) + t})
			}
		}
	}
	slices.SortFunc(order, func(a, b grant) int {
		return cmp.Or(cmp.Compare(a.at, b.at),
			cmp.Compare(a.task, b.task))
	})
	return order
}

// grant gives tasks of a job their slots: those of a gang together, once all have one.
func (f *freeRun) grant(j *controller.Job, tasks []grant) {
	all := j.Arrival
	for _, g := range tasks {
		host := f.tasks[g.task].Host
		f.got[g.task] = f.slot(f.held[host], j.Arrival)
		f.held[host] = append(f.held[host], g.task)
		all = max(all, f.got[g.task])
	}
	for _, g := range tasks {
		if !j.Incremental {
			f.got[g.task] = all
		}
	}
}

// slot is when fewer of some tasks than a host has slots hold one, but not before the given instant.
func (f *freeRun) slot(held []int, from time.Duration) time.Duration {
	ends := f.slotEnds[:0]
	for _, t := range held {
		if f.end[t] > from {
			ends = append(ends, f.end[t])
		}
	}
	f.slotEnds = ends
	if len(ends) < f.slots {
		return from
	}
	slices.Sort(ends)
	return ends[len(ends)-f.slots]
}

// finish works out the ends of a job's tasks as far as their slots are known: a stage that receives
// begins once all of its tasks have a slot and all stages before it have ended.
func (f *freeRun) finish(j *controller.Job) {
	for range j.Stages { // as often as the longest chain is long
		for s := range j.Stages {
			first, last := j.StageTasks(s)
			ready := f.ready(j, s)
			for t := first; t < last && ready != unknown; t++ {
				if g := int(j.FirstTask) + t; f.given[j.ID][t] >= 0 {
					f.end[g] = max(ready, f.got[g]) + j.Stages[s].Tasks[t-first].Takes(f.tasks[g].Slower())
				}
			}
		}
	}
}

// ready is when a stage has all that it waits for; unknown as long as that is not known.
func (f *freeRun) ready(j *controller.Job, stage int) time.Duration {
	at := j.Arrival
	for i := range j.Edges {
		e := &j.Edges[i]
		if !e.FollowsTasks() || e.To != stage {
			continue
		}
		stages := []int{e.From, e.To}
		if e.Reads != nil {
			at, stages = max(at, f.written(e.Reads)), stages[1:]
		}
		if at == unknown {
			return at
		}
		for _, s := range stages {
			first, last := j.StageTasks(s)
			for t := first; t < last; t++ {
				g := int(j.FirstTask) + t
				switch {
				case f.given[j.ID][t] < 0:
					return unknown
				case s == e.To:
					at = max(at, f.got[g])
				case !e.Stream:
					at = max(at, f.end[g])
				}
			}
		}
	}
	return at
}

// written is when a read's parent has ended; unknown before.
func (f *freeRun) written(r *controller.Read) time.Duration {
	at := time.Duration(0)
	if !r.Known {
		return at // a data set
	}
	p := f.jobs[slices.IndexFunc(f.jobs, func(j *controller.Job) bool { return j.ID == r.Parent })]
	for t := range p.Tasks() {
		at = max(at, f.end[int(p.FirstTask)+t])
	}
	return at
}

// Bound returns how many per cent of the mean JCT and of the makespan a network can change.
func (r *Run) Bound() (jct, makespan float64) {
	var took, free, last, lastFree time.Duration
	first := unknown
	for i := range r.Jobs {
		j := &r.Jobs[i]
		at, ended := r.free[j.ID]
		if !ended {
			continue
		}
		took, free = took+j.End-j.Arrival, free+at-j.Arrival
		last, lastFree, first = max(last, j.End), max(lastFree, at), min(first, j.Arrival)
	}
	return saved(took, free), saved(last-first, lastFree-first)
}

func saved(took, free time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return 100 * float64(took-free) / float64(took)
}
