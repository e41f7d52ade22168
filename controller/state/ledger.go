package state

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/internal/queue"
	"lightloom/controller/internal/sparse"
	"lightloom/southbound"
)

// ledger holds the reservations by port, for look-ups. It follows from Data.Ledger, which is written
// from it on request.
type ledger struct {
	byIn   []queue.Queue[CircuitReservation] // by input, sorted by NotBefore
	byOut  []queue.Queue[booking]            // by output, likewise
	edges  portInstants                      // by input: when its first reservation begins, or ends once it has begun
	begun  []southbound.Port                 // by output: the input of the begun reservation, NoPort for none
	holds  []southbound.Port                 // by input: the output of the begun reservation, likewise
	count  int
	waits  int                 // those whose host flows wait for them
	opened sparse.Table[int32] // by coflow, AnyCoflow before the first: how many unbegun ones it has
	stale  bool                // Data.Ledger is not up to date
}

// booking is a reservation as its output knows it.
type booking struct {
	from, to time.Duration
	in       southbound.Port
	coflow   southbound.CoflowID
}

func newLedger(ports int) ledger {
	return ledger{byIn: make([]queue.Queue[CircuitReservation], ports),
		byOut: make([]queue.Queue[booking], ports),
		edges: newPortInstants(ports),
		begun: slices.Repeat([]southbound.Port{southbound.NoPort}, ports),
		holds: slices.Repeat([]southbound.Port{southbound.NoPort}, ports)}
}

// ledgerOf returns the ledger of reservations, which is an error where two of one port overlap.
func ledgerOf(all []CircuitReservation, ports int) (ledger, error) {
	l := newLedger(ports)
	for i := range all {
		r := &all[i]
		in, out, clash := l.place(&r.CircuitReservation)
		if clash != nil {
			return l, fmt.Errorf("reservations %d→%d and %d→%d overlap", clash.In, clash.Out, r.In, r.Out)
		}
		l.add(r, in, out)
	}
	l.stale = false
	return l, nil
}

// place returns where a reservation belongs among those of its input and of its output, and a
// reservation that it overlaps there; nil for none.
func (l *ledger) place(r *controller.CircuitReservation) (in, out int, clash *CircuitReservation) {
	mine := l.byIn[r.In].Live()
	if in = len(mine); in > 0 && mine[in-1].NotAfter > r.NotBefore { // else it comes last, as most do
		in = seek(mine, r.NotBefore)
	}
	for k := max(in-1, 0); k < min(in+1, len(mine)); k++ {
		if o := &mine[k]; r.NotBefore < o.NotAfter && o.NotBefore < r.NotAfter {
			return in, out, o
		}
	}
	theirs := l.byOut[r.Out].Live()
	if out = len(theirs); out > 0 && theirs[out-1].to > r.NotBefore {
		out = seekBooking(theirs, r.NotBefore)
	}
	for k := max(out-1, 0); k < min(out+1, len(theirs)); k++ {
		if o := &theirs[k]; r.NotBefore < o.to && o.from < r.NotAfter {
			other := l.byIn[o.in].Live()
			return in, out, &other[seek(other, o.from)]
		}
	}
	return in, out, nil
}

// seek returns the place of the first reservation that begins at an instant or later.
func seek(all []CircuitReservation, at time.Duration) int {
	first, end := 0, len(all)
	for first < end {
		if m := int(uint(first+end) / 2); all[m].NotBefore < at {
			first = m + 1
		} else {
			end = m
		}
	}
	return first
}

func seekBooking(all []booking, at time.Duration) int {
	first, end := 0, len(all)
	for first < end {
		if m := int(uint(first+end) / 2); all[m].from < at {
			first = m + 1
		} else {
			end = m
		}
	}
	return first
}

