package loop

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// pending is what came in and is not decided: the events for the policy's next call, and what they are
// drawn from once the entries of a pass are applied.
type pending struct {
	wants   controller.KindSet
	events  []controller.Event
	touched []southbound.CoflowID // had host flows end since the last pass
	freed   bool                  // slots of tasks that have ended
	arrived controller.JobID      // the first job that the policy does not know of
	blocked []controller.JobID    // jobs that waited for what they read
}

// note keeps an event if the policy wants its kind.
func (p *pending) note(k controller.Kind, at time.Duration, job controller.JobID,
	c southbound.CoflowID, row int32) {
	if p.wants.Has(k) {
		p.events = append(p.events, controller.Event{At: at, Kind: k, Job: job, Coflow: c, Row: row})
	}
}

// touch notes that host flows of a coflow end with this pass.
func (p *pending) touch(id southbound.CoflowID) { p.touched = append(p.touched, id) }

// changed notes that the fabric is not what it was.
func (p *pending) changed(now time.Duration) { p.note(controller.FabricChanged, now, -1, -1, 0) }

// arrivals notes the jobs that have been accepted since the last pass.
func (p *pending) arrivals(s *state.State, now time.Duration) {
	if jobs := s.Live().Jobs; len(jobs) > 0 {
		p.arrived = max(p.arrived, jobs[0].ID)
	}
	for ; p.arrived < s.Live().Next.Job; p.arrived++ {
		if j := s.Job(p.arrived); j != nil && j.Placed == state.Unset {
			p.note(controller.JobArrived, now, j.ID, -1, 0)
		}
	}
	if slices.Equal(p.blocked, s.Blocked()) {
		return
	}
	for _, id := range p.blocked {
		if _, still := slices.BinarySearch(s.Blocked(), id); !still && s.Job(id) != nil {
			p.note(controller.JobArrived, now, id, -1, 0)
		}
	}
	p.blocked = append(p.blocked[:0], s.Blocked()...)
}

// none reports whether nothing waits for the next pass.
func (p *pending) none(s *state.State) bool {
	return len(p.events)+len(p.touched) == 0 && !p.freed && p.arrived == s.Live().Next.Job &&
		slices.Equal(p.blocked, s.Blocked())
}
