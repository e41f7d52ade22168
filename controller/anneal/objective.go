package anneal

import (
	"math"
	"slices"
)

// objective is what the flows of a network are worth to their jobs. A sink is a task that reads and
// does not send. Its utility is the least rate of all flows on the paths (cycles included) through the
// dataflow graph from a root to it; a root or reader on the same host counts as the host's own link.
// The objective is the sum over all sinks.
//
// Flows come in groups that are asked together: those of one edge that does not lead to a sink, or
// those that lead to the sinks of one stage on one host.
type objective struct {
	groups  []group
	sinks   []sinks
	jobs    []job
	dirty   []int32 // jobs of whose edges upstream the least rate has possibly changed
	late    []int32 // sinks to be valued again
	utility int64
}

type group struct {
	members []int32
	each    []int64 // by member: rate of a pair of tasks; beside each other, for they are read far more often than written
	least   int64   // of each; math.MaxInt64 where there is none
	stale   bool    // least has to be found anew
	job     int32
	sinks   int32 // whose group it is; below zero: it is of an edge upstream of some, or of none
}

// sinks are the tasks of one sink stage on one host.
type sinks struct {
	group int32
	count int32
	place int32 // among those of its stage that hold tasks; -1 while it holds none
	stage int32 // of its job
	local int64 // the host's own link

	value  int64
	marked bool // to be valued again
}

type job struct {
	stages []sinkStage
	value  int64 // of its sinks
	marked bool
}

// sinkStage is one stage of sinks.
type sinkStage struct {
	up    []int32 // groups of the edges upstream that lead to no sink
	at    []int32 // sinks that hold tasks
	least int64   // rate of up
	stale bool    // least has to be found anew
}

func (w *objective) clone() objective {
	c := *w
	c.groups, c.sinks, c.jobs = slices.Clone(w.groups), slices.Clone(w.sinks), slices.Clone(w.jobs)
	c.dirty, c.late = slices.Clone(w.dirty), slices.Clone(w.late)
	members := 0
	for g := range w.groups {
		members += len(w.groups[g].members)
	}
	all, each := make([]int32, 0, members), make([]int64, 0, members)
	for g := range w.groups {
		at := len(all)
		all, each = append(all, w.groups[g].members...), append(each, w.groups[g].each...)
		c.groups[g].members, c.groups[g].each = all[at:len(all):len(all)], each[at:len(each):len(each)]
	}
	for j := range w.jobs {
		c.jobs[j].stages = slices.Clone(w.jobs[j].stages)
		for s := range c.jobs[j].stages {
			c.jobs[j].stages[s].at = slices.Clone(w.jobs[j].stages[s].at)
		}
	}
	return c
}

func (w *objective) addJob(sinkStages int) int32 {
	j := job{stages: make([]sinkStage, sinkStages)}
	for s := range j.stages {
		j.stages[s].stale = true
	}
	w.jobs = append(w.jobs, j)
	return int32(len(w.jobs) - 1)
}

func (w *objective) addGroup(j int32) int32 {
	w.groups = append(w.groups, group{job: j, least: math.MaxInt64, sinks: -1})
	return int32(len(w.groups) - 1)
}

// addSinks returns new sinks that hold no task yet.
func (w *objective) addSinks(j, stage int32, local int64) int32 {
	k := int32(len(w.sinks))
	w.sinks = append(w.sinks, sinks{group: w.addGroup(j), place: -1, stage: stage, local: local})
	w.groups[w.sinks[k].group].sinks = k
	return k
}

// count changes how many tasks sinks hold.
func (w *objective) count(k, by int32) {
	s := &w.sinks[k]
	s.count += by
	st := &w.jobs[w.groups[s.group].job].stages[s.stage]
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
	w.markSinks(k)
}

func (w *objective) markSinks(k int32) {
	if !w.sinks[k].marked {
		w.sinks[k].marked = true
		w.late = append(w.late, k)
	}
}

func (w *objective) mark(gr *group) {
	if gr.sinks >= 0 {
		w.markSinks(gr.sinks)
		return
	}
	if j := &w.jobs[gr.job]; !j.marked {
		j.marked = true
		w.dirty = append(w.dirty, gr.job)
	}
}

// enlist makes a flow that has no rate yet a member of a group, and returns its place there.
func (w *objective) enlist(g, f int32) (place int32) {
	gr := &w.groups[g]
	gr.members, gr.each = append(gr.members, f), append(gr.each, math.MaxInt64)
	return int32(len(gr.members) - 1)
}

// dismiss takes the member at a place out of a group: the last one comes there.
func (n *network) dismiss(g, place int32) {
	gr := &n.groups[g]
	last := len(gr.members) - 1
	gr.members[place], gr.each[place] = gr.members[last], gr.each[last]
	n.flows[gr.members[place]].place = place
	gr.members, gr.each = gr.members[:last], gr.each[:last]
}

// changed notes that the member at a place of a group has another rate.
func (w *objective) changed(g, place int32, was, is int64) {
	gr := &w.groups[g]
	gr.each[place] = is
	switch {
	case gr.stale:
	case is < gr.least:
		gr.least = is
		w.mark(gr)
	case is > was && was == gr.least:
		gr.stale = true
		w.mark(gr)
	}
}

// least returns the least rate of a group's members.
func (w *objective) least(g int32) int64 {
	gr := &w.groups[g]
	if gr.stale {
		gr.stale, gr.least = false, math.MaxInt64
		for _, r := range gr.each {
			gr.least = min(gr.least, r)
		}
	}
	return gr.least
}

// value brings up to date what has changed and returns the utility: the sum over all sinks.
func (w *objective) value() int64 {
	for _, k := range w.dirty {
		j := &w.jobs[k]
		j.marked = false
		for i := range j.stages {
			st := &j.stages[i]
			was := st.least
			if st.stale = true; len(st.at) == 0 || w.upstream(st) == was {
				continue
			}
			for _, s := range st.at {
				w.appraise(s)
			}
		}
	}
	for _, s := range w.late {
		w.sinks[s].marked = false
		w.appraise(s)
	}
	w.dirty, w.late = w.dirty[:0], w.late[:0]
	return w.utility
}

// upstream returns the least rate of what leads to a stage of sinks, but for the last edges.
func (w *objective) upstream(st *sinkStage) int64 {
	if st.stale {
		st.stale, st.least = false, math.MaxInt64
		for _, g := range st.up {
			st.least = min(st.least, w.least(g))
		}
	}
	return st.least
}

// has reports whether a group is of an edge that leads to the stage, and to no sink.
func (st *sinkStage) has(g int32) bool { return slices.Contains(st.up, g) }

// appraise re-values sinks.
func (w *objective) appraise(k int32) {
	s := &w.sinks[k]
	j := &w.jobs[w.groups[s.group].job]
	v := int64(0)
	if s.count > 0 {
		v = int64(s.count) * min(w.upstream(&j.stages[s.stage]), s.local, w.least(s.group))
	}
	j.value += v - s.value
	w.utility += v - s.value
	s.value = v
}
