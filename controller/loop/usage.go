package loop

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// Usage is how a circuit reservation was used, up to its end. Instants before this leadership are zero.
type Usage struct {
	controller.CircuitReservation
	// Anchor is a coflow that was active when the reservation was made: its own, or the first.
	Anchor    Anchor        `json:"anchor"`
	Delta     time.Duration `json:"delta_ns"` // the reconfiguration delay that it was made with
	Made      time.Duration `json:"made_ns,omitempty"`
	Begun     time.Duration `json:"begun_ns,omitempty"`
	Connected time.Duration `json:"connected_ns,omitempty"`  // the optical switch reported light, unless it was lit before
	InService time.Duration `json:"in_service_ns,omitempty"` // host flows were told to take it
	Steered   time.Duration `json:"steered_ns,omitempty"`    // the last of them took it, where a testbed can tell
	Ended     time.Duration `json:"ended_ns"`
	Cause     state.Cause   `json:"cause"`

	AtMade    Count `json:"at_made"`
	AtService Count `json:"at_service"`
	AtEnd     Count `json:"at_end"`

	anchor southbound.CoflowID
}

// Anchor is what the instants of a reservation can be told from in another run of the same jobs: a coflow, by job and
// edge, and when it started. Ids of coflows and instants are those of one run.
type Anchor struct {
	Job     controller.JobID `json:"job"`
	Edge    int32            `json:"edge"`
	Started time.Duration    `json:"started_ns"`
}

// Count is what the host flows of a reservation had left, as the controller knew it. Actual is what they really had at
// that instant, where a testbed can tell.
type Count struct {
	Bytes  float64       `json:"bytes"`
	Age    time.Duration `json:"age_ns,omitempty"`
	Actual float64       `json:"actual,omitempty"`
}

// usages follows the reservations that stand, if somebody wants to know.
type usages struct {
	tell  func(Usage)
	known map[controller.CircuitReservation]*Usage
}

func newUsages(tell func(Usage)) usages {
	return usages{tell, map[controller.CircuitReservation]*Usage{}}
}

// of returns what is known of a reservation; nil if nobody wants to know.
func (x *usages) of(r *controller.CircuitReservation) *Usage {
	if x.tell == nil {
		return nil
	}
	u := x.known[*r]
	if u == nil {
		u = &Usage{CircuitReservation: *r, anchor: r.Coflow}
		x.known[*r] = u
	}
	return u
}

func (l *Loop) noteMade(s *state.State, now time.Duration, r *controller.CircuitReservation) {
	if u := l.usages.of(r); u != nil {
		u.Made, u.Delta, u.AtMade = now, l.decider.view.DeltaAt(r.In), l.count(s, now, r)
		u.anchor = r.Coflow
		if active := s.Active(); r.Coflow == controller.AnyCoflow && len(active) > 0 {
			u.anchor = active[0]
		}
	}
}

func (l *Loop) noteBegun(s *state.State, now time.Duration, r *controller.CircuitReservation) {
	u := l.usages.of(r)
	if u == nil {
		return
	}
	if u.Begun = now; u.AtMade.Bytes == 0 { // it was made for a coflow that did not exist yet
		u.AtMade = l.count(s, now, r)
	}
}

func (l *Loop) noteService(s *state.State, now, connected time.Duration, r *controller.CircuitReservation) {
	if u := l.usages.of(r); u != nil && u.InService == 0 {
		u.Connected, u.InService, u.AtService = connected, now, l.count(s, now, r)
	}
}

func (l *Loop) noteEnded(s *state.State, now time.Duration, r *controller.CircuitReservation,
	why state.Cause) {
	if u := l.usages.of(r); u != nil {
		u.Ended, u.Cause, u.AtEnd = now, why, l.count(s, now, r)
		if u.anchor >= 0 {
			c := s.Coflow(u.anchor)
			u.Anchor = Anchor{c.Job, c.Edge, c.Started}
		}
		delete(l.usages.known, *r)
		l.usages.tell(*u)
	}
}

// forgetUnbegun forgets the unbegun reservations of a coflow, which have been withdrawn.
func (x *usages) forgetUnbegun(id southbound.CoflowID) {
	for r, u := range x.known {
		if r.Coflow == id && u.Begun == 0 {
			delete(x.known, r)
		}
	}
}

// count returns what the host flows of a reservation have left.
func (l *Loop) count(s *state.State, now time.Duration, r *controller.CircuitReservation) (c Count) {
	if r.Coflow != controller.AnyCoflow {
		if int(r.Coflow) >= len(s.Live().Coflows) {
			return c // the plan creates it
		}
		l.countCoflow(s, now, r.Coflow, r, &c)
		return c
	}
	for _, id := range s.Active() {
		l.countCoflow(s, now, id, r, &c)
	}
	return c
}

func (l *Loop) countCoflow(s *state.State, now time.Duration, id southbound.CoflowID,
	r *controller.CircuitReservation,
	c *Count) {
	co := s.Coflow(id)
	left, known := southbound.Remaining{}, false
	if l.pass.left != nil && co.Ended == state.Unset {
		left, known = l.pass.left(id)
	}
	if known && left.At > 0 {
		c.Age = max(c.Age, now-left.At)
	}
	s.Rows(co, r.In, r.Out, func(row int32) {
		switch {
		case co.Done[row]:
		case known && int(row) < len(left.Base):
			c.Bytes += left.Row(row)
		default:
			c.Bytes += float64(co.Columns.Size[row])
		}
	})
}
