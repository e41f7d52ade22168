package state_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// derived compares everything that a state derives step by step with a computation from all jobs, tasks
// and coflows.
func derived(s *state.State) error {
	d := s.Data()
	var v controller.View
	s.FillView(&v, nil)
	free := slices.Repeat([]int32{int32(s.Fabric().Spec.Slots)}, s.Fabric().Hosts())
	for i, t := range d.Tasks {
		if t.Host >= 0 && t.Ended == state.Unset {
			free[t.Host] -= sizeOf(d, southbound.TaskID(i))
		}
	}
	for _, h := range d.Lost {
		if slices.ContainsFunc(d.Tasks, func(t state.Task) bool {
			return t.Host == h &&
				t.Ended == state.Unset
		}) {
			return fmt.Errorf("a task runs on host %d, which is lost", h)
		}
		free[h] = 0
	}
	if !slices.Equal(free, v.Free) || slices.Min(free) < 0 {
		return fmt.Errorf("free slots %v, want %v", v.Free, free)
	}
	var waiting, blocked []controller.JobID
	var stages []state.StageRef
	var active, ready []southbound.CoflowID
	finished := 0
	for _, j := range d.Jobs {
		switch {
		case j.Cancelled:
			if err := cut(d, j); err != nil {
				return err
			}
			finished++
			continue
		case j.Placed == state.Unset:
			wait, err := reads(d, j)
			if err != nil {
				return err
			}
			if wait {
				blocked = append(blocked, j.ID)
			} else {
				waiting = append(waiting, j.ID)
			}
			continue
		case over(d, j):
			finished++
		}
		if over(d, j) != (j.Ended != state.Unset) {
			return fmt.Errorf("job %d ended %v, and all of it has ended: %v", j.ID, j.Ended, over(d, j))
		}
		for k := range j.Stages {
			if held := streams(d, j, k); held != s.Held(j.ID, int32(k)) || held && done(d, j, k) {
				return fmt.Errorf("job %d: streams hold stage %d: %v, and its tasks have ended: %v", j.ID,
					k, held, done(d, j, k))
			}
			if fresh(d, j, k) && fed(d, j, k) {
				stages = append(stages, state.StageRef{Job: j.ID, Stage: int32(k)})
			}
		}
		for i, c := range d.Coflows {
			id := southbound.CoflowID(i)
			if c.Job != j.ID || c.Ended != state.Unset || c.Waits {
				continue
			}
			active = append(active, id)
			if e := j.EdgeOf(c); c.Started == state.Unset && may(d, j, e) && settled(d, j, e) {
				ready = append(ready, id)
			}
		}
	}
	slices.Sort(active)
	slices.Sort(ready)
	var seen, held []controller.JobID
	for _, j := range v.Waiting {
		seen = append(seen, j.ID)
	}
	for _, j := range v.Blocked {
		held = append(held, j.ID)
	}
	byStage := func(a, b state.StageRef) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job),
			cmp.Compare(a.Stage, b.Stage))
	}
	switch {
	case !slices.Equal(seen, waiting):
		return fmt.Errorf("jobs %v wait, want %v", seen, waiting)
	case !slices.Equal(held, blocked):
		return fmt.Errorf("jobs %v wait for what they read, want %v", held, blocked)
	case !slices.Equal(slices.SortedFunc(slices.Values(s.ReadyStages()), byStage), stages):
		return fmt.Errorf("stages %v may start, want %v", s.ReadyStages(), stages)
	case !slices.Equal(s.Active(), active):
		return fmt.Errorf("coflows %v are active, want %v", s.Active(), active)
	case !slices.Equal(slices.Sorted(slices.Values(s.ReadyCoflows())), ready):
		return fmt.Errorf("coflows %v may start, want %v", s.ReadyCoflows(), ready)
	case s.Finished() != finished:
		return fmt.Errorf("%d jobs have finished, want %d", s.Finished(), finished)
	case v.Turnover != turnover(d):
		return fmt.Errorf("jobs with tasks were placed or ended last at %v, want %v", v.Turnover, turnover(d))
	}
	for _, id := range active {
		if got, want := s.AppendTags(nil, id), tags(s, id); !slices.Equal(got, want) {
			return fmt.Errorf("coflow %d is sent with tags %v, want %v", id, got, want)
		}
		for row, want := range tags(s, id) {
			if got := s.TagOf(id, s.Coflow(id), int32(row)); got != want {
				return fmt.Errorf("row %d of coflow %d is sent with tag %v, want %v", row, id, got, want)
			}
		}
		for in := range southbound.Port(s.Fabric().OCSPorts()) {
			for out := range southbound.Port(s.Fabric().OCSPorts()) {
				r := controller.CircuitReservation{Coflow: id, In: in, Out: out}
				if in != out && s.Idle(&r) != idle(s, &r) {
					return fmt.Errorf("reservation %d→%d for coflow %d is idle: %v", in, out, id, s.Idle(&r))
				}
			}
		}
	}
	return nil
}

