package state

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// ledger is the reservations as they are looked for: by port. It follows from Data.Ledger, which is written from it when
// somebody asks.
type ledger struct {
	byIn   [][]Reservation   // by input, sorted by NotBefore
	byOut  [][]booking       // by output, likewise
	edge   []time.Duration   // by input: when its first reservation begins, or ends once it has begun; southbound.Never for none
	begun  []southbound.Port // by output: the input of the begun reservation, NoPort for none
	count  int
	holds  int                         // those whose bundles wait for them
	opened map[southbound.CoflowID]int // how many unbegun ones a coflow has
	stale  bool                        // Data.Ledger is not up to date
	next   time.Duration               // the least of edge, where looked
	looked bool
}

// booking is a reservation as its output knows it.
type booking struct {
	from, to time.Duration
	in       southbound.Port
}

func newLedger(ports int) ledger {
	return ledger{byIn: make([][]Reservation, ports), byOut: make([][]booking, ports), edge: slices.Repeat([]time.Duration{southbound.Never}, ports),
		begun: slices.Repeat([]southbound.Port{southbound.NoPort}, ports), opened: map[southbound.CoflowID]int{}}
}

// conflict returns a reservation that overlaps r on one of its ports, false if none does.
func (l *ledger) conflict(r *controller.Reservation) (Reservation, bool) {
	at, _ := slices.BinarySearchFunc(l.byIn[r.In], r.NotBefore, byBegin)
	for _, k := range [2]int{at - 1, at} {
		if k >= 0 && k < len(l.byIn[r.In]) {
			if o := &l.byIn[r.In][k]; r.NotBefore < o.NotAfter && o.NotBefore < r.NotAfter {
				return *o, true
			}
		}
	}
	at, _ = slices.BinarySearchFunc(l.byOut[r.Out], r.NotBefore, booksBegin)
	for _, k := range [2]int{at - 1, at} {
		if k >= 0 && k < len(l.byOut[r.Out]) {
			if o := &l.byOut[r.Out][k]; r.NotBefore < o.to && o.from < r.NotAfter {
				i, _ := slices.BinarySearchFunc(l.byIn[o.in], o.from, byBegin)
				return l.byIn[o.in][i], true
			}
		}
	}
	return Reservation{}, false
}

func byBegin(o Reservation, at time.Duration) int { return cmp.Compare(o.NotBefore, at) }

func booksBegin(o booking, at time.Duration) int { return cmp.Compare(o.from, at) }

// add puts a reservation in that conflicts with none.
func (l *ledger) add(r Reservation) {
	i, _ := slices.BinarySearchFunc(l.byIn[r.In], r.NotBefore, byBegin)
	l.byIn[r.In] = slices.Insert(l.byIn[r.In], i, r)
	i, _ = slices.BinarySearchFunc(l.byOut[r.Out], r.NotBefore, booksBegin)
	l.byOut[r.Out] = slices.Insert(l.byOut[r.Out], i, booking{r.NotBefore, r.NotAfter, r.In})
	l.tally(&r, 1)
	l.look(r.In)
}

// look brings the edge of an input up to date.
func (l *ledger) look(in southbound.Port) {
	l.looked = false
	switch r := l.byIn[in]; {
	case len(r) == 0:
		l.edge[in] = southbound.Never
	case r[0].Begun:
		l.edge[in] = r[0].NotAfter
	default:
		l.edge[in] = r[0].NotBefore
	}
}

// tally counts a reservation that comes (1) or goes (-1).
func (l *ledger) tally(r *Reservation, n int) {
	l.stale = true
	l.count += n
	if r.Meanwhile == controller.Hold {
		l.holds += n
	}
	if r.Begun {
		if l.begun[r.Out] = r.In; n < 0 {
			l.begun[r.Out] = southbound.NoPort
		}
		return
	}
	if l.opened[r.Coflow] += n; l.opened[r.Coflow] == 0 {
		delete(l.opened, r.Coflow)
	}
}

// begin marks the first reservation of an input as begun.
func (l *ledger) begin(in southbound.Port) {
	r := &l.byIn[in][0]
	l.tally(r, -1)
	r.Begun = true
	l.tally(r, 1)
	l.look(in)
}

