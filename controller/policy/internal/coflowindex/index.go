// Package coflowindex keeps what a part of a policy remembers of each coflow from one decision to the
// next, and detects when a coflow's rows have changed since they were read. It does not interpret what
// is remembered.
package coflowindex

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// Entry is embedded in what an Index remembers of a coflow.
type Entry struct {
	generation uint64 // of the rows that were read; 0: they are to be read anew
	met        uint64 // the decision that last met it
}

func (e *Entry) entry() *Entry { return e }

// Index is by coflow. The zero value is empty.
type Index[B interface {
	comparable
	entry() *Entry
}] struct {
	byID     map[southbound.CoflowID]B
	decision uint64

	// Coflows mostly come in the order of the decision before, so that few are looked up.
	met, before []entryOf[B] // in this decision and in the one before, in their order
	at          int          // in before: the one that is likely to be next
}

// entryOf is what is remembered of a coflow, with its id.
type entryOf[B any] struct {
	id southbound.CoflowID
	b  B
}

// Begin begins a decision: no coflow has been met in it.
func (x *Index[B]) Begin() {
	if x.byID == nil {
		x.byID = map[southbound.CoflowID]B{}
	}
	x.decision++
	clear(x.before)
	x.met, x.before, x.at = x.before[:0], x.met, 0
}

// Get meets a coflow and returns what is remembered of its rows; false where nothing is, or other rows
// were read.
func (x *Index[B]) Get(c *controller.CoflowView) (b B, known bool) {
	b, known = x.find(c.ID)
	if !known || c.Generation == 0 || b.entry().generation != c.Generation {
		return b, false
	}
	b.entry().met = x.decision
	x.met = append(x.met, entryOf[B]{c.ID, b})
	return b, true
}

// find returns what is remembered of a coflow of that id. One before it may have gone.
func (x *Index[B]) find(id southbound.CoflowID) (b B, known bool) {
	for k := x.at; k < min(x.at+2, len(x.before)); k++ {
		if x.before[k].id == id {
			x.at = k + 1
			return x.before[k].b, true
		}
	}
	b, known = x.byID[id]
	return b, known
}

// Put meets a coflow and remembers b of its rows, in the place of what was remembered before.
func (x *Index[B]) Put(c *controller.CoflowView, b B) {
	*b.entry() = Entry{c.Generation, x.decision}
	x.byID[c.ID] = b
	if n := len(x.met); n > 0 && x.met[n-1].id == c.ID {
		x.met = x.met[:n-1]
	}
	x.met = append(x.met, entryOf[B]{c.ID, b})
}

// At returns what is remembered of a coflow of that id, of whatever rows; nil: nothing.
func (x *Index[B]) At(id southbound.CoflowID) B { return x.byID[id] }

// Met reports whether b has been met in this decision.
func (x *Index[B]) Met(b B) bool { return b.entry().met == x.decision }

// Len returns how many coflows are remembered.
func (x *Index[B]) Len() int { return len(x.byID) }

// Each calls f with all that is remembered, in no order.
func (x *Index[B]) Each(f func(B)) {
	for _, b := range x.byID {
		f(b)
	}
}

// Forget drops the coflows that have not been met in this decision: what is remembered of giants is not
// small.
func (x *Index[B]) Forget() {
	clear(x.before) // Begin clears up to the length only
	x.before = x.before[:0]
	for id, b := range x.byID {
		if !x.Met(b) {
			delete(x.byID, id)
		}
	}
}
