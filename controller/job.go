package controller

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// JobID is given when a job is accepted, dense from 0 in the order of acceptance.
type JobID int32

// Job is what is asked for: stages of tasks, and the edges that carry bytes between them. A bare coflow is a job
// without stages and with edges whose flows are fixed.
//
// ID, FirstTask and FirstCoflow are given at acceptance; what a user writes there is ignored.
type Job struct {
	ID          JobID               `json:"id"`
	FirstTask   southbound.TaskID   `json:"first_task"`
	FirstCoflow southbound.CoflowID `json:"first_coflow"`

	Name    string        `json:"name"`
	User    string        `json:"user,omitempty"`
	Arrival time.Duration `json:"arrival_ns"` // instant of the run; on a live controller the instant of acceptance
	Weight  float64       `json:"weight,omitempty"`
	// Deadline is how long after its arrival the job is to have ended; 0: it has none.
	Deadline time.Duration `json:"deadline_ns,omitempty"`
	Stages   []Stage       `json:"stages,omitempty"`
	Edges    []Edge        `json:"edges,omitempty"`
}

// Stage is a set of tasks that start together: once every edge into the stage has delivered.
type Stage struct {
	Name  string `json:"name"`
	Tasks []Task `json:"tasks"`
}

// Task computes for a while on one slot of a host.
type Task struct {
	Compute time.Duration `json:"compute_ns"`
}

// EdgeKind says which tasks of an edge's stages talk.
type EdgeKind uint8

// The kinds of edges.
const (
	Fixed         EdgeKind = iota // the flows are given with their hosts: a bare coflow
	ScatterGather                 // every task to every task, bytes split evenly (a shuffle)
	OneToOne                      // task i to task i, bytes split evenly; stages of equal size
	Broadcast                     // every task sends all of its even share to every task
)

// Edge is one coflow: it starts when all tasks of From have ended, and To starts when all of its edges have delivered.
type Edge struct {
	Kind  EdgeKind      `json:"kind"`
	From  int           `json:"from"`            // index of a stage; unused where Fixed
	To    int           `json:"to"`              // index of a stage; unused where Fixed
	Bytes pathmap.Bytes `json:"bytes,omitempty"` // payload; unused where Fixed
	Flows []Flow        `json:"flows,omitempty"` // Fixed only

	// KeepLocal makes bundles of flows between a host and itself too, on fabrics that carry them over both directions of
	// the host's port. Fixed only.
	KeepLocal bool `json:"keep_local,omitempty"`
}

// Flow is payload between two hosts; Count is how many flows of the trace it stands for (0 means 1).
type Flow struct {
	Src   southbound.HostID `json:"src"`
	Dst   southbound.HostID `json:"dst"`
	Bytes pathmap.Bytes     `json:"bytes"`
	Count int32             `json:"count,omitempty"`
}

// Tasks returns the number of tasks of all stages.
func (j *Job) Tasks() int {
	n := 0
	for i := range j.Stages {
		n += len(j.Stages[i].Tasks)
	}
	return n
}

// StageTasks returns the half-open range of a stage's tasks, counted within the job.
func (j *Job) StageTasks(stage int) (first, end int) {
	for i := range j.Stages[:stage] {
		first += len(j.Stages[i].Tasks)
	}
	return first, first + len(j.Stages[stage].Tasks)
}

// Limits of one job, so that a mistaken or hostile submission cannot exhaust the controller.
const (
	MaxTasks = 1 << 16
	MaxFlows = 1 << 20
	MaxBytes = pathmap.Bytes(1 << 50)
)

// Check says what is wrong with a job on a fabric of that many hosts and slots (all hosts together), or nil.
func (j *Job) Check(hosts, slots int) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("job %q: %w", j.Name, fmt.Errorf(format, args...))
	}
	switch n := j.Tasks(); {
	case len(j.Stages) == 0 && len(j.Edges) == 0:
		return fail("has neither stages nor flows")
	case n > MaxTasks:
		return fail("has %d tasks, at most %d are taken", n, MaxTasks)
	case n > slots:
		return fail("has %d tasks, the fabric has %d slots: add hosts or slots", n, slots)
	case j.Arrival < 0:
		return fail("arrives before the run, at %v", j.Arrival)
	case j.Deadline < 0 || j.Deadline > southbound.Never-1-j.Arrival:
		return fail("is to end %v after its arrival at %v; take a time above zero, or none", j.Deadline, j.Arrival)
	}
	for i, s := range j.Stages {
		if len(s.Tasks) == 0 {
			return fail("stage %d (%q) has no tasks", i, s.Name)
		}
		for k, t := range s.Tasks {
			if t.Compute < 0 {
				return fail("task %d of stage %d computes for %v, which is below zero", k, i, t.Compute)
			}
		}
	}
	for i := range j.Edges {
		if err := j.checkEdge(&j.Edges[i], hosts); err != nil {
			return fail("edge %d: %w", i, err)
		}
	}
	if err := j.acyclic(); err != nil {
		return fail("%w", err)
	}
	return nil
}

