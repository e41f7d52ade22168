// Package des is a discrete-event clock: virtual time, and events that are taken in the order of
// (instant, order added). It holds no goroutine and no timer, and it is not a scheduler of work: an
// event is a value, and what it means is its taker's business.
package des

import (
	"fmt"
	"time"
)

// Event names a pending event of one Clock. The zero Event names none. A name goes stale when its event
// is taken or cancelled, and is never given again (in 2³² uses of one slot).
type Event struct {
	slot int32
	gen  uint32
}

// Clock holds virtual time and the events to come, each with a value of type T. The zero Clock stands
// at instant 0 and is ready for use. Once it has held as many events as it ever will, no method
// allocates.
type Clock[T any] struct {
	now     time.Duration
	seq     uint64
	heap    []node
	instant []int32 // slots of events at now, behind those in the heap; none for those that are gone
	first   int     // in instant, the first that is not
	slots   []slot[T]
	free    []int32
}

// node is a pending event in the heap: its key, and where its value is.
type node struct {
	at   time.Duration
	seq  uint64
	slot int32
}

func (n *node) before(o *node) bool { return n.at < o.at || n.at == o.at && n.seq < o.seq }

type slot[T any] struct {
	value T
	gen   uint32 // of the event that holds the slot
	pos   int32  // in the heap; none while the slot is free; queued and below, counted down, in the queue of this instant
}

const (
	none   = -1
	queued = -2
	arity  = 4 // children of a heap node: a shallower tree than a binary one, and four keys share a cache line or two
)

// Now returns the clock's instant.
func (c *Clock[T]) Now() time.Duration { return c.now }

// Len returns how many events are pending.
func (c *Clock[T]) Len() int { return len(c.slots) - len(c.free) }

// At adds an event. An instant that has passed is taken as now: events never run backwards.
func (c *Clock[T]) At(at time.Duration, v T) Event {
	s := c.slot()
	c.slots[s].value = v
	c.add(at, s)
	return Event{slot: s, gen: c.slots[s].gen}
}

// Cancel removes an event, and reports whether it was still pending.
func (c *Clock[T]) Cancel(e Event) bool {
	if !c.Pending(e) {
		return false
	}
	c.take(e.slot)
	c.release(e.slot)
	return true
}

// Move gives a pending event another instant, as if it were added now, and reports whether it was still
// pending.
func (c *Clock[T]) Move(e Event, at time.Duration) bool {
	if !c.Pending(e) {
		return false
	}
	if pos := c.slots[e.slot].pos; pos >= 0 && at > c.now {
		c.settle(int(pos), c.key(at, e.slot))
		return true
	}
	c.take(e.slot)
	c.add(at, e.slot)
	return true
}

// Pending reports whether e has neither been taken nor cancelled.
func (c *Clock[T]) Pending(e Event) bool {
	return e.gen != 0 && int(e.slot) < len(c.slots) && c.slots[e.slot].gen == e.gen &&
		c.slots[e.slot].pos != none
}

// Next returns the instant of the earliest event, false if none is pending.
func (c *Clock[T]) Next() (time.Duration, bool) {
	s, at := c.next()
	return at, s != none
}

// Take removes the earliest event if it comes at or before to, sets the clock to its instant and
// returns its value.
func (c *Clock[T]) Take(to time.Duration) (v T, ok bool) {
	s, at := c.next()
	if s == none || at > to {
		return v, false
	}
	c.now, v = at, c.slots[s].value
	c.take(s)
	c.release(s)
	return v, true
}

// Set moves the clock on to an instant. It panics where that would go back, or skip an event: both are
// errors in the caller's loop, and would make what follows wrong without a sign.
func (c *Clock[T]) Set(to time.Duration) {
	if at, ok := c.Next(); to < c.now || ok && at < to {
		panic(fmt.Sprintf("des: set clock from %v to %v: earliest event is at %v", c.now, to, at))
	}
	c.now = to
}

// add has the event of a slot come at an instant, after all others of that instant.
func (c *Clock[T]) add(at time.Duration, s int32) {
	if at <= c.now {
		c.enqueue(s)
		return
	}
	c.heap = append(c.heap, node{})
	c.up(len(c.heap)-1, c.key(at, s))
}

// take takes the event of a slot out of where it waits.
func (c *Clock[T]) take(s int32) {
	if pos := c.slots[s].pos; pos >= 0 {
		c.remove(int(pos))
	} else {
		c.dequeue(s)
	}
}

func (c *Clock[T]) key(at time.Duration, s int32) node {
	c.seq++
	return node{at: at, seq: c.seq, slot: s}
}

// release frees a slot whose event waits nowhere any more.
func (c *Clock[T]) release(s int32) {
	var zero T
	c.slots[s].value = zero // a value can hold memory
	c.slots[s].pos = none
	c.free = append(c.free, s)
}

func (c *Clock[T]) slot() int32 {
	if n := len(c.free); n > 0 {
		s := c.free[n-1]
		c.free = c.free[:n-1]
		c.slots[s].gen++
		return s
	}
	c.slots = append(c.slots, slot[T]{gen: 1, pos: none})
	return int32(len(c.slots) - 1)
}
