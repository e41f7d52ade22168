package device

import (
	"context"
	"math"
	"time"
)

// Run drives the device in real time until ctx ends; it returns nil then. The door's clock must run
// with time.Now. It is the only timer of a device.
func (d *Door) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-d.wake:
		}
		if wait, ok := d.step(); ok {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
	}
}

// step runs what is due and returns how long it is until something else is.
func (d *Door) step() (time.Duration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dev.Advance(d.clock(), d.deliver)
	at, ok := d.dev.Next()
	if d.armed = at; !ok {
		d.armed = math.MaxInt64
	}
	return max(at-d.clock(), 0), ok
}
