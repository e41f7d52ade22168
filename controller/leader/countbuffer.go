package leader

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/southbound"
)

// countBuffer holds the newest counters of every port until the loop takes them: what is newer takes
// the place of what is older, so that it never holds more than one sample a port.
type countBuffer struct {
	mu    sync.Mutex
	fresh map[southbound.DeviceID]*loop.DeviceCounts
}

// put notes what a device has counted; anew invalidates earlier counts. The ports are sorted.
func (b *countBuffer) put(d southbound.DeviceID, ports []southbound.PortCounters, anew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fresh == nil {
		b.fresh = map[southbound.DeviceID]*loop.DeviceCounts{}
	}
	c := b.fresh[d]
	if c == nil || anew {
		c = &loop.DeviceCounts{Device: d, Anew: anew}
		b.fresh[d] = c
	}
	for _, p := range ports {
		i, known := slices.BinarySearchFunc(c.Ports, p.Port,
			func(x southbound.PortCounters, p southbound.Port) int {
				return int(x.Port - p)
			})
		if known {
			c.Ports[i] = p
		} else {
			c.Ports = slices.Insert(c.Ports, i, p)
		}
	}
}

// take returns what has come since the last call, by device.
func (b *countBuffer) take() []loop.DeviceCounts {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []loop.DeviceCounts
	for _, c := range b.fresh { // sorted below
		out = append(out, *c)
	}
	clear(b.fresh)
	slices.SortFunc(out, func(x, y loop.DeviceCounts) int { return int(x.Device - y.Device) })
	return out
}

// hand gives the loop what the board holds, once in each period, until ctx ends: many devices then cost
// one step. While the loop has not taken what it was given last, the board keeps what is new.
func (l *Leader) hand(ctx context.Context) {
	tick := time.NewTicker(l.cfg.Sample)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		l.inbox.offer(func(in *loop.Inputs) bool {
			if in.Counts == nil {
				in.Counts = l.countBuffer.take()
			}
			return in.Counts != nil
		})
	}
}

// Links returns the link rates that policies see, by id; nil before switches have counted, and of a nil
// Leader. Callers must not write to it.
func (l *Leader) Links() []controller.LinkRate {
	if l == nil {
		return nil
	}
	if all := l.links.Load(); all != nil {
		return *all
	}
	return nil
}

// noteLinks keeps the rates for Links, and logs once that they are known, and of how many links.
func (l *Leader) noteLinks() {
	all := slices.Clone(l.loop.Links())
	l.links.Store(&all)
	if l.metered {
		return
	}
	known := 0
	for _, r := range l.loop.Links() {
		if r.Span > 0 {
			known++
		}
	}
	if l.metered = known > 0; l.metered {
		l.cfg.Logger.Info("rates of links are known", "links", known)
	}
}

// sample keeps the device's stream of counters open. A device that counts nothing is not asked again.
func (w *worker) sample(ctx context.Context, c southbound.Counting) {
	for ctx.Err() == nil {
		err := c.Counters(ctx, w.leader.cfg.Sample,
			func(ports []southbound.PortCounters) { w.leader.countBuffer.put(w.id, ports, false) })
		if ctx.Err() != nil || errors.Is(err, southbound.ErrUnsupported) {
			return
		}
		w.leader.cfg.Logger.Warn("stream of counters ended", "device", w.id, "error", err)
		w.leader.countBuffer.put(w.id, nil, true)
		pause(ctx, w.leader.cfg.Retry)
	}
}
