package loop

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
)

// placePinned places jobs that name their hosts, one a pass, so that others see what it takes.
func (l *Loop) placePinned(s *state.State, now time.Duration) {
	for _, j := range s.PinnedWaiters() {
		if p, ok := s.OnPinned(j); ok {
			l.pending.note(controller.JobArrived, now, j.ID, -1, 0) // what it sends has no routes
			l.pass.add(state.Entry{Kind: state.Placed, At: now, Placement: p})
			return
		}
	}
}
