package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// ErrConflict marks a reservation that overlaps another on one of its ports.
var ErrConflict = errors.New("the port is reserved then")

// Ledger returns the reservations, sorted by (In, NotBefore). Borrowed.
func (s *State) Ledger() []Reservation { return s.d.Ledger }

// Circuit returns what stands at an OCS input.
func (s *State) Circuit(in southbound.Port) Circuit { return s.d.Circuits[in] }

// Holding returns the begun reservation of an input, if there is one.
func (s *State) Holding(in southbound.Port) (Reservation, bool) {
	if i := s.held(in); i >= 0 {
		return s.d.Ledger[i], true
	}
	return Reservation{}, false
}

func (s *State) held(in southbound.Port) int {
	return slices.IndexFunc(s.d.Ledger, func(r Reservation) bool { return r.In == in && r.Begun })
}

func (s *State) withdraw(e *Entry) error {
	n := len(s.d.Ledger)
	s.d.Ledger = slices.DeleteFunc(s.d.Ledger, func(r Reservation) bool { return !r.Begun && r.Coflow == e.Coflow })
	if len(s.d.Ledger) == n {
		return ErrStale
	}
	return nil
}

// CheckReservation says why a reservation cannot stand on this fabric, or nil. It does not look at the ledger.
func (s *State) CheckReservation(r *controller.Reservation) error {
	n := len(s.d.Circuits)
	switch {
	case !inRange(r.In, n) || !inRange(r.Out, n) || r.In == r.Out:
		return fmt.Errorf("reserve %d→%d: the OCS has ports 0 to %d, and a circuit joins two racks", r.In, r.Out, n-1)
	case s.fabric.OCSUplink[r.In] < 0 || s.fabric.OCSUplink[r.Out] < 0:
		return fmt.Errorf("reserve %d→%d: one of the racks has no OCS port", r.In, r.Out)
	case r.NotBefore < 0 || r.NotAfter <= r.NotBefore:
		return fmt.Errorf("reserve %d→%d: from %v to %v is no time", r.In, r.Out, r.NotBefore, r.NotAfter)
	case r.Coflow != controller.AnyCoflow && (r.Coflow < 0 || int(r.Coflow) >= len(s.d.Coflows)):
		return fmt.Errorf("reserve %d→%d: coflow %d: no such coflow", r.In, r.Out, r.Coflow)
	}
	return nil
}

func (s *State) reserve(e *Entry) error {
	r := *e.Reservation
	if err := s.CheckReservation(&r); err != nil {
		return err
	}
	if r.Coflow != controller.AnyCoflow && s.d.Coflows[r.Coflow].Ended != Unset {
		return ErrStale
	}
	for i := range s.d.Ledger {
		o := &s.d.Ledger[i]
		if (o.In == r.In || o.Out == r.Out) && r.NotBefore < o.NotAfter && o.NotBefore < r.NotAfter {
			return fmt.Errorf("reserve %d→%d [%v, %v): %d→%d holds [%v, %v): %w",
				r.In, r.Out, r.NotBefore, r.NotAfter, o.In, o.Out, o.NotBefore, o.NotAfter, ErrConflict)
		}
	}
	i, _ := slices.BinarySearchFunc(s.d.Ledger, r, func(o Reservation, r controller.Reservation) int {
		return cmp.Or(cmp.Compare(o.In, r.In), cmp.Compare(o.NotBefore, r.NotBefore))
	})
	s.d.Ledger = slices.Insert(s.d.Ledger, i, Reservation{Reservation: r})
	return nil
}

// begin marks the first unbegun reservation of an input as begun. Its ports must be free of begun ones.
func (s *State) begin(e *Entry) error {
	i := slices.IndexFunc(s.d.Ledger, func(r Reservation) bool { return r.In == e.Port })
	if i < 0 {
		return ErrStale
	}
	if s.d.Ledger[i].Begun {
		return ErrStale
	}
	for k := range s.d.Ledger {
		if o := &s.d.Ledger[k]; o.Begun && (o.In == s.d.Ledger[i].In || o.Out == s.d.Ledger[i].Out) {
			return fmt.Errorf("begin reservation %d→%d: %d→%d: %w", s.d.Ledger[i].In, s.d.Ledger[i].Out, o.In, o.Out, ErrConflict)
		}
	}
	s.d.Ledger[i].Begun = true
	if c := &s.d.Circuits[e.Port]; c.Phase == controller.Usable && c.Out == s.d.Ledger[i].Out {
		c.Coflow = s.d.Ledger[i].Coflow
		s.d.Moves[c.Move].Carried = true
	}
	return nil
}

// end takes the first reservation of an input out of the ledger: the begun one, or one that is skipped.
func (s *State) end(e *Entry) error {
	i := slices.IndexFunc(s.d.Ledger, func(r Reservation) bool { return r.In == e.Port })
	if i < 0 {
		return ErrStale
	}
	s.d.Ledger = slices.Delete(s.d.Ledger, i, i+1)
	return nil
}

// intend records that an input is being moved: whatever held its ports is over, and nothing is steered to it.
func (s *State) intend(e *Entry) error {
	if !inRange(e.Port, len(s.d.Circuits)) || !inRange(e.Out, len(s.d.Circuits)) {
		return fmt.Errorf("move %d→%d: no such port", e.Port, e.Out)
	}
	for in := range s.d.Circuits {
		if c := &s.d.Circuits[in]; c.Out != southbound.NoPort && (southbound.Port(in) == e.Port || c.Out == e.Out) {
			s.d.Moves[c.Move].Ended = e.At
			*c = Circuit{Out: southbound.NoPort, Coflow: controller.AnyCoflow, Move: -1, Since: e.At}
		}
	}
	s.d.Moves = append(s.d.Moves, Move{In: e.Port, Out: e.Out, Coflow: e.Coflow, Intent: e.At, Usable: Unset, Ended: Unset})
	s.d.Circuits[e.Port] = Circuit{Out: e.Out, Phase: controller.Moving, Coflow: e.Coflow, Since: e.At, Move: int32(len(s.d.Moves) - 1)}
	return nil
}

