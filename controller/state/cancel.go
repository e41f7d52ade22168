package state

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// cancel ends a job at once: its tasks, its coflows with the bytes that they have carried, and their
// reservations. Coflows that had started keep their columns: the next leader has their hosts send
// nothing more.
func (s *State) cancel(e *Entry) error {
	j := s.Job(e.JobID)
	switch {
	case j == nil:
		return fmt.Errorf("cancel job %d: %w", e.JobID, s.lacksJob(e.JobID))
	case j.Ended != Unset:
		return ErrStale
	}
	placed := j.Placed != Unset
	j.Cancelled, j.Expired = true, e.OK
	for i := range j.Tasks() {
		if t := s.task(j, i); t.Ended == Unset {
			t.Ended, t.Reading = e.At, false
			if t.Host >= 0 {
				s.vacate(j, i)
			}
		}
	}
	for k := range j.Stages {
		j.Stages[k].Remaining, j.Stages[k].Waits, j.Stages[k].Streams = 0, 0, 0
	}
	for _, id := range coflowsOf(j) {
		s.cut(j, id, e)
	}
	j.Open, j.Ended = 0, e.At
	s.finished++
	s.over(j, e)
	s.turn(j)
	s.noteMortal(j)
	s.noteUnplaced(j)
	if j.Expired {
		s.deliver(j)
	}
	if placed {
		s.noteEvicted(j)
		s.forgetStages(j)
	}
	return nil
}

// cut ends a coflow that has not ended.
func (s *State) cut(j *Job, id southbound.CoflowID, e *Entry) {
	c := s.Coflow(id)
	s.ledger.withdraw(id) // the leader ends the circuits that have begun: they have nothing left to carry
	if c.Ended != Unset {
		return
	}
	c.Waits, c.Pairs = false, nil
	j.EdgeOf(c).Flows = nil
	if c.Started == Unset {
		c.Columns, c.Tag, c.Done, c.Laid, c.byDst = controller.Columns{}, nil, nil, nil, byDst{}
		c.Bytes, c.Local, c.Rack, c.HostFlows, c.Flows = 0, 0, 0, 0, 0
	} else {
		s.carried(j, c, id, e)
	}
	for r := range c.Done {
		c.Done[r] = true
	}
	c.Ended, c.Remaining = e.At, 0
	s.ended++
	if i, found := slices.BinarySearch(s.active, id); found {
		s.active = slices.Delete(s.active, i, i+1)
	}
	s.ready = slices.DeleteFunc(s.ready, func(r southbound.CoflowID) bool { return r == id })
}

// carried makes what a started coflow has carried its bytes. What stays within hosts goes on at its
// part of the rate; of an edge with bytes it was there at once.
func (s *State) carried(j *Job, c *Coflow, id southbound.CoflowID, e *Entry) {
	sent := Sent{}
	if i := slices.IndexFunc(e.Sent, func(s Sent) bool { return s.Coflow == id }); i >= 0 {
		sent = e.Sent[i]
	}
	c.Bytes = max(0, min(sent.Bytes, c.Bytes))
	c.Rack = max(0, min(sent.Rack, c.Rack, c.Bytes))
	j.keepLocal(c, e)
}

// Sent returns what a started coflow has carried, left being what its rows have left.
func (s *State) Sent(id southbound.CoflowID, left *southbound.Remaining) Sent {
	c := s.Coflow(id)
	out := Sent{id, c.Bytes, c.Rack}
	for r, done := range c.Done {
		if done {
			continue // received, or begun again elsewhere and counted there
		}
		rest := pathmap.Bytes(math.Ceil(left.Row(int32(r))))
		out.Bytes -= rest
		if s.RackOf(c.Columns.Src[r]) == s.RackOf(c.Columns.Dst[r]) {
			out.Rack -= rest
		}
	}
	return out
}

// CoflowsOf returns the coflows of a job: those of its edges, those that carry again what has been lost,
// and those that bring blocks.
func (s *State) CoflowsOf(j controller.JobID) []southbound.CoflowID { return coflowsOf(s.Job(j)) }

// noteMortal keeps the list of jobs whose lifetime can end them, and that of noteLoaded.
func (s *State) noteMortal(j *Job) {
	s.noteLoaded(j)
	i, listed := slices.BinarySearch(s.mortal, j.ID)
	switch mortal := j.Lifetime > 0 && j.Ended == Unset; {
	case mortal && !listed:
		s.mortal = slices.Insert(s.mortal, i, j.ID)
	case !mortal && listed:
		s.mortal = slices.Delete(s.mortal, i, i+1)
	}
}

// Dead returns the jobs whose lifetime is over, by id.
func (s *State) Dead(now time.Duration) []controller.JobID {
	var out []controller.JobID
	for _, id := range s.mortal {
		if at := s.Job(id).death(); at <= now {
			out = append(out, id)
		}
	}
	return out
}

func (s *State) nextDeath() time.Duration {
	at := southbound.Never
	for _, id := range s.mortal {
		at = min(at, s.Job(id).death())
	}
	return at
}

// death is when a job's lifetime is over; southbound.Never before its start.
func (j *Job) death() time.Duration {
	if j.Started == Unset {
		return southbound.Never
	}
	return j.Started + min(j.Lifetime, southbound.Never-1-j.Started)
}