// turnover is when a job with tasks was placed, or one ended, last: standalone coflows hold no slots.
func turnover(d *state.Data) (last time.Duration) {
	for _, j := range d.Jobs {
		if len(j.Job.Stages) > 0 {
			last = max(last, j.Placed, j.Ended)
		}
	}
	return last
}

// reads reports whether a job waits for what it reads. It is an error if it is told to read where its
// parent has not written.
func reads(d *state.Data, j *state.Job) (wait bool, err error) {
	for i := range j.Edges {
		r := j.Edges[i].Reads
		if r == nil {
			continue
		}
		if r.Job != "" {
			k := slices.IndexFunc(d.Jobs, func(p *state.Job) bool { return r.Known && p.ID == r.Parent })
			if k < 0 || d.Jobs[k].Ended == state.Unset || d.Jobs[k].Cancelled && !d.Jobs[k].Expired {
				wait = true
				continue
			}
			var at []southbound.HostID
			for _, t := range d.Jobs[k].Outputs() {
				if h := d.Tasks[int(d.Jobs[k].FirstTask)+t].Host; h >= 0 {
					at = append(at, h)
				}
			}
			if !slices.Equal(at, r.Hosts) {
				return false, fmt.Errorf("job %d reads what %q wrote on hosts %v, want %v", j.ID, r.Job, r.Hosts, at)
			}
		}
		for _, h := range r.Hosts {
			wait = wait || slices.Contains(d.Lost, h)
		}
	}
	return wait, nil
}

// idle reports whether no row of a reservation's coflow that has not ended goes from its one rack to
// the other.
func idle(s *state.State, r *controller.CircuitReservation) bool {
	f, c := s.Fabric(), s.Coflow(r.Coflow)
	for row, done := range c.Done {
		if !done && f.HostRack[c.Columns.Src[row]] == f.OCSRack(int32(r.In)) &&
			f.HostRack[c.Columns.Dst[row]] == f.OCSRack(int32(r.Out)) {
			return false
		}
	}
	return true
}

// sizeOf is how many slots a task takes.
func sizeOf(d *state.Data, id southbound.TaskID) int32 {
	j := d.Jobs[d.Tasks[id].Job]
	n := int(id - j.FirstTask)
	for k := range j.Job.Stages {
		if tasks := j.Job.Stages[k].Tasks; n < len(tasks) {
			return max(1, tasks[n].Slots)
		} else {
			n -= len(tasks)
		}
	}
	panic("no such task")
}

// cut reports whether something of a cancelled job goes on.
func cut(d *state.Data, j *state.Job) error {
	for i := range d.Tasks {
		if t := &d.Tasks[i]; t.Job == j.ID && t.Ended == state.Unset {
			return fmt.Errorf("job %d was cancelled, and its task %d goes on", j.ID, i)
		}
	}
	for i, c := range d.Coflows {
		if c.Job == j.ID && (c.Ended == state.Unset || c.Remaining != 0 || c.Bytes < 0 || c.Rack < 0 ||
			c.Rack > c.Bytes ||
			c.Local < 0 || slices.Contains(c.Done, false)) {
			return fmt.Errorf("job %d was cancelled, and its coflow %d is %+v", j.ID, i, c)
		}
	}
	for _, r := range d.Ledger {
		if r.Coflow >= 0 && d.Coflows[r.Coflow].Job == j.ID && !r.Begun {
			return fmt.Errorf("job %d was cancelled, and %+v stands for it", j.ID, r)
		}
	}
	return nil
}

// tags is AppendTags, row by row and reservation by reservation.
func tags(s *state.State, id southbound.CoflowID) (out []southbound.Tag) {
	c := s.Coflow(id)
	for row, tag := range c.Tag {
		in, to := southbound.Port(s.RackOf(c.Columns.Src[row])), southbound.Port(s.RackOf(c.Columns.Dst[row]))
		for _, r := range s.Ledger() {
			at := s.Circuit(r.In)
			switch {
			case r.In != in || r.Out != to || r.Coflow != id && r.Coflow != controller.AnyCoflow || tag == southbound.TagCircuit:
			case r.Begun && at.Phase == controller.InService && at.Out == r.Out:
				tag = southbound.TagCircuit
			case r.Fallback == controller.Hold:
				tag = southbound.TagHold
			}
		}
		out = append(out, tag)
	}
	return out
}

