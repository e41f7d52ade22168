package outcome

import (
	"time"

	"lightloom/southbound"
)

// Shift moves all instants of the outcome so that begin becomes 0.
func (o *Outcome) Shift(begin time.Duration) {
	back := func(ts ...*time.Duration) {
		for _, t := range ts {
			if *t > 0 && *t != southbound.Never {
				*t -= begin
			}
		}
	}
	for _, j := range o.State.Jobs {
		back(&j.Arrival, &j.Placed, &j.Started, &j.Ended)
	}
	for _, c := range o.State.Coflows {
		back(&c.Ready, &c.Started, &c.Ended)
	}
	for i := range o.State.Moves {
		m := &o.State.Moves[i]
		back(&m.Intent, &m.InService, &m.Ended, &m.Stages.Cleared, &m.Stages.Drained,
			&m.Stages.Accepted, &m.Stages.Connected)
	}
	for i := range o.Lit {
		back(&o.Lit[i].From, &o.Lit[i].To)
	}
	for i := range o.Usages {
		u := &o.Usages[i]
		back(&u.NotBefore, &u.NotAfter, &u.Made, &u.Begun, &u.Connected, &u.InService, &u.Steered, &u.Ended,
			&u.Anchor.Started)
	}
	back(&o.End)
}
