package state

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// write brings Data.Ledger up to date.
func (s *State) write() {
	if s.ledger.stale {
		s.ledger.stale = false
		s.d.Ledger = s.ledger.flatten(s.d.Ledger[:0])
	}
	if len(s.d.Ledger) == 0 {
		s.d.Ledger = nil // an empty ledger has one form, whatever it went through
	}
}

// Reserved returns how many reservations there are.
func (s *State) Reserved() int { return s.ledger.count }

// First returns the reservation of an input that begins, or has begun, first. Borrowed; nil for none.
func (s *State) First(in southbound.Port) *CircuitReservation {
	if r := s.ledger.byIn[in].Live(); len(r) > 0 {
		return &r[0]
	}
	return nil
}

// Second returns the reservation of an input that comes after First's. Borrowed; nil for none.
func (s *State) Second(in southbound.Port) *CircuitReservation {
	if r := s.ledger.byIn[in].Live(); len(r) > 1 {
		return &r[1]
	}
	return nil
}

// Taker returns the input whose begun reservation holds an output, NoPort where none does.
func (s *State) Taker(out southbound.Port) southbound.Port { return s.ledger.begun[out] }

// Holds reports whether any reservation has its host flows wait for it.
func (s *State) Holds() bool { return s.ledger.waits > 0 }

// Holding returns the begun reservation of an input, if there is one.
func (s *State) Holding(in southbound.Port) (CircuitReservation, bool) {
	if r := s.ledger.holding(in); r != nil {
		return *r, true
	}
	return CircuitReservation{}, false
}

func (s *State) withdraw(e *Entry) error {
	if !s.ledger.withdraw(e.Coflow) {
		return ErrStale
	}
	return nil
}

func (s *State) reserve(e *Entry) error {
	r := *e.CircuitReservation
	if err := s.CheckCircuitReservation(&r); err != nil {
		return err
	}
	if r.Coflow != controller.AnyCoflow {
		if c := s.Coflow(r.Coflow); c == nil || c.Ended != Unset {
			return ErrStale
		}
	}
	if in, found := s.elsewhere(&r); found {
		return fmt.Errorf("reserve %d→%d: another wavelength or OCS joins these racks, from port %d: %w",
			r.In, r.Out, in, ErrConflict)
	}
	in, out, o := s.ledger.place(&r)
	if o != nil {
		return fmt.Errorf("reserve %d→%d [%v, %v): %d→%d holds [%v, %v): %w",
			r.In, r.Out, r.NotBefore, r.NotAfter, o.In, o.Out, o.NotBefore, o.NotAfter, ErrConflict)
	}
	s.ledger.add(&CircuitReservation{CircuitReservation: r}, in, out)
	return nil
}

// elsewhere returns the input of another plane that joins the racks of a reservation or will, at any
// time; false if none does. Packets from one rack to another carry one tag, so that a ToR can send them
// to one plane only.
func (s *State) elsewhere(r *controller.CircuitReservation) (southbound.Port, bool) {
	n := southbound.Port(s.fabric.Racks)
	if len(s.d.Circuits) <= int(n) || s.fabric.Spec.Pod() {
		return southbound.NoPort, false // there is one
	}
	for in, out := r.In%n, r.Out%n; int(in) < len(s.d.Circuits); in, out = in+n, out+n {
		if in == r.In {
			continue
		}
		if s.d.Circuits[in].Out == out || slices.ContainsFunc(s.ledger.byIn[in].Live(),
			func(o CircuitReservation) bool {
				return o.Out == out
			}) {
			return in, true
		}
	}
	return southbound.NoPort, false
}

// Elsewhere returns the input of another plane that joins the racks of two ports, or has a reservation for that.
func (s *State) Elsewhere(in, out southbound.Port) (southbound.Port, bool) {
	return s.elsewhere(&controller.CircuitReservation{In: in, Out: out})
}

// begin marks the first unbegun reservation of an input as begun. Its ports must be free of begun ones.
func (s *State) begin(e *Entry) error {
	if !inRange(e.Port, len(s.ledger.byIn)) {
		return ErrStale
	}
	r := s.First(e.Port)
	if r == nil || r.Begun {
		return ErrStale
	}
	o := s.ledger.holding(e.Port)
	if in := s.ledger.begun[r.Out]; in != southbound.NoPort {
		o = s.ledger.holding(in)
	}
	if o != nil {
		return fmt.Errorf("begin reservation %d→%d: %d→%d: %w", r.In, r.Out, o.In, o.Out, ErrConflict)
	}
	s.ledger.begin(e.Port)
	if c := &s.d.Circuits[e.Port]; c.Phase == controller.InService && c.Out == r.Out {
		c.Coflow = r.Coflow
		s.d.Moves[c.Move].Carried = true
	}
	return nil
}

// end removes the first reservation of an input from the ledger: the begun one, or a skipped one.
func (s *State) end(e *Entry) error {
	if !inRange(e.Port, len(s.ledger.byIn)) || s.First(e.Port) == nil {
		return ErrStale
	}
	s.ledger.removeFirst(e.Port)
	return nil
}

// Boundary returns the earliest instant at which a reservation begins or ends, or a bandwidth
// reservation or a job's time is over; southbound.Never if there is none.
func (s *State) Boundary() time.Duration {
	return min(s.Edge(), s.NextBandwidthExpiry(), s.nextDeath())
}

// Edge returns the earliest instant at which a reservation begins or ends, southbound.Never if there is
// none.
func (s *State) Edge() time.Duration { return s.ledger.edges.First() }

// Due calls f with the inputs, ascending, whose first reservation is to begin by an instant, or to end
// once it has begun: some of the 16 that follow one whose number 16 divides, a bit each, the lowest for
// the first.
func (s *State) Due(by time.Duration, f func(first southbound.Port, bits uint64)) {
	s.ledger.edges.Due(by, f)
}
