package anneal

import (
	"math"
	"slices"
)

// worth is what the flows of a network are worth to the jobs that they belong to. A sink is a task that reads and sends
// to nobody. It is worth the least rate of all that flows on a way through the dataflow graph from a root to it, circles
// included; a root or reader on the same host is as good as the host's own link. The utility is the sum over all sinks.
//
// Flows come in groups that are asked together: those of one edge that does not lead to a sink, or those that lead to
// the sinks of one stage on one host.
type worth struct {
	groups  []group
	sinks   []sinks
	jobs    []job
	dirty   []int32 // jobs to be valued again
	utility int64
}

type group struct {
	members []int32
	least   int64 // rate of a pair of tasks among its members; math.MaxInt64 where it has none
	stale   bool  // least has to be found anew
	job     int32
}

// sinks are the tasks of one sink stage on one host.
type sinks struct {
	group int32
	count int32
	place int32 // among those of its stage that hold tasks; -1 while it holds none
	stage int32 // of its job
	local int64 // the host's own link
}

type job struct {
	stages []sinkStage
	value  int64
	marked bool
}

// sinkStage is one stage of sinks.
type sinkStage struct {
	up []int32 // groups of the edges upstream that lead to no sink
	at []int32 // sinks that hold tasks
}

func (w *worth) clone() worth {
	c := *w
	c.groups, c.sinks, c.jobs = slices.Clone(w.groups), slices.Clone(w.sinks), slices.Clone(w.jobs)
	c.dirty = slices.Clone(w.dirty)
	members := 0
	for g := range w.groups {
		members += len(w.groups[g].members)
	}
	all := make([]int32, 0, members)
	for g := range w.groups {
		at := len(all)
		all = append(all, w.groups[g].members...)
		c.groups[g].members = all[at:len(all):len(all)]
	}
	for j := range w.jobs {
		c.jobs[j].stages = slices.Clone(w.jobs[j].stages)
		for s := range c.jobs[j].stages {
			c.jobs[j].stages[s].at = slices.Clone(w.jobs[j].stages[s].at)
		}
	}
	return c
}

func (w *worth) addJob(sinkStages int) int32 {
	w.jobs = append(w.jobs, job{stages: make([]sinkStage, sinkStages)})
	return int32(len(w.jobs) - 1)
}

func (w *worth) addGroup(j int32) int32 {
	w.groups = append(w.groups, group{job: j, least: math.MaxInt64})
	return int32(len(w.groups) - 1)
}

// addSinks returns new sinks that hold no task yet.
func (w *worth) addSinks(j, stage int32, local int64) int32 {
	w.sinks = append(w.sinks, sinks{group: w.addGroup(j), place: -1, stage: stage, local: local})
	return int32(len(w.sinks) - 1)
}

// count changes how many tasks sinks hold.
func (w *worth) count(k, by int32) {
	s := &w.sinks[k]
	s.count += by
	j := w.groups[s.group].job
	st := &w.jobs[j].stages[s.stage]
	switch {
	case s.count > 0 && s.place < 0:
		s.place = int32(len(st.at))
		st.at = append(st.at, k)
	case s.count == 0 && s.place >= 0:
		last := len(st.at) - 1
		st.at[s.place] = st.at[last]
		w.sinks[st.at[last]].place = s.place
		st.at, s.place = st.at[:last], -1
	}
	w.mark(j)
}

func (w *worth) mark(j int32) {
	if !w.jobs[j].marked {
		w.jobs[j].marked = true
		w.dirty = append(w.dirty, j)
	}
}

// changed notes that a member of a group has another rate.
func (n *network) changed(g int32, was, is int64) {
	gr := &n.groups[g]
	switch {
	case gr.stale:
	case is < gr.least:
		gr.least = is
		n.mark(gr.job)
	case is > was && was == gr.least:
		gr.stale = true
		n.mark(gr.job)
	}
}

// least returns the least rate of a group's members.
func (n *network) least(g int32) int64 {
	gr := &n.groups[g]
	if gr.stale {
		gr.stale, gr.least = false, math.MaxInt64
		n.work += int64(len(gr.members))
		for _, f := range gr.members {
			gr.least = min(gr.least, n.flows[f].each)
		}
	}
	return gr.least
}

// value settles what has changed and returns the utility: the sum over all sinks.
func (n *network) value() int64 {
	for _, k := range n.dirty {
		j := &n.jobs[k]
		j.marked = false
		v := n.appraise(j)
		n.utility += v - j.value
		j.value = v
	}
	n.dirty = n.dirty[:0]
	return n.utility
}

func (n *network) appraise(j *job) int64 {
	sum := int64(0)
	for i := range j.stages {
		st := &j.stages[i]
		if len(st.at) == 0 {
			continue
		}
		up := int64(math.MaxInt64)
		for _, g := range st.up {
			up = min(up, n.least(g))
		}
		for _, k := range st.at {
			s := &n.sinks[k]
			sum += int64(s.count) * min(up, s.local, n.least(s.group))
		}
	}
	return sum
}
