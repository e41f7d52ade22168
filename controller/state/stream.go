package state

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// Held says whether a stage's tasks run no computation but last as long as the streams to and from them.
func (s *State) Held(job controller.JobID, stage int32) bool {
	j := s.Job(job)
	return j != nil && stage >= 0 && int(stage) < len(j.Stages) && j.Stages[stage].Streams > 0
}

// openStreams makes the streams of a stage that has just started ready, as far as their other stage has started too.
func (s *State) openStreams(j *Job, stage int, e *Entry) {
	for i := range j.Edges {
		x := &j.Edges[i]
		if !x.Stream || x.From != stage && x.To != stage || !j.mayStart(x) {
			continue
		}
		id := j.FirstCoflow + southbound.CoflowID(i)
		s.d.Coflows[id].Ready = e.At
		s.noteCoflow(j, id)
	}
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
