package state

import (
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// How a task reads a block of another rack: docs/decisions/0164-read-blocks-over-the-network.md.

// EdgeOf returns the edge that a coflow is of. One that brings blocks is of none, and is as one of fixed flows.
func (j *Job) EdgeOf(c *Coflow) *controller.Edge {
	if c.Block {
		return &controller.Edge{Kind: controller.Fixed}
	}
	return &j.Edges[c.Edge]
}

// checkReadFrom returns why the hosts that tasks are to read their blocks from are invalid, or nil.
func (s *State) checkReadFrom(j *Job, p *controller.Placement) error {
	if p.ReadFrom == nil {
		return nil
	}
	if len(p.ReadFrom) != len(p.NonLocal) {
		return fmt.Errorf("place job %d: %d tasks read from afar, and %d hosts are named for that", p.Job, len(p.NonLocal),
			len(p.ReadFrom))
	}
	for k, i := range p.NonLocal {
		t := s.task(j, int(i))
		first, _ := j.StageTasks(int(t.Stage))
		block := &j.Job.Stages[t.Stage].Tasks[int(i)-first]
		_, moves := slices.BinarySearch(p.Move, i)
		switch from := p.ReadFrom[k]; {
		case from == controller.NoHost:
		case block.Input == 0 || j.Stages[t.Stage].Streams > 0:
			return fmt.Errorf("place job %d: task %d is to read a block, and has none, or streams hold it", p.Job, i)
		case t.Ended != Unset || t.Host != controller.NoHost && !moves:
			return fmt.Errorf("place job %d: task %d is to read its block again, and has not lost its host", p.Job, i)
		case from < 0 || int(from) >= len(s.free) || s.Lost(from):
			return fmt.Errorf("place job %d: task %d is to read from host %d of %d, which is lost or does not exist", p.Job, i,
				from, len(s.free))
		case from == p.Hosts[i]:
			return fmt.Errorf("place job %d: task %d is to read over the network from host %d, on which it runs", p.Job, i, from)
		}
	}
	return nil
}

// read has the tasks that a placement gives hosts read their blocks, as one coflow: what several of them read from one
// host to another goes together.
func (s *State) read(j *Job, p *controller.Placement, e *Entry) {
	if !slices.ContainsFunc(p.ReadFrom, func(h southbound.HostID) bool { return h != controller.NoHost }) {
		return
	}
	c := &Coflow{Job: j.ID, Edge: int32(len(j.Edges)), Ready: e.At, Started: Unset, Ended: Unset, Block: true}
	for k, i := range p.NonLocal {
		if p.ReadFrom[k] == controller.NoHost {
			continue
		}
		t := s.task(j, int(i))
		first, _ := j.StageTasks(int(t.Stage))
		t.NonLocal, t.OverNetwork, t.Reading, t.ReadSince = true, true, true, e.At
		c.Pairs = append(c.Pairs, controller.Flow{Src: p.ReadFrom[k], Dst: southbound.HostID(i), Count: 1,
			Bytes: j.Job.Stages[t.Stage].Tasks[int(i)-first].Input})
	}
	s.layOutReads(c, p.Hosts)
	id := s.append(c)
	j.Blocks = append(j.Blocks, id)
	j.Open++
	s.noteCoflow(j, id)
}

// layOutReads gives a coflow that brings blocks its rows, hosts being those of the job's tasks.
func (s *State) layOutReads(c *Coflow, hosts []southbound.HostID) {
	flows := slices.Clone(c.Pairs)
	for k := range flows {
		flows[k].Dst = hosts[flows[k].Dst]
	}
	s.fill(c, controller.Gather(flows, false))
}

// arrived lets the tasks begin whose blocks a row has brought. A coflow can have thousands of pairs, so no more of them
// are looked at than it takes to find the row's.
func (s *State) arrived(j *Job, c *Coflow, row int) {
	src, dst := c.Columns.Src[row], c.Columns.Dst[row]
	tasks := s.d.TasksOf(j)
	kept, left := 0, c.Columns.Flows[row]
	for i := range c.Pairs {
		if left == 0 {
			kept += copy(c.Pairs[kept:], c.Pairs[i:])
			break
		}
		p := &c.Pairs[i]
		if p.Src != src || j.Hosts[p.Dst] != dst {
			c.Pairs[kept] = *p
			kept++
			continue
		}
		left--
		t := &tasks[p.Dst]
		t.Reading = false
		if t.MayStart() {
			s.queueStage(j, t.Stage)
		}
	}
	clear(c.Pairs[kept:])
	c.Pairs = c.Pairs[:kept]
}

// dropReads ends the rows of a coflow that have lost an end. Tasks that read from a lost host leave theirs, since the
// policy has to choose another copy.
func (s *State) dropReads(j *Job, c *Coflow, e *Entry) {
	if c.Ended != Unset {
		return
	}
	rows := s.lostRows(c)
	if len(rows) == 0 {
		return
	}
	s.rememberLaid(j)
	c.Pairs = slices.DeleteFunc(slices.Clone(c.Pairs), func(p controller.Flow) bool {
		at := j.Hosts[p.Dst]
		if !s.Lost(p.Src) && !s.Lost(at) {
			return false
		}
		if !s.Lost(at) { // those of lost hosts leave them with all other tasks there
			s.leaveHost(j, int(p.Dst))
		}
		return true
	})
	if c.Started == Unset {
		s.layOutReads(c, j.Hosts)
	} else {
		s.takeOut(c, rows)
	}
	if c.Remaining == 0 {
		s.ready = slices.DeleteFunc(s.ready, func(id southbound.CoflowID) bool { return id == c.ID })
		c.Started = max(c.Started, c.Ready)
		s.endCoflow(j, c.ID, c, e)
	}
}

// leaveHost takes its host from a task that has not begun to compute.
func (s *State) leaveHost(j *Job, i int) {
	t := s.task(j, i)
	s.vacate(j, i)
	t.Try++
	t.Host, j.Hosts[i], t.MilliVCPUs = controller.NoHost, controller.NoHost, 0
	startAnew(t)
}

// startAnew has a task that leaves its host read its block and do its work anew.
func startAnew(t *Task) {
	if t.OverNetwork {
		t.NonLocal, t.OverNetwork, t.Reading, t.ReadSince = false, false, false, 0
	}
	t.ExtraMilli, t.Done, t.Rated = 0, 0, 0
}
