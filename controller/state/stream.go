package state

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// Held reports whether a stage's tasks run no computation but last as long as the streams to and from them.
func (s *State) Held(job controller.JobID, stage int32) bool {
	j := s.Job(job)
	return j != nil && stage >= 0 && int(stage) < len(j.Stages) && j.Stages[stage].Streams > 0
}

// openStreams makes the streams of a stage that has just started ready, as far as their other stage has
// started too.
func (s *State) openStreams(j *Job, stage int, e *Entry) {
	for i := range j.Edges {
		x := &j.Edges[i]
		if !x.Stream || x.From != stage && x.To != stage || !j.mayStart(x) {
			continue
		}
		id := j.FirstCoflow + southbound.CoflowID(i)
		s.Coflow(id).Ready = e.At
		s.noteCoflow(j, id)
	}
}

// spent reports whether a started coflow has nothing left to carry. A stream with a rate goes on within
// hosts, where it has no host flows.
func (j *Job) spent(c *Coflow) bool {
	return c.Remaining == 0 && (j.EdgeOf(c).Rate == 0 || c.Local == 0)
}

// keepLocal makes what a stream with a rate has carried within hosts since its start its local bytes.
func (j *Job) keepLocal(c *Coflow, e *Entry) {
	if x := j.EdgeOf(c); x.Rate > 0 && c.Started != Unset {
		c.Local = min(c.Local, j.Made(x, c.Local).In(e.At-c.Started))
	}
}

// localPairs returns the pairs of tasks of a stream with a rate that share a host, where one of them
// leaves it.
func (s *State) localPairs(j *Job, c *Coflow,
	leaves func(task int, at southbound.HostID) bool) (out []controller.Flow) {
	if j.EdgeOf(c).Rate == 0 || c.Local == 0 || c.Started == Unset || c.Ended != Unset {
		return nil
	}
	laid := c.laid(j)
	for _, p := range tasksOf(j, c) {
		if laid[p.Src] == laid[p.Dst] && (leaves(int(p.Src), laid[p.Src]) || leaves(int(p.Dst), laid[p.Dst])) {
			out = append(out, p)
		}
	}
	return out
}

// closeStream counts one end of a stream at a stage as delivered; with the last the stage's tasks end.
func (s *State) closeStream(j *Job, stage int, e *Entry) {
	st := &j.Stages[stage]
	if st.Streams--; st.Streams > 0 {
		return
	}
	first, end := j.StageTasks(stage)
	for i := first; i < end; i++ {
		s.closeTask(j, i, e)
	}
	s.forgetStages(j) // a task that has just got another host may not have begun there
}
