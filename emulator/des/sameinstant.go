package des

import "time"

// An event that comes at the clock's own instant comes after all those of the heap: they were added
// before, when that instant was still to come. So it waits in a queue, in the order added, and the
// clock does not move on before that is empty.

// enqueue makes the event of a slot the last one of this instant.
func (c *Clock[T]) enqueue(s int32) {
	c.slots[s].pos = queued - int32(len(c.instant))
	c.instant = append(c.instant, s)
}

// dequeue takes the event of a slot out of the queue.
func (c *Clock[T]) dequeue(s int32) {
	c.instant[queued-c.slots[s].pos] = none
	for c.first < len(c.instant) && c.instant[c.first] == none {
		c.first++
	}
	if c.first == len(c.instant) {
		c.instant, c.first = c.instant[:0], 0
	}
}

// next returns the slot of the next event and its instant; none where nothing is pending.
func (c *Clock[T]) next() (slot int32, at time.Duration) {
	switch waits := len(c.instant) > 0; {
	case len(c.heap) > 0 && (!waits || c.heap[0].at <= c.now):
		return c.heap[0].slot, c.heap[0].at
	case waits:
		return c.instant[c.first], c.now
	}
	return none, 0
}
