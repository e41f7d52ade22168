package loop

import (
	"fmt"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// readTraffic makes a new estimate if one is due, and reports whether the policy must be called about
// it. Estimates are not logged: a new leadership has them again after two readings.
func (l *Loop) readTraffic(s *state.State, now time.Duration, in *Inputs) {
	if due, reads := l.decider.traffic.Due(); !reads || now < due {
		return
	}
	l.refreshView(s, now, in)
	any, err := l.decider.traffic.Read(&l.decider.view, func() (demand.Sample, error) {
		if in.Counters == nil {
			return demand.Sample{}, errNoCounters
		}
		return in.Counters()
	})
	if err != nil {
		l.pass.fail(fmt.Errorf("read traffic: %w", err))
	}
	if any {
		l.pending.note(controller.TrafficRead, now, -1, -1, 0)
	}
}

// nextReading is when traffic is to be read next.
func (l *Loop) nextReading() time.Duration {
	if due, reads := l.decider.traffic.Due(); reads {
		return due
	}
	return southbound.Never
}
