package state

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// ErrConflict marks a reservation that overlaps another on one of its ports.
var ErrConflict = errors.New("the port is reserved then")

// Circuit returns the circuit at an OCS input.
func (s *State) Circuit(in southbound.Port) Circuit { return s.d.Circuits[in] }

// CheckCircuitReservation returns why a reservation is invalid on this fabric, or nil. It does not use
// the ledger.
func (s *State) CheckCircuitReservation(r *controller.CircuitReservation) error {
	n := len(s.d.Circuits)
	switch {
	case !inRange(r.In, n) || !inRange(r.Out, n) || s.rack(r.In) == s.rack(r.Out) && !s.fabric.Spec.Pod():
		return fmt.Errorf("reserve %d→%d: the OCS has ports 0 to %d, and a circuit joins two racks",
			r.In, r.Out, n-1)
	case s.fabric.OCSUplink[r.In] < 0 || s.fabric.OCSUplink[r.Out] < 0:
		return fmt.Errorf("reserve %d→%d: one of the racks has no OCS port", r.In, r.Out)
	case !s.fabric.SamePlane(int32(r.In), int32(r.Out)):
		return fmt.Errorf("reserve %d→%d: these are ports of %s", r.In, r.Out, s.apart(r.In, r.Out))
	case s.checkOfSlice(r.In, r.Out) != nil:
		return s.checkOfSlice(r.In, r.Out)
	case r.NotBefore < 0 || r.NotAfter <= r.NotBefore:
		return fmt.Errorf("reserve %d→%d: from %v to %v is no time", r.In, r.Out, r.NotBefore, r.NotAfter)
	case r.Coflow != controller.AnyCoflow && !s.Knew(r.Coflow):
		return fmt.Errorf("reserve %d→%d: coflow %d: no such coflow", r.In, r.Out, r.Coflow)
	}
	return nil
}

// apart says why no circuit joins two ports of different planes.
func (s *State) apart(in, out southbound.Port) string {
	a, _ := s.fabric.OCSAt(int32(in))
	b, _ := s.fabric.OCSAt(int32(out))
	if a == b {
		if s.fabric.Spec.Pod() {
			return "two lower faces, or two upper ones: a circuit joins an upper face to a lower one"
		}
		return "two wavelengths, and light keeps its own"
	}
	t := s.fabric.Topology
	return fmt.Sprintf("%s and of %s: a circuit joins two of one optical switch", t.Node(a).Name, t.Node(b).Name)
}

// intend records that an input is being moved: whatever held its ports is over, and nothing is steered
// to it.
func (s *State) intend(e *Entry) error {
	if !inRange(e.Port, len(s.d.Circuits)) || !inRange(e.Out, len(s.d.Circuits)) {
		return fmt.Errorf("move %d→%d: no such port", e.Port, e.Out)
	}
	if !s.fabric.SamePlane(int32(e.Port), int32(e.Out)) {
		return fmt.Errorf("move %d→%d: these are ports of %s", e.Port, e.Out, s.apart(e.Port, e.Out))
	}
	for _, in := range [2]southbound.Port{e.Port, s.leads[e.Out]} {
		if in != southbound.NoPort && s.d.Circuits[in].Out != southbound.NoPort {
			s.d.Moves[s.d.Circuits[in].Move].Ended = e.At
			s.dark(in, e.At)
		}
	}
	if s.keep > 0 && len(s.d.Moves) >= s.keep {
		s.forget()
	}
	s.d.Moves = append(s.d.Moves, Move{In: e.Port, Out: e.Out, Coflow: e.Coflow, Intent: e.At,
		InService: Unset,
		Ended:     Unset})
	s.d.Circuits[e.Port] = Circuit{Out: e.Out, Phase: controller.Reconfiguring, Coflow: e.Coflow, Since: e.At,
		Move: int32(len(s.d.Moves) - 1)}
	s.leads[e.Out] = e.Port
	return nil
}

// dark takes the circuit of an input away.
func (s *State) dark(in southbound.Port, at time.Duration) {
	c := &s.d.Circuits[in]
	s.leads[c.Out] = southbound.NoPort
	*c = Circuit{Out: southbound.NoPort, Coflow: controller.AnyCoflow, Move: -1, Since: at}
}

// Leading returns the input whose circuit leads to an output, NoPort where none does.
func (s *State) Leading(out southbound.Port) southbound.Port { return s.leads[out] }

// settle records the outcome of a move: in service, or failed and gone.
func (s *State) settle(e *Entry) error {
	if !inRange(e.Port, len(s.d.Circuits)) {
		return fmt.Errorf("settle %d→%d: no such port", e.Port, e.Out)
	}
	c := &s.d.Circuits[e.Port]
	if c.Out == southbound.NoPort || c.Out != e.Out || (e.OK && c.Phase == controller.InService) {
		return ErrStale
	}
	m := &s.d.Moves[c.Move]
	if e.Stages != nil {
		m.Stages = *e.Stages
	}
	if e.OK {
		c.Phase, c.Since, m.InService = controller.InService, e.At, e.At
		_, m.Carried = s.Holding(e.Port)
		return nil
	}
	m.Ended, m.Failed = e.At, true
	s.dark(e.Port, e.At)
	return nil
}

// drop records that a circuit is being taken away: from now on nothing is steered to it.
func (s *State) drop(e *Entry) error {
	if !inRange(e.Port, len(s.d.Circuits)) {
		return fmt.Errorf("drop %d→%d: no such port", e.Port, e.Out)
	}
	c := &s.d.Circuits[e.Port]
	if c.Phase != controller.InService || c.Out != e.Out {
		return ErrStale
	}
	s.d.Moves[c.Move].Ended = e.At
	s.dark(e.Port, e.At)
	return nil
}