// remove takes a reservation of an input out, by its place there.
func (l *ledger) remove(in southbound.Port, i int) {
	r := l.byIn[in][i]
	l.byIn[in] = slices.Delete(l.byIn[in], i, i+1)
	k, _ := slices.BinarySearchFunc(l.byOut[r.Out], r.NotBefore, booksBegin)
	l.byOut[r.Out] = slices.Delete(l.byOut[r.Out], k, k+1)
	l.tally(&r, -1)
	l.look(in)
}

// withdraw takes the unbegun reservations of a coflow out, and says whether there were any.
func (l *ledger) withdraw(c southbound.CoflowID) bool {
	n := l.opened[c]
	any := n > 0
	for in := 0; n > 0; in++ {
		for i := len(l.byIn[in]) - 1; i >= 0; i-- {
			if r := &l.byIn[in][i]; r.Coflow == c && !r.Begun {
				l.remove(southbound.Port(in), i)
				n--
			}
		}
	}
	return any
}

// flatten appends all reservations, sorted by (In, NotBefore).
func (l *ledger) flatten(buf []Reservation) []Reservation {
	for in := range l.byIn {
		buf = append(buf, l.byIn[in]...)
	}
	return buf
}

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

// Ledger returns the reservations, sorted by (In, NotBefore). Borrowed.
func (s *State) Ledger() []Reservation {
	s.write()
	return s.d.Ledger
}

// Reserved returns how many reservations there are.
func (s *State) Reserved() int { return s.ledger.count }

// First returns the reservation of an input that begins, or has begun, first. Borrowed; nil for none.
func (s *State) First(in southbound.Port) *Reservation {
	if r := s.ledger.byIn[in]; len(r) > 0 {
		return &r[0]
	}
	return nil
}

// Second returns the reservation of an input that comes after First's. Borrowed; nil for none.
func (s *State) Second(in southbound.Port) *Reservation {
	if r := s.ledger.byIn[in]; len(r) > 1 {
		return &r[1]
	}
	return nil
}

// Taker returns the input whose begun reservation holds an output, NoPort where none does.
func (s *State) Taker(out southbound.Port) southbound.Port { return s.ledger.begun[out] }

// Holds says whether any reservation has its bundles wait for it.
func (s *State) Holds() bool { return s.ledger.holds > 0 }

// Holding returns the begun reservation of an input, if there is one.
func (s *State) Holding(in southbound.Port) (Reservation, bool) {
	if inRange(in, len(s.ledger.byIn)) {
		for i := range s.ledger.byIn[in] {
			if r := &s.ledger.byIn[in][i]; r.Begun {
				return *r, true
			}
		}
	}
	return Reservation{}, false
}

