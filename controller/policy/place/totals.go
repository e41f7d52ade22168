package place

import (
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// totals is what a decision asks of the tasks of an incremental job together. Slices are by stage, and are
// read only.
type totals struct {
	job     *controller.Job
	changes uint64 // Partial.Changes

	first     []int           // a stage's first task, and one more
	unplaced  []int           // tasks without a host
	ended     []int           // tasks that have ended
	receiver  []bool          // it receives from others of the job
	behind    []bool          // not all tasks that it receives from have ended
	lastBegun time.Duration   // when a task that has a host began last, or the job arrived
	latest    time.Duration   // when a task began last; 0 before one has
	ends      []time.Duration // when tasks ended, as far as that was less than Delay before the tasks were summed
	lastLocal time.Duration   // when a task that reads from no other rack began to compute last, or the job arrived
	running   int             // tasks that have a host and have not ended
	reading   int             // tasks that read their blocks over the network
	lost      bool            // a task that has ended has no host

	guide *guided // what the CoScheduler makes of it; nil before it asks
}

// newTotals looks at all tasks of a job; p is nil before one has a host.
func newTotals(now time.Duration, j *controller.Job, p *controller.Partial) *totals {
	n := len(j.Stages)
	room := make([]int, 3*n+1) // one allocation for all, as there are many jobs
	t := &totals{job: j, unplaced: room[:n:n], ended: room[n : 2*n : 2*n], first: room[2*n:],
		lastBegun: j.Arrival, lastLocal: j.Arrival}
	for k := range j.Stages {
		t.first[k+1] = t.first[k] + len(j.Stages[k].Tasks)
		t.unplaced[k] = len(j.Stages[k].Tasks)
	}
	if p != nil {
		for k := range j.Stages {
			for i := t.first[k]; i < t.first[k+1]; i++ {
				t.add(now, k, p.Hosts[i], &p.Tasks[i])
			}
		}
	}
	t.findReceivers()
	return t
}

// add counts a task that a policy has put on a host.
func (t *totals) add(now time.Duration, stage int, at southbound.HostID, x *controller.TaskState) {
	begun := x.Begun()
	t.latest = max(t.latest, begun)
	if !x.NonLocal {
		t.lastLocal = max(t.lastLocal, x.Started)
	}
	if x.Host != controller.NoHost {
		t.unplaced[stage]--
		t.lastBegun = max(t.lastBegun, begun)
	}
	if x.Reading {
		t.reading++
	}
	switch {
	case x.Ended >= 0:
		t.ended[stage]++
		t.lost = t.lost || x.Host == controller.NoHost
		if x.Ended > now-Delay {
			t.ends = append(t.ends, x.Ended)
		}
	case at != controller.NoHost:
		t.running++
	}
}

// findReceivers finds what each stage receives from.
func (t *totals) findReceivers() {
	n := len(t.job.Stages)
	both := make([]bool, 2*n)
	t.receiver, t.behind = both[:n:n], both[n:]
	for i := range t.job.Edges {
		if e := &t.job.Edges[i]; e.Kind != controller.Fixed {
			t.receiver[e.To] = true
			t.behind[e.To] = t.behind[e.To] || t.ended[e.From] < t.first[e.From+1]-t.first[e.From]
		}
	}
}

// jobMemory keeps the totals of jobs. It is scratch: what it holds would be summed again.
type jobMemory struct {
	waiting, begun map[controller.JobID]*totals
}

// of returns the totals of a job; p is nil before one of its tasks has a host. It remembers nothing where the view
// counts no changes.
func (m *jobMemory) of(v *controller.View, j *controller.Job, p *controller.Partial) *totals {
	if m == nil || v.TaskChanges == 0 || p != nil && p.Changes == 0 {
		return newTotals(v.Now, j, p)
	}
	changes, in := uint64(0), &m.waiting
	if p != nil {
		changes, in = p.Changes, &m.begun
	}
	if t := (*in)[j.ID]; t != nil && t.job == j && t.changes == changes {
		return t
	}
	if *in == nil || len(*in) > 2*max(len(v.Partial), len(v.Waiting))+64 {
		*in = map[controller.JobID]*totals{} // most of those that it held are over
	}
	t := newTotals(v.Now, j, p)
	t.changes = changes
	(*in)[j.ID] = t
	return t
}

// forget drops the totals of all jobs, which are over.
func (m *jobMemory) forget() {
	if m != nil {
		*m = jobMemory{}
	}
}