// AppendTags appends the current tag of each row of a coflow. It is the circuit's if a begun
// reservation carries the row and the circuit is in service; TagHold if the reservation's Fallback
// requires it meanwhile, or if the fabric carries bytes between racks over circuits only; otherwise the
// route's.
func (s *State) AppendTags(buf []southbound.Tag, id southbound.CoflowID) []southbound.Tag {
	c := s.Coflow(id)
	base := len(buf)
	buf = append(buf, c.Tag...)
	if len(s.d.Circuits) == 0 {
		return buf
	}
	lit, held := s.circuitsOf(id)
	only := controller.CircuitsOnly(s.fabric)
	for row := range c.Tag {
		in, out := s.RackOf(c.Columns.Src[row]), s.RackOf(c.Columns.Dst[row])
		switch {
		case s.slicing.parallel != nil && in != out:
			if n := s.countLit(lit, in, out); n > 0 {
				buf[base+row] = s.circuitTag(id, int32(row), n)
			}
		case s.isLit(lit, in, out):
			buf[base+row] = southbound.TagCircuit
		case only && in != out || held[[2]southbound.RackID{in, out}]:
			buf[base+row] = southbound.TagHold
		}
	}
	return buf
}

// rack returns the rack that an OCS port goes to.
func (s *State) rack(p southbound.Port) southbound.RackID {
	return southbound.RackID(s.fabric.OCSRack(int32(p)))
}

// isLit reports whether some wavelength of a rack leads to another, given where each input leads.
func (s *State) isLit(lit []southbound.RackID, from, to southbound.RackID) bool {
	for in := int(from); in < len(lit); in += s.fabric.Racks {
		if lit[in] == to {
			return true
		}
	}
	return false
}

// circuitsOf returns the racks that circuits in service lead to that carry a coflow, by input, AnyRack
// for none; and the pairs that hold its host flows until they have one.
func (s *State) circuitsOf(id southbound.CoflowID) (lit []southbound.RackID,
	held map[[2]southbound.RackID]bool) {
	lit = slices.Repeat([]southbound.RackID{southbound.AnyRack}, len(s.d.Circuits))
	for in := range s.ledger.byIn {
		all := s.ledger.byIn[in].Live()
		for i := range all {
			r := &all[i]
			if !r.Begun && s.ledger.waits == 0 {
				break
			}
			if r.Coflow != id && r.Coflow != controller.AnyCoflow {
				continue
			}
			switch at := s.d.Circuits[in]; {
			case s.rack(r.In) == s.rack(r.Out): // of a slice: its cube needs no circuit to reach itself
			case r.Begun && at.Phase == controller.InService && at.Out == r.Out:
				lit[in] = s.rack(r.Out)
			case r.Fallback == controller.Hold:
				if held == nil {
					held = map[[2]southbound.RackID]bool{}
				}
				held[[2]southbound.RackID{s.rack(r.In), s.rack(r.Out)}] = true
			}
		}
	}
	return lit, held
}

// TagOf returns the tag that a row of a coflow should be sent with now, as AppendTags does for all.
func (s *State) TagOf(id southbound.CoflowID, c *Coflow, row int32) southbound.Tag {
	from, to := s.RackOf(c.Columns.Src[row]), s.RackOf(c.Columns.Dst[row])
	if len(s.d.Circuits) == 0 {
		return c.Tag[row]
	}
	if s.slicing.parallel != nil {
		if n := s.joined(from, to); n > 0 {
			return s.circuitTag(id, row, n)
		}
		return c.Tag[row]
	}
	held := controller.CircuitsOnly(s.fabric) && from != to
	for w := 0; w < len(s.d.Circuits); w += s.fabric.Racks {
		lit, hold := s.circuitOver(southbound.Port(w+int(from)), southbound.Port(w+int(to)), id)
		if lit {
			return southbound.TagCircuit
		}
		held = held || hold
	}
	if held {
		return southbound.TagHold
	}
	return c.Tag[row]
}

// circuitTag deals the rows of a coflow to the circuits between two cubes of a pod, of which n are in service.
func (s *State) circuitTag(id southbound.CoflowID, row int32, n int) southbound.Tag {
	return s.slicing.parallel[(int(id)+int(row))%min(n, len(s.slicing.parallel))]
}

// countLit counts the circuits from one rack to another, given where each input leads.
func (s *State) countLit(lit []southbound.RackID, from, to southbound.RackID) (n int) {
	for in := int(from); in < len(lit); in += s.fabric.Racks {
		if lit[in] == to {
			n++
		}
	}
	return n
}

// joined counts the circuits of slices in service from one cube to another.
func (s *State) joined(from, to southbound.RackID) (n int) {
	if from == to {
		return 0
	}
	for in := int(from); in < len(s.d.Circuits); in += s.fabric.Racks {
		c := s.d.Circuits[in]
		if c.Phase != controller.InService || s.rack(c.Out) != to {
			continue
		}
		if r, held := s.Holding(southbound.Port(in)); held && r.Out == c.Out {
			n++
		}
	}
	return n
}

// circuitOver reports whether a circuit in service from one port to another carries a coflow, and
// whether a reservation of it has host flows wait for that.
func (s *State) circuitOver(in, out southbound.Port, id southbound.CoflowID) (lit, held bool) {
	all := s.ledger.byIn[in].Live()
	for i := range all {
		r := &all[i]
		if !r.Begun && s.ledger.waits == 0 {
			break
		}
		if r.Out != out || r.Coflow != id && r.Coflow != controller.AnyCoflow {
			continue
		}
		if at := s.d.Circuits[in]; r.Begun && at.Phase == controller.InService && at.Out == out {
			return true, held
		}
		held = held || r.Fallback == controller.Hold
	}
	return false, held
}