func (s *State) withdraw(e *Entry) error {
	if !s.ledger.withdraw(e.Coflow) {
		return ErrStale
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
	if in, found := s.elsewhere(&r); found {
		return fmt.Errorf("reserve %d→%d: another wavelength joins these racks, from port %d: %w", r.In, r.Out, in, ErrConflict)
	}
	if o, found := s.ledger.conflict(&r); found {
		return fmt.Errorf("reserve %d→%d [%v, %v): %d→%d holds [%v, %v): %w",
			r.In, r.Out, r.NotBefore, r.NotAfter, o.In, o.Out, o.NotBefore, o.NotAfter, ErrConflict)
	}
	s.ledger.add(Reservation{Reservation: r})
	return nil
}

// elsewhere returns the input of another wavelength that joins the racks of a reservation or is to, whenever; false where
// none does. What goes from one rack to another is told by one tag, so that a ToR can send it to one wavelength only.
func (s *State) elsewhere(r *controller.Reservation) (southbound.Port, bool) {
	n := southbound.Port(s.fabric.Racks)
	for in, out := r.In%n, r.Out%n; int(in) < len(s.d.Circuits); in, out = in+n, out+n {
		if in == r.In {
			continue
		}
		if s.d.Circuits[in].Out == out || slices.ContainsFunc(s.ledger.byIn[in], func(o Reservation) bool { return o.Out == out }) {
			return in, true
		}
	}
	return southbound.NoPort, false
}

// begin marks the first unbegun reservation of an input as begun. Its ports must be free of begun ones.
func (s *State) begin(e *Entry) error {
	if !inRange(e.Port, len(s.ledger.byIn)) || len(s.ledger.byIn[e.Port]) == 0 {
		return ErrStale
	}
	r := s.ledger.byIn[e.Port][0]
	if r.Begun {
		return ErrStale
	}
	o, held := s.Holding(e.Port)
	if in := s.ledger.begun[r.Out]; in != southbound.NoPort {
		o, held = s.Holding(in)
	}
	if held {
		return fmt.Errorf("begin reservation %d→%d: %d→%d: %w", r.In, r.Out, o.In, o.Out, ErrConflict)
	}
	s.ledger.begin(e.Port)
	if c := &s.d.Circuits[e.Port]; c.Phase == controller.Usable && c.Out == r.Out {
		c.Coflow = r.Coflow
		s.d.Moves[c.Move].Carried = true
	}
	return nil
}

// end takes the first reservation of an input out of the ledger: the begun one, or one that is skipped.
func (s *State) end(e *Entry) error {
	if !inRange(e.Port, len(s.ledger.byIn)) || len(s.ledger.byIn[e.Port]) == 0 {
		return ErrStale
	}
	s.ledger.remove(e.Port, 0)
	return nil
}

// Boundary returns the earliest instant at which a reservation begins or ends, or a pledge or a job's time is over;
// southbound.Never if there is none.
func (s *State) Boundary() time.Duration { return min(s.Edge(), s.NextPledge(), s.nextDeath()) }

// Edge returns the earliest instant at which a reservation begins or ends, southbound.Never if there is none.
func (s *State) Edge() time.Duration {
	l := &s.ledger
	if !l.looked {
		l.looked, l.next = true, southbound.Never
		for _, edge := range l.edge {
			l.next = min(l.next, edge)
		}
	}
	return l.next
}

// Edges returns when the first reservation of each input begins, or ends once it has begun; southbound.Never where an
// input has none. Borrowed.
func (s *State) Edges() []time.Duration { return s.ledger.edge }

// Rows calls f with each row of a coflow between the racks of two OCS ports that has not ended. Rows are sorted by destination, then
// source, and a rack's hosts follow each other.
func (s *State) Rows(c *Coflow, in, out southbound.Port, f func(row int32)) {
	rack := s.rack(in)
	from, to := southbound.HostID(s.fabric.FirstHost[rack]), southbound.HostID(s.fabric.FirstHost[rack+1])
	rack = s.rack(out)
	dst, last := southbound.HostID(s.fabric.FirstHost[rack]), southbound.HostID(s.fabric.FirstHost[rack+1])
	for row := 0; dst < last; dst++ {
		row = c.seek(row, dst, from)
		for ; row < len(c.Done) && c.Columns.Dst[row] == dst && c.Columns.Src[row] < to; row++ {
			if !c.Done[row] {
				f(int32(row))
			}
		}
		if row == len(c.Done) {
			return
		}
		dst = max(dst, c.Columns.Dst[row]-1) // hosts in between receive nothing
	}
}

// seek returns the first row from one on that is of a later destination, or of that destination and of that source or a
// later one.
func (c *Coflow) seek(row int, dst, src southbound.HostID) int {
	to, from := c.Columns.Dst, c.Columns.Src
	end := len(c.Done)
	for row < end {
		m := int(uint(row+end) / 2)
		if to[m] < dst || to[m] == dst && from[m] < src {
			row = m + 1
		} else {
			end = m
		}
	}
	return row
}

// Idle says whether a reservation has nothing left to carry: its coflow is over, or all its rows between the two racks
// are. One for any coflow is never idle.
func (s *State) Idle(r *controller.Reservation) bool {
	if r.Coflow == controller.AnyCoflow {
		return false
	}
	idle := true
	s.Rows(s.d.Coflows[r.Coflow], r.In, r.Out, func(int32) { idle = false })
	return idle
}
