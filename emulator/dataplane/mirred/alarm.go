package mirred

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// How the thread waits: as a goroutine until near is left, in the kernel until spin is left, then it
// spins. A kernel sleep ends up to 50 µs late (the default timer slack), and more on a busy machine; a
// Go timer a millisecond.
const (
	near  = 2 * time.Millisecond
	spin  = 200 * time.Microsecond
	chunk = 500 * time.Microsecond // longest sleep in the kernel: an earlier circuit can come meanwhile
)

// run makes circuits when they are due, on a thread of its own, until quit.
func (c *circuit) run() {
	defer close(c.ended)
	runtime.LockOSThread() // never unlocked: the thread has a slice of its own, and ends with the goroutine
	shortSlice()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		left, any := c.fire()
		if any && left <= near {
			nap(min(left-spin, chunk))
			continue
		}
		var ring <-chan time.Time
		if any {
			timer.Reset(left - near)
			ring = timer.C
		}
		select {
		case <-c.quit:
			return
		case <-c.wake:
		case <-ring:
		}
	}
}

// shortSlice requests short time slices from the scheduler, so that this thread runs sooner among
// others that compute. Kernels before 6.12 ignore it, and nothing depends on it.
func shortSlice() {
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL,
		Runtime: uint64(spin)},
		0)
}

// fire makes what is due, spinning through the last moments, and returns how long it is to the next.
func (c *circuit) fire() (left time.Duration, any bool) {
	c.p.Mu.Lock()
	defer c.p.Mu.Unlock()
	for len(c.due) > 0 && !c.p.Closed {
		d := c.due[0]
		left = time.Until(d.at)
		if left > spin {
			return left, true
		}
		for time.Until(d.at) > 0 {
		}
		c.due = c.due[1:]
		if err := c.light(d.in, d.out); err != nil && c.err == nil {
			c.err = err
		}
	}
	return 0, false
}

// nap sleeps in the kernel without telling the Go scheduler, which would give this thread's turn away
// and let it wait for another one. It is never longer than chunk.
func nap(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := unix.NsecToTimespec(d.Nanoseconds())
	rawNanosleep(&ts)
}

// stop ends the thread. Circuits that are still dark stay so.
func (c *circuit) stop() {
	close(c.quit)
	<-c.ended
}