// settle records what came of a move: usable, or failed and gone.
func (s *State) settle(e *Entry) error {
	if !inRange(e.Port, len(s.d.Circuits)) {
		return fmt.Errorf("settle %d→%d: no such port", e.Port, e.Out)
	}
	c := &s.d.Circuits[e.Port]
	if c.Out == southbound.NoPort || c.Out != e.Out || (e.OK && c.Phase == controller.Usable) {
		return ErrStale
	}
	m := &s.d.Moves[c.Move]
	if e.Stages != nil {
		m.Stages = *e.Stages
	}
	if e.OK {
		c.Phase, c.Since, m.Usable = controller.Usable, e.At, e.At
		_, m.Carried = s.Holding(e.Port)
		return nil
	}
	m.Ended, m.Failed = e.At, true
	*c = Circuit{Out: southbound.NoPort, Coflow: controller.AnyCoflow, Move: -1, Since: e.At}
	return nil
}

// drop records that a circuit is being taken away: from now on nothing is steered to it.
func (s *State) drop(e *Entry) error {
	if !inRange(e.Port, len(s.d.Circuits)) {
		return fmt.Errorf("drop %d→%d: no such port", e.Port, e.Out)
	}
	c := &s.d.Circuits[e.Port]
	if c.Phase != controller.Usable || c.Out != e.Out {
		return ErrStale
	}
	s.d.Moves[c.Move].Ended = e.At
	*c = Circuit{Out: southbound.NoPort, Coflow: controller.AnyCoflow, Move: -1, Since: e.At}
	return nil
}

// Carries says whether a reservation carries a row of a coflow.
func (s *State) Carries(r *controller.Reservation, id southbound.CoflowID, c *Coflow, row int) bool {
	return (r.Coflow == id || r.Coflow == controller.AnyCoflow) &&
		southbound.Port(s.RackOf(c.Columns.Src[row])) == r.In && southbound.Port(s.RackOf(c.Columns.Dst[row])) == r.Out
}

// Idle says whether a reservation has nothing left to carry: its coflow is over, or all its rows between the two racks
// are. One for any coflow is never idle.
func (s *State) Idle(r *controller.Reservation) bool {
	if r.Coflow == controller.AnyCoflow {
		return false
	}
	c := s.d.Coflows[r.Coflow]
	// Rows are sorted by destination, and a rack's hosts follow each other.
	begin, end := s.fabric.FirstHost[r.Out], s.fabric.FirstHost[r.Out+1]
	first, _ := slices.BinarySearch(c.Columns.Dst, southbound.HostID(begin))
	for row := first; row < len(c.Done) && int32(c.Columns.Dst[row]) < end; row++ {
		if !c.Done[row] && s.Carries(r, r.Coflow, c, row) {
			return false
		}
	}
	return true
}

// AppendTags appends the tag that each row of a coflow should be sent with now: the circuit's where a begun
// reservation carries it and the circuit is usable, TagHold where a reservation says so meanwhile or the fabric carries
// bytes between racks over circuits only, else its route's.
func (s *State) AppendTags(buf []southbound.Tag, id southbound.CoflowID) []southbound.Tag {
	c := s.d.Coflows[id]
	base := len(buf)
	buf = append(buf, c.Tag...)
	if len(s.d.Circuits) == 0 {
		return buf
	}
	lit, held := s.waysOf(id)
	only := controller.CircuitsOnly(s.fabric)
	for row := range c.Tag {
		in, out := southbound.Port(s.RackOf(c.Columns.Src[row])), southbound.Port(s.RackOf(c.Columns.Dst[row]))
		switch {
		case lit[in] == out:
			buf[base+row] = southbound.TagCircuit
		case only && in != out || held[[2]southbound.Port{in, out}]:
			buf[base+row] = southbound.TagHold
		}
	}
	return buf
}

// waysOf returns where usable circuits lead that carry a coflow, by input, NoPort for none; and the pairs that hold its
// bundles until they have one.
func (s *State) waysOf(id southbound.CoflowID) (lit []southbound.Port, held map[[2]southbound.Port]bool) {
	lit = slices.Repeat([]southbound.Port{southbound.NoPort}, len(s.d.Circuits))
	for i := range s.d.Ledger {
		r := &s.d.Ledger[i]
		if r.Coflow != id && r.Coflow != controller.AnyCoflow {
			continue
		}
		switch at := s.d.Circuits[r.In]; {
		case r.Begun && at.Phase == controller.Usable && at.Out == r.Out:
			lit[r.In] = r.Out
		case r.Meanwhile == controller.Hold:
			if held == nil {
				held = map[[2]southbound.Port]bool{}
			}
			held[[2]southbound.Port{r.In, r.Out}] = true
		}
	}
	return lit, held
}

// Boundary returns the earliest instant at which a reservation begins or ends, southbound.Never if there is none.
func (s *State) Boundary() time.Duration {
	at := southbound.Never
	for i := range s.d.Ledger {
		if r := &s.d.Ledger[i]; r.Begun {
			at = min(at, r.NotAfter)
		} else {
			at = min(at, r.NotBefore)
		}
	}
	return at
}
