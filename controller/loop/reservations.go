package loop

import (
	"math/bits"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// reservations is which inputs of the OCS are to be looked at, and whose reservations end and begin in
// this pass.
type reservations struct {
	ended   ports             // inputs whose first reservation ends in this pass
	began   ports             // inputs of which a reservation begins in this pass
	due     ports             // inputs whose first reservation is to begin or end in this pass
	idle    ports             // inputs whose first reservation possibly has nothing left to carry
	asking  ports             // those of which it is being asked
	astray  ports             // inputs whose begun reservation possibly lost its circuit since it was last looked at
	looking ports             // those that are being looked at
	taken   []bool            // by OCS output: of what begins in this pass
	outs    []southbound.Port // those outputs
}

func newReservations(ports int) reservations { return reservations{taken: make([]bool, ports)} }

// reset begins a pass.
func (r *reservations) reset() {
	r.ended.clear()
	r.began.clear()
}

// find collects the ports that are due by now, and reports whether there are any. One input can have several
// reservations that are over: each pass ends the first, and the input stays due.
func (r *reservations) find(s *state.State, now time.Duration) bool {
	r.idle, r.asking = r.asking, r.idle
	r.idle.clear()
	r.astray, r.looking = r.looking, r.astray
	r.astray.clear()
	if r.due.clear(); s.Edge() <= now {
		s.Due(now, r.due.addBits)
	}
	return r.looking.any || r.asking.any || r.due.any
}

// free reports whether an output is free once this pass's entries are applied.
func (r *reservations) free(s *state.State, out southbound.Port) bool {
	by := s.Taker(out)
	return !r.taken[out] && (by == southbound.NoPort || r.ended.has(by))
}

// begin notes that a reservation begins.
func (r *reservations) begin(in, out southbound.Port) {
	r.taken[out] = true
	r.outs = append(r.outs, out)
	r.began.add(in)
	r.astray.add(in)
}

// release ends the beginning of reservations.
func (r *reservations) release() {
	for _, out := range r.outs {
		r.taken[out] = false
	}
	r.outs = r.outs[:0]
}

// comes returns the reservation of an input that is to begin: the first, or the one after it where that
// ends in this pass. nil: none is.
func (r *reservations) comes(s *state.State, in southbound.Port,
	now time.Duration) *state.CircuitReservation {
	next := s.First(in)
	if r.ended.has(in) {
		next = s.Second(in)
	}
	if next == nil || next.Begun || next.NotBefore > now {
		return nil
	}
	return next
}

// goesOn reports whether a reservation that begins in this pass carries the rows of a pair over the
// circuit that they are on.
func (r *reservations) goesOn(s *state.State, of pairOf) bool {
	if c := s.Circuit(of.in); !r.began.has(of.in) || c.Out != of.out || c.Phase != controller.InService {
		return false
	}
	next, held := r.holding(s, of.in)
	return held && next.Out == of.out && (next.Coflow == of.coflow || next.Coflow == controller.AnyCoflow)
}

// holding returns the reservation that will hold an input once this pass's entries are applied, if
// there is one.
func (r *reservations) holding(s *state.State,
	in southbound.Port) (first state.CircuitReservation, held bool) {
	switch {
	case r.began.has(in) && r.ended.has(in):
		return *s.Second(in), true
	case r.began.has(in):
		return *s.First(in), true
	case r.ended.has(in):
		return first, false
	}
	return s.Holding(in)
}

// endReservation ends the first reservation of an input, once in a pass: a second end would be taken
// for the next one's.
func (l *Loop) endReservation(s *state.State, now time.Duration, r *state.CircuitReservation,
	why state.Cause) {
	if l.reservations.ended.has(r.In) {
		return
	}
	l.reservations.ended.add(r.In)
	e := l.pass.put(state.CircuitReservationEnded, now)
	e.Port, e.Cause = r.In, why
	l.noteEnded(s, now, &r.CircuitReservation, why)
	l.reservations.idle.add(r.In)
	switch why {
	case state.Delivered: // nothing is left that could be steered
	case state.Broken:
		l.steering.changed(&r.CircuitReservation)
	default:
		l.steering.leave(&r.CircuitReservation)
	}
	if why != state.Preempted {
		l.pending.note(controller.CircuitReservationEnded, now, -1, r.Coflow, 0)
	}
	if why == state.RanOut && !r.Partial || why == state.Broken || why == state.Delivered &&
		r.NotAfter-now > l.cfg.Delta {
		l.pending.note(controller.PortsFreed, now, -1, r.Coflow, 0) // the plan did not expect it
	}
}

// endDue ends begun reservations that are over and skips unbegun ones that have nothing to carry.
func (l *Loop) endDue(s *state.State, now time.Duration) bool {
	rs := &l.reservations
	if !rs.find(s, now) {
		return false
	}
	n := l.fabric.OCSPorts()
	for w := 0; 64*w < n; w++ {
		for may := rs.looking.word(w) | rs.asking.word(w) | rs.due.word(w); may != 0; may &= may - 1 {
			k := 64*w + bits.TrailingZeros64(may)
			if k >= n {
				break
			}
			l.endFirst(s, now, southbound.Port(k))
		}
	}
	return len(l.pass.entries) > 0
}

// goesOn reports whether the next circuits can begin in the pass in which reservations end: no call or
// message must come first, and nothing else ends once these are gone, so that the next pass would only
// begin them.
func (l *Loop) goesOn(s *state.State, now time.Duration) bool {
	if len(l.pending.events) > 0 || !l.steering.none() || !l.cfg.Demand.Oracle() {
		return false
	}
	for w, word := range l.reservations.ended.some {
		for ; word != 0; word &= word - 1 {
			r := s.Second(southbound.Port(64*w + bits.TrailingZeros64(word)))
			if r != nil && (now >= r.NotAfter || s.Idle(&r.CircuitReservation)) {
				return false
			}
		}
	}
	l.reservations.idle.clear() // it has just been asked
	return true
}

// endFirst ends the first reservation of an input if it is over.
func (l *Loop) endFirst(s *state.State, now time.Duration, in southbound.Port) {
	r := s.First(in)
	switch {
	case r == nil:
	case l.reservations.asking.has(in) && s.Idle(&r.CircuitReservation):
		l.endReservation(s, now, r, state.Delivered)
	case r.Begun && s.Circuit(in).Out != r.Out: // its move failed in the very pass in which it began
		l.endReservation(s, now, r, state.Broken)
	case now >= r.NotAfter:
		l.endReservation(s, now, r, state.RanOut)
	}
}

// beginDue begins the reservations whose time has come and whose ports no other one holds, and intends
// their circuits.
func (l *Loop) beginDue(s *state.State, now time.Duration) {
	rs := &l.reservations
	for w := range max(len(rs.due.some), len(rs.ended.some)) {
		for may := rs.due.word(w) | rs.ended.word(w); may != 0; may &= may - 1 {
			if r := rs.comes(s, southbound.Port(64*w+bits.TrailingZeros64(may)), now); r != nil {
				l.beginOne(s, now, r)
			}
		}
	}
	rs.release()
}

// beginOne begins a reservation, unless another one holds its output.
func (l *Loop) beginOne(s *state.State, now time.Duration, r *state.CircuitReservation) {
	if !l.reservations.free(s, r.Out) {
		return
	}
	if l.portDown(s, r.In) || l.portDown(s, r.Out) {
		l.endReservation(s, now, r, state.Broken) // its circuit would carry no light
		return
	}
	l.reservations.begin(r.In, r.Out)
	l.pass.put(state.CircuitReservationBegun, now).Port = r.In
	l.noteBegun(s, now, &r.CircuitReservation)
	c := s.Circuit(r.In)
	if c.Out == r.Out && c.Phase == controller.InService { // else they are steered once it is
		l.steering.changed(&r.CircuitReservation)
		l.noteService(s, now, 0, &r.CircuitReservation)
		l.pending.note(controller.CircuitInService, now, -1, r.Coflow, 0) // others' rates were decided before
	}
	if c.Out != r.Out || c.Phase == controller.NoCircuit {
		if other := s.Leading(r.Out); other != southbound.NoPort { // it goes dark
			l.reservations.astray.add(other)
		}
		e := l.pass.put(state.CircuitIntended, now)
		e.Port, e.Out, e.Coflow = r.In, r.Out, r.Coflow
		gone := l.circuits.displaced(s, r.In, r.Out)
		if s.SliceCircuit(r.In) == r.Out {
			gone = slices.DeleteFunc(gone, l.silentEnd)
		}
		l.circuits.mover.Begin(now, r.In, r.Out, gone)
	}
}
