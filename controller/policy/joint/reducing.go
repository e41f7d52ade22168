package joint

import (
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// reducingJob is the part of an incremental job that a decision about tasks that receive is about: the
// stages that they receive from, whose tasks have ended, and these tasks.
type reducingJob struct {
	job   *controller.Job
	fixed []southbound.HostID // by task of job
	first int                 // task of job that is to be placed first
}

// reducing leaves out of a job what has no host or is not linked to the stage of those tasks.
func reducing(j *controller.Job, hosts []southbound.HostID, tasks []int) reducingJob {
	to := 0
	for first, end := j.StageTasks(to); tasks[0] < first || tasks[0] >= end; first, end = j.StageTasks(to) {
		to++
	}
	part := &controller.Job{ID: j.ID, FirstCoflow: j.FirstCoflow, Arrival: j.Arrival, Incremental: true}
	out := reducingJob{job: part}
	number := make([]int, len(j.Stages))
	for s := range number {
		number[s] = -1
	}
	for k := range j.Edges {
		e := &j.Edges[k]
		if e.Kind == controller.Fixed || e.To != to || number[e.From] >= 0 {
			continue
		}
		number[e.From] = len(part.Stages)
		stage := controller.Stage{}
		first, end := j.StageTasks(e.From)
		for t := first; t < end; t++ {
			stage.Tasks = append(stage.Tasks, controller.Task{})
			out.fixed = append(out.fixed, hosts[t])
		}
		part.Stages = append(part.Stages, stage)
	}
	out.first = len(out.fixed)
	stage := controller.Stage{}
	first, end := j.StageTasks(to)
	var chosen []int // within the stage
	for t := first; t < end; t++ {
		if hosts[t] != controller.NoHost || !slices.Contains(tasks, t) {
			continue
		}
		chosen = append(chosen, t-first)
		stage.Tasks = append(stage.Tasks, j.Stages[to].Tasks[t-first])
		out.fixed = append(out.fixed, controller.NoHost)
	}
	share := float64(len(stage.Tasks)) / float64(end-first)
	number[to] = len(part.Stages)
	part.Stages = append(part.Stages, stage)
	for k := range j.Edges {
		e := j.Edges[k]
		if e.Kind == controller.Fixed || e.To != to {
			continue
		}
		e.From, e.To = number[e.From], number[to]
		if e.Kind == controller.OneToOne && len(part.Stages[e.From].Tasks) != len(stage.Tasks) {
			e.Kind = controller.ScatterGather
		}
		if e.Reducers == nil {
			e.Bytes = pathmap.Bytes(float64(e.Bytes) * share)
		} else {
			e = reducers(e, chosen)
		}
		part.Edges = append(part.Edges, e)
	}
	return out
}

// reducers is an edge of which some tasks alone receive their parts.
func reducers(e controller.Edge, chosen []int) controller.Edge {
	whole, got := e, 0.0
	parts := whole.Parts(len(whole.Reducers))
	e.Reducers = nil
	for _, k := range chosen {
		e.Reducers, got = append(e.Reducers, whole.Reducers[k]), got+parts[k]
	}
	if e.Bytes = pathmap.Bytes(float64(whole.Bytes) * got); got == 0 {
		e.Reducers = nil // parts of nothing
	}
	return e
}