func (j *Job) checkEdge(e *Edge, hosts int) error {
	if e.Kind == Fixed {
		if len(e.Flows) == 0 {
			return errors.New("has no flows")
		}
		if len(e.Flows) > MaxFlows {
			return fmt.Errorf("has %d flows, at most %d are taken", len(e.Flows), MaxFlows)
		}
		sum := pathmap.Bytes(0)
		for _, f := range e.Flows {
			switch {
			case f.Src < 0 || int(f.Src) >= hosts || f.Dst < 0 || int(f.Dst) >= hosts:
				return fmt.Errorf("flow %d→%d: the fabric's hosts are 0 to %d", f.Src, f.Dst, hosts-1)
			case f.Bytes <= 0 || f.Bytes > MaxBytes:
				return fmt.Errorf("flow %d→%d: %d bytes; take 1 to %d", f.Src, f.Dst, f.Bytes, MaxBytes)
			}
			if sum += f.Bytes; sum > MaxBytes {
				return fmt.Errorf("flows hold more than %d bytes", MaxBytes)
			}
		}
		return nil
	}
	n := len(j.Stages)
	switch {
	case e.Kind > Broadcast:
		return fmt.Errorf("kind %d is unknown", e.Kind)
	case e.From < 0 || e.From >= n || e.To < 0 || e.To >= n || e.From == e.To:
		return fmt.Errorf("joins stage %d to %d; the job's stages are 0 to %d", e.From, e.To, n-1)
	case len(e.Flows) > 0:
		return errors.New("has fixed flows and is not of kind fixed")
	case e.Bytes < 0 || e.Bytes > MaxBytes:
		return fmt.Errorf("carries %d bytes; take 0 to %d", e.Bytes, MaxBytes)
	case e.Kind == OneToOne && len(j.Stages[e.From].Tasks) != len(j.Stages[e.To].Tasks):
		return errors.New("is one-to-one between stages of unequal size")
	case len(j.Stages[e.From].Tasks)*len(j.Stages[e.To].Tasks) > MaxFlows:
		return fmt.Errorf("has more than %d flows", MaxFlows)
	}
	return nil
}

// acyclic checks that the stages can be ordered.
func (j *Job) acyclic() error {
	waits := make([]int, len(j.Stages))
	for _, e := range j.Edges {
		if e.Kind != Fixed {
			waits[e.To]++
		}
	}
	var ready []int
	for s, n := range waits {
		if n == 0 {
			ready = append(ready, s)
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		s := ready[0]
		ready = ready[1:]
		for _, e := range j.Edges {
			if e.Kind != Fixed && e.From == s {
				if waits[e.To]--; waits[e.To] == 0 {
					ready = append(ready, e.To)
				}
			}
		}
	}
	if done < len(j.Stages) {
		return errors.New("its stages wait for each other in a circle")
	}
	return nil
}

// Columns are the bundles of one coflow, sorted by (Dst, Src): what travels together between two hosts.
type Columns struct {
	Src, Dst []southbound.HostID
	Size     []pathmap.Bytes // above zero
	Flows    []int32         // flows of the trace or pairs of tasks that the bundle holds
	Local    pathmap.Bytes   // bytes whose two ends share a host: they never enter the network
}

// Expand returns the bundles of an edge once its tasks have hosts (hosts is by task of the job; unused where the edge
// is Fixed). It is the one rule, of Apply and of every policy alike. Bytes are split evenly and the remainder is
// carried by the first pairs, a byte each, so that the sum is the edge's.
func Expand(j *Job, e *Edge, hosts []southbound.HostID) Columns {
	if e.Kind == Fixed {
		return gather(e.Flows, e.KeepLocal)
	}
	ff, fe := j.StageTasks(e.From)
	tf, te := j.StageTasks(e.To)
	from, to := hosts[ff:fe], hosts[tf:te]
	var flows []Flow
	switch e.Kind {
	case OneToOne:
		for i := range from {
			flows = append(flows, Flow{Src: from[i], Dst: to[i], Bytes: share(e.Bytes, len(from), i), Count: 1})
		}
	case Broadcast:
		for i := range from {
			for k := range to {
				flows = append(flows, Flow{Src: from[i], Dst: to[k], Bytes: share(e.Bytes, len(from), i), Count: 1})
			}
		}
	case ScatterGather:
		for i := range from {
			for k := range to {
				flows = append(flows, Flow{Src: from[i], Dst: to[k], Bytes: share(e.Bytes, len(from)*len(to), i*len(to)+k), Count: 1})
			}
		}
	}
	return gather(flows, false)
}

func share(total pathmap.Bytes, n, i int) pathmap.Bytes {
	s := total / pathmap.Bytes(n)
	if pathmap.Bytes(i) < total%pathmap.Bytes(n) {
		s++
	}
	return s
}

func gather(flows []Flow, local bool) Columns {
	sorted := slices.Clone(flows)
	slices.SortStableFunc(sorted, func(a, b Flow) int { return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Src, b.Src)) })
	var c Columns
	for _, f := range sorted {
		n := max(f.Count, 1)
		switch last := len(c.Src) - 1; {
		case f.Bytes == 0:
		case f.Src == f.Dst && !local:
			c.Local += f.Bytes
		case last >= 0 && c.Src[last] == f.Src && c.Dst[last] == f.Dst:
			c.Size[last] += f.Bytes
			c.Flows[last] += n
		default:
			c.Src, c.Dst = append(c.Src, f.Src), append(c.Dst, f.Dst)
			c.Size, c.Flows = append(c.Size, f.Bytes), append(c.Flows, n)
		}
	}
	return c
}