// fresh reports whether a stage has tasks that have a host and have not begun there.
func fresh(d *state.Data, j *state.Job, stage int) bool {
	first, end := j.StageTasks(stage)
	return slices.ContainsFunc(d.Tasks[int(j.FirstTask)+first:int(j.FirstTask)+end], func(t state.Task) bool {
		return t.Host >= 0 && t.Started == state.Unset && t.Ended == state.Unset && !t.Reading
	})
}

// settled reports whether all tasks of an edge have hosts.
func settled(d *state.Data, j *state.Job, e *controller.Edge) bool {
	for i := range j.Hosts {
		t := d.Tasks[int(j.FirstTask)+i]
		if e.FollowsTasks() && (e.Reads == nil && int(t.Stage) == e.From || int(t.Stage) == e.To) && t.Host < 0 {
			return false
		}
	}
	return true
}

// delivered reports whether everything that an edge carries has been received.
func delivered(d *state.Data, j *state.Job, edge int) bool {
	return !slices.ContainsFunc(d.Coflows, func(c *state.Coflow) bool {
		return c.Job == j.ID && int(c.Edge) == edge && c.Ended == state.Unset
	})
}

// may reports whether an edge's host flows may be sent.
func may(d *state.Data, j *state.Job, e *controller.Edge) bool {
	begun := func(stage int) bool { return j.Stages[stage].Started }
	switch {
	case e.Kind == controller.Fixed:
		return true
	case e.Stream:
		return begun(e.From) && begun(e.To)
	}
	return done(d, j, e.From)
}

// streams reports whether a stage has a stream that has not delivered.
func streams(d *state.Data, j *state.Job, stage int) bool {
	for i := range j.Edges {
		e := &j.Edges[i]
		if e.Stream && (e.From == stage || e.To == stage) && !delivered(d, j, i) {
			return true
		}
	}
	return false
}

// done reports whether all tasks of a stage have ended.
func done(d *state.Data, j *state.Job, stage int) bool {
	first, end := j.StageTasks(stage)
	for i := first; i < end; i++ {
		if d.Tasks[int(j.FirstTask)+i].Ended == state.Unset {
			return false
		}
	}
	return true
}

// fed reports whether every edge into a stage has delivered.
func fed(d *state.Data, j *state.Job, stage int) bool {
	for e := range j.Edges {
		if j.Edges[e].FollowsTasks() && !j.Edges[e].Stream && j.Edges[e].To == stage && !delivered(d, j, e) {
			return false
		}
	}
	return true
}

// over reports whether all of a job has ended.
func over(d *state.Data, j *state.Job) bool {
	for k := range j.Stages {
		if !done(d, j, k) {
			return false
		}
	}
	for e := range j.Edges {
		if !delivered(d, j, e) {
			return false
		}
	}
	return true
}

// ledgers checks what must hold of reservations, circuits and moves.
func ledgers(d *state.Data) error {
	for i := range d.Ledger {
		a := &d.Ledger[i]
		for k := range d.Ledger[i+1:] {
			b := &d.Ledger[i+1+k]
			shared := a.In == b.In || a.Out == b.Out
			switch {
			case cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore)) >= 0:
				return fmt.Errorf("reservation %+v stands before %+v", *a, *b)
			case shared && a.NotBefore < b.NotAfter && b.NotBefore < a.NotAfter:
				return fmt.Errorf("reservations %+v and %+v overlap", *a, *b)
			case shared && a.Begun && b.Begun:
				return fmt.Errorf("reservations %+v and %+v hold one port", *a, *b)
			}
		}
	}
	outs := map[southbound.Port]bool{}
	standing := map[int32]bool{}
	for in, c := range d.Circuits {
		if c.Out == southbound.NoPort {
			if c.Phase != controller.NoCircuit {
				return fmt.Errorf("input %d: %+v", in, c)
			}
			continue
		}
		m := d.Moves[c.Move]
		if outs[c.Out] || m.In != southbound.Port(in) || m.Out != c.Out || m.Ended != state.Unset ||
			(m.InService != state.Unset) != (c.Phase == controller.InService) {
			return fmt.Errorf("input %d: %+v, made by %+v", in, c, m)
		}
		outs[c.Out], standing[c.Move] = true, true
	}
	for i, m := range d.Moves {
		if (m.Ended == state.Unset) != standing[int32(i)] || m.Failed && m.Ended == state.Unset {
			return fmt.Errorf("move %d: %+v; its circuit stands: %v", i, m, standing[int32(i)])
		}
	}
	return nil
}
