package state

import (
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// What is lost with a host, and what is not: docs/decisions/0020-restart-only-unfinished-work.md.

// Lost reports whether a host has failed.
func (s *State) Lost(h southbound.HostID) bool {
	_, lost := slices.BinarySearch(s.d.Lost, h)
	return lost
}

// startable reports whether a stage has tasks to begin.
func (s *State) startable(j *Job, stage int32) bool {
	first, end := j.StageTasks(int(stage))
	tasks := s.d.TasksOf(j)[first:end]
	for i := range tasks {
		if tasks[i].MayStart() {
			return true
		}
	}
	return false
}

// forgetStages takes the stages of a job that have nothing to begin any more off the list.
func (s *State) forgetStages(j *Job) {
	s.stages = slices.DeleteFunc(s.stages, func(r StageRef) bool {
		return r.Job == j.ID &&
			!s.startable(j, r.Stage)
	})
}

// task returns a task by its number within its job.
func (s *State) task(j *Job, i int) *Task { return &s.d.Tasks[s.d.tasksAt(j)+i] }

func (s *State) seeHost(e *Entry) error {
	if e.Host < 0 || int(e.Host) >= s.fabric.Hosts() {
		return fmt.Errorf("see host %d: hosts are 0 to %d", e.Host, s.fabric.Hosts()-1)
	}
	i, lost := slices.BinarySearch(s.d.Lost, e.Host)
	switch {
	case lost == !e.OK:
		return ErrStale
	case e.OK:
		s.d.Lost = slices.Delete(s.d.Lost, i, i+1)
		s.room.back(s.fabric, e.Host) // every task that was there has gone
		s.expandWaiting()
		s.noteReaders()
		return nil
	}
	s.d.Lost = slices.Insert(s.d.Lost, i, e.Host)
	s.noteReaders()
	for _, j := range s.d.Jobs {
		if j.Placed == Unset || j.Ended != Unset {
			continue
		}
		for _, id := range coflowsOf(j) {
			if c := s.Coflow(id); c.Block {
				s.dropReads(j, c, e)
			} else if c.Started != Unset && c.Ended == Unset {
				local := s.localPairs(j, c, func(_ int, at southbound.HostID) bool { return at == e.Host })
				if s.lose(j, id, s.lostRows(c), local); j.spent(c) {
					s.endCoflow(j, id, c, e)
				}
			}
		}
		s.unhouse(j, e.Host)
	}
	s.room.lose(e.Host)
	return nil
}

// coflowsOf returns the coflows of a job: those of its edges, those that carry again what has been lost,
// and those that bring blocks.
func coflowsOf(j *Job) []southbound.CoflowID {
	out := make([]southbound.CoflowID, 0, len(j.Edges)+len(j.Redo)+len(j.Blocks))
	for i := range j.Edges {
		out = append(out, j.FirstCoflow+southbound.CoflowID(i))
	}
	return append(append(out, j.Redo...), j.Blocks...)
}

// unhouse takes their host from a job's tasks there, but for those whose work is done and read.
func (s *State) unhouse(j *Job, h southbound.HostID) {
	if slices.Contains(j.Hosts, h) {
		s.rememberLaid(j)
	}
	for i, at := range j.Hosts {
		t := s.task(j, i)
		if at != h || t.Ended != Unset && !s.unread(j, int(t.Stage)) {
			continue
		}
		j.Hosts[i], t.Host, t.MilliVCPUs = controller.NoHost, controller.NoHost, 0
		t.Try++
		if t.Ended == Unset {
			t.Started = Unset
			startAnew(t)
		}
	}
	s.noteEvicted(j)
	s.forgetStages(j)
	s.ready = slices.DeleteFunc(s.ready, func(id southbound.CoflowID) bool {
		c := s.Coflow(id)
		return c.Job == j.ID && !s.housed(j, c)
	})
}

// unread reports whether something that a stage has written has not been delivered.
func (s *State) unread(j *Job, stage int) bool {
	return slices.ContainsFunc(coflowsOf(j), func(id southbound.CoflowID) bool {
		c := s.Coflow(id)
		x := j.EdgeOf(c)
		return c.Ended == Unset && x.Kind != controller.Fixed && x.From == stage
	})
}

// housed reports whether all tasks that a coflow's host flows go between have hosts.
func (s *State) housed(j *Job, c *Coflow) bool {
	x := j.EdgeOf(c)
	stages := []int{x.To, x.From}
	switch {
	case x.Reads != nil:
		stages = stages[:1]
	case x.Kind == controller.Fixed:
		return true // what goes to or from a lost host is taken out as soon as it begins
	}
	for _, stage := range stages {
		first, end := j.StageTasks(stage)
		if slices.Contains(j.Hosts[first:end], controller.NoHost) {
			return false
		}
	}
	return true
}

// checkMoving returns why a placement of a placed job is invalid, or nil: it must give hosts to the
// tasks that have lost theirs, and to no other.
func (s *State) checkMoving(j *Job, p *controller.Placement, held map[southbound.HostID]int32) error {
	if j.Ended != Unset || !slices.Contains(j.Hosts, controller.NoHost) {
		return ErrStale
	}
	if len(p.Hosts) != len(j.Hosts) {
		return fmt.Errorf("place job %d: %d hosts for %d tasks", p.Job, len(p.Hosts), len(j.Hosts))
	}
	for i, h := range p.Hosts {
		switch {
		case j.Hosts[i] == h:
			continue
		case h < 0 || int(h) >= len(s.free):
			return fmt.Errorf("place job %d: host %d of %d", p.Job, h, len(s.free))
		case j.Hosts[i] != controller.NoHost:
			return fmt.Errorf("place job %d: task %d runs on host %d and is not moved", p.Job, i, j.Hosts[i])
		case s.Lost(h):
			return fmt.Errorf("place job %d: host %d is lost", p.Job, h)
		}
		if s.task(j, i).Ended != Unset {
			continue
		}
		if err := s.take(j, i, h, held); err != nil {
			return err
		}
	}
	return nil
}

// reschedule gives hosts to the tasks of a job that have lost theirs, or have had none so far. What has
// not begun to be sent is laid out anew.
func (s *State) reschedule(j *Job, hosts []southbound.HostID) {
	tasks := s.d.TasksOf(j)
	var room [4]int32
	begin := room[:0] // stages with a task that may start now: their other tasks need not be looked at
	for i, h := range hosts {
		if j.Hosts[i] != controller.NoHost || h == controller.NoHost {
			continue
		}
		t := &tasks[i]
		j.Hosts[i], t.Host = h, h
		if t.Ended == Unset {
			s.occupy(j, i)
		}
		if n := len(begin); t.MayStart() && (n == 0 || begin[n-1] != t.Stage) {
			begin = append(begin, t.Stage)
		}
	}
	s.noteEvicted(j)
	for i := range j.Edges {
		id := j.FirstCoflow + southbound.CoflowID(i)
		if s.Coflow(id).Started == Unset && j.Edges[i].FollowsTasks() {
			s.layOut(j, id)
		}
	}
	for _, id := range j.Redo {
		if c := s.Coflow(id); c.Started == Unset {
			s.expand(j, id)
		}
	}
	for k := range j.Stages {
		if slices.Contains(begin, int32(k)) {
			s.queueStage(j, int32(k))
			continue
		}
		s.noteStage(j, int32(k))
	}
}

// Relays reports whether placements lay a coflow out anew: its job is placed already, and the coflow
// has not begun.
func (s *State) Relays(id southbound.CoflowID, placing []controller.Placement) bool {
	c := s.Coflow(id)
	return c != nil && c.Started == Unset && s.Job(c.Job).Placed != Unset &&
		slices.ContainsFunc(placing, func(p controller.Placement) bool { return p.Job == c.Job })
}

// layOut gives the coflow of an edge its host flows, once all of its tasks have hosts.
func (s *State) layOut(j *Job, id southbound.CoflowID) {
	c := s.Coflow(id)
	if c.Waits = !s.housed(j, c); c.Waits {
		return
	}
	s.fill(c, controller.Expand(&j.Job, &j.Edges[c.Edge], j.Hosts))
	s.noteCoflow(j, id)
}

// noteEvicted keeps the list of jobs that have lost hosts, and that of incremental ones.
func (s *State) noteEvicted(j *Job) {
	if j.Incremental {
		i, listed := slices.BinarySearch(s.partly, j.ID)
		switch live := j.Placed != Unset && j.Ended == Unset; {
		case live && !listed:
			s.partly = slices.Insert(s.partly, i, j.ID)
		case !live && listed:
			s.partly = slices.Delete(s.partly, i, i+1)
		}
		return
	}
	i, listed := slices.BinarySearch(s.evicted, j.ID)
	switch without := j.Ended == Unset && slices.Contains(j.Hosts, controller.NoHost); {
	case without && !listed:
		s.evicted = slices.Insert(s.evicted, i, j.ID)
	case !without && listed:
		s.evicted = slices.Delete(s.evicted, i, i+1)
	}
}

// viewEvicted lists the jobs that have lost hosts.
func (s *State) viewEvicted(v *controller.View) {
	v.Lost, v.Evicted = s.d.Lost, v.Evicted[:0]
	for _, id := range s.evicted {
		j := s.Job(id)
		if j.Slice != "" || j.Pinned() {
			continue
		}
		h := controller.Evicted{Job: &j.Job, Hosts: slices.Clone(j.Hosts), Ended: make([]bool, len(j.Hosts))}
		for i := range h.Ended {
			h.Ended[i] = s.task(j, i).Ended != Unset
		}
		v.Evicted = append(v.Evicted, h)
	}
}

// changesOf is TaskChanges when an entry last can have changed a job's tasks; 0: not known, nor before this state was
// read from a snapshot.
func (s *State) changesOf(j *Job) uint64 {
	if j.changes == 0 {
		return 0
	}
	return max(j.changes, s.allChanged)
}

// viewPartial lists the incremental jobs.
func (s *State) viewPartial(v *controller.View) {
	v.Partial = v.Partial[:0]
	for _, id := range s.partly {
		j, n := s.Job(id), len(v.Partial)
		v.Partial = slices.Grow(v.Partial, 1)[:n+1]
		p := &v.Partial[n]
		waits := slices.Grow(p.Waits[:0], len(j.Stages))[:len(j.Stages)] // there are many jobs, at each decision
		for k := range waits {
			waits[k] = j.Stages[k].Waits > 0
		}
		*p = controller.Partial{Job: &j.Job, Hosts: j.Hosts, Tasks: s.d.TasksOf(j), Waits: waits,
			PolicyState: j.PolicyState, Changes: s.changesOf(j)}
	}
}
