package server

import (
	"sync/atomic"
	"time"
)

// clock tells the time since instant 0 of the log. It reads the wall clock when it is set, and from
// then on goes monotonically.
type clock struct {
	wall func() time.Time
	set  atomic.Pointer[setting]
}

// setting is what a clock has shown at a moment.
type setting struct {
	at    time.Duration
	since time.Time
}

func newClock(epoch time.Time, wall func() time.Time) *clock {
	c := &clock{wall: wall}
	c.begin(epoch, 0)
	return c
}

// begin sets the clock to the wall clock, but to no instant before that of the last entry: a leader
// whose wall clock is behind its predecessor's goes on from there.
func (c *clock) begin(epoch time.Time, last time.Duration) {
	since := time.Now()
	c.set.Store(&setting{at: max(last, c.wall().Sub(epoch)), since: since})
}

func (c *clock) now() time.Duration {
	s := c.set.Load()
	return s.at + time.Since(s.since)
}