// add inserts a reservation, which must conflict with none, at the positions from place.
func (l *ledger) add(r *CircuitReservation, in, out int) {
	l.byIn[r.In].Insert(in, *r)
	l.byOut[r.Out].Insert(out, booking{r.NotBefore, r.NotAfter, r.In, r.Coflow})
	l.counted(r, 1)
	l.refreshEdge(r.In)
}

// refreshEdge brings the edge of an input up to date.
func (l *ledger) refreshEdge(in southbound.Port) {
	edge := southbound.Never
	if r := l.byIn[in].Live(); len(r) > 0 {
		if edge = r[0].NotBefore; r[0].Begun {
			edge = r[0].NotAfter
		}
	}
	l.edges.Set(in, edge)
}

// setDigest counts a reservation that comes (1) or goes (-1).
func (l *ledger) counted(r *CircuitReservation, n int) {
	l.stale = true
	l.count += n
	if r.Fallback == controller.Hold {
		l.waits += n
	}
	if r.Begun {
		if l.begun[r.Out], l.holds[r.In] = r.In, r.Out; n < 0 {
			l.begun[r.Out], l.holds[r.In] = southbound.NoPort, southbound.NoPort
		}
		return
	}
	i := opening(r.Coflow)
	open := l.opened.Make(i)
	if *open += int32(n); *open == 0 {
		l.opened.Drop(i)
	}
}

// opening is the place of a coflow in opened.
func opening(c southbound.CoflowID) int { return int(c - controller.AnyCoflow) }

// holding returns the begun reservation of an input. Borrowed; nil for none.
func (l *ledger) holding(in southbound.Port) *CircuitReservation {
	if !inRange(in, len(l.byIn)) || l.holds[in] == southbound.NoPort {
		return nil
	}
	all := l.byIn[in].Live()
	for i := range all {
		if all[i].Begun {
			return &all[i]
		}
	}
	return nil
}

// begin marks the first reservation of an input as begun.
func (l *ledger) begin(in southbound.Port) {
	r := &l.byIn[in].Live()[0]
	l.counted(r, -1)
	r.Begun = true
	l.counted(r, 1)
	l.refreshEdge(in)
}

// removeFirst takes the first reservation of an input out.
func (l *ledger) removeFirst(in southbound.Port) {
	r := l.byIn[in].Live()[0]
	l.byIn[in].Remove(0)
	k := 0
	if theirs := l.byOut[r.Out].Live(); theirs[0].from != r.NotBefore {
		k = seekBooking(theirs, r.NotBefore)
	}
	l.byOut[r.Out].Remove(k)
	l.counted(&r, -1)
	l.refreshEdge(in)
}

// withdraw takes the unbegun reservations of a coflow out, and reports whether there were any.
func (l *ledger) withdraw(c southbound.CoflowID) bool {
	i := opening(c)
	if i < 0 || l.opened.Get(i) == nil {
		return false
	}
	left := *l.opened.Get(i) // at the outputs
	for in := 0; l.opened.Get(i) != nil; in++ {
		gone := l.byIn[in].Drop(func(r *CircuitReservation) bool {
			goes := r.Coflow == c && !r.Begun
			if goes {
				l.counted(r, -1)
			}
			return goes
		})
		if gone {
			l.refreshEdge(southbound.Port(in))
		}
	}
	for out := 0; left > 0; out++ {
		l.byOut[out].Drop(func(b *booking) bool {
			goes := b.coflow == c && !l.hasBegun(out, b)
			if goes {
				left--
			}
			return goes
		})
	}
	return true
}

// hasBegun reports whether a booking of an output is of the reservation that holds it.
func (l *ledger) hasBegun(out int, b *booking) bool {
	r := l.holding(l.begun[out])
	return r != nil && b.in == r.In && b.from == r.NotBefore
}

// flatten appends all reservations, sorted by (In, NotBefore).
func (l *ledger) flatten(buf []CircuitReservation) []CircuitReservation {
	for in := range l.byIn {
		buf = append(buf, l.byIn[in].Live()...)
	}
	return buf
}
