package device

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"lightloom/southbound"
)

// Door is the direct way to a Device: southbound.Device without a network. It is safe for several
// goroutines. In virtual time its owner calls Advance; in real time Run does.
//
// The instants it hands to the device come from its clock, read under its lock.
type Door struct {
	mu       sync.Mutex
	dev      *Device
	clock    func() time.Duration
	onEvent  func(southbound.DeviceEvent)
	taps     []*Tap
	watchers []*watcher
	wake     chan struct{} // one token: something is due sooner than Run knows
	armed    time.Duration // when Run looks again by itself
}

type watcher struct {
	sink func(southbound.DeviceEvent)
	lost chan struct{}
	gone bool
}

var _ southbound.Device = (*Door)(nil)

// NewDoor opens a door to dev, which from now on is only used through it. onEvent, which can be nil, is
// called with every event in the device's order, under the door's lock: it must not call the door.
func NewDoor(dev *Device, clock func() time.Duration, onEvent func(southbound.DeviceEvent)) *Door {
	return &Door{dev: dev, clock: clock, onEvent: onEvent, wake: make(chan struct{}, 1), armed: math.MaxInt64}
}

// Set implements southbound.Device: c is accepted or refused at once, at the clock's instant.
func (d *Door) Set(ctx context.Context, c *southbound.Change) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("set device %q: %w", d.dev.cfg.Name, err)
	}
	return d.SetNow(c)
}

// SetNow is Set for callers that have no context to give.
func (d *Door) SetNow(c *southbound.Change) error {
	var err error
	d.Do(func(now time.Duration, dev *Device) { err = dev.Set(now, c) })
	return err
}

// Read implements southbound.Device.
func (d *Door) Read(ctx context.Context) (southbound.Seen, error) {
	var seen southbound.Seen
	err := ctx.Err()
	d.Do(func(now time.Duration, dev *Device) {
		if seen = dev.Seen(now); err == nil && dev.Down(now) {
			err = ErrDown
		}
	})
	if err != nil {
		return southbound.Seen{}, fmt.Errorf("read device %q: %w", d.dev.cfg.Name, err)
	}
	return seen, nil
}

// Watch implements southbound.Device. sink is called under the door's lock: it must not call the door.
func (d *Door) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	w := &watcher{sink: sink, lost: make(chan struct{})}
	down := false
	d.Do(func(now time.Duration, dev *Device) {
		if down = dev.Down(now); down {
			return
		}
		dev.Advance(now, d.deliver) // to those that watch already
		for _, e := range standing(dev, now) {
			sink(e)
		}
		d.watchers = append(d.watchers, w)
	})
	if down {
		return fmt.Errorf("watch device %q: %w", d.dev.cfg.Name, ErrDown)
	}
	defer d.leave(w)
	select {
	case <-ctx.Done():
		return nil
	case <-w.lost:
		return fmt.Errorf("watch device %q: %w", d.dev.cfg.Name, ErrDown)
	}
}

// standing returns what a new watch begins with: all that stands, then Synced.
func standing(dev *Device, now time.Duration) []southbound.DeviceEvent {
	seen, id := dev.Seen(now), dev.cfg.ID
	var out []southbound.DeviceEvent
	for _, c := range seen.Connections {
		out = append(out, southbound.DeviceEvent{At: now, Device: id, Kind: southbound.ConnectionStatus,
			In: c.In, Out: c.Out,
			Status: c.Status})
	}
	for _, p := range seen.Down {
		out = append(out, southbound.DeviceEvent{At: now, Device: id, Kind: southbound.PortDown, In: p,
			Out: southbound.NoPort})
	}
	return append(out, southbound.DeviceEvent{At: now, Device: id, Kind: southbound.Synced,
		In:  southbound.NoPort,
		Out: southbound.NoPort})
}

func (d *Door) leave(w *watcher) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watchers = slices.DeleteFunc(d.watchers, func(o *watcher) bool { return o == w })
}

// deliver passes an event to all watchers. The lock is held.
func (d *Door) deliver(e southbound.DeviceEvent) {
	if d.onEvent != nil {
		d.onEvent(e)
	}
	for _, t := range d.taps {
		t.Event(e)
	}
	for _, w := range d.watchers {
		if w.gone {
			continue
		}
		w.sink(e)
		if e.Kind == southbound.Lost {
			w.gone = true
			close(w.lost)
		}
	}
}

// Tap is a watch that a restart does not end: it receives every event of the device, and when rules
// become effective. Its functions are called under the door's lock and must not call the door.
type Tap struct {
	Event   func(southbound.DeviceEvent)
	Applied func(Applied)
}

// Attach adds a tap and, in the same step, calls first with the current device. The returned function
// removes the tap.
func (d *Door) Attach(t Tap, first func(now time.Duration, dev *Device)) (detach func()) {
	d.Do(func(now time.Duration, dev *Device) {
		dev.Advance(now, d.deliver)
		first(now, dev)
		d.taps = append(d.taps, &t)
		dev.onApplied = d.applied
	})
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.taps = slices.DeleteFunc(d.taps, func(o *Tap) bool { return o == &t })
	}
}

func (d *Door) applied(a Applied) {
	for _, t := range d.taps {
		t.Applied(a)
	}
}

// Do calls f with the device and the clock's instant under the door's lock, and delivers the resulting
// events. Faults, restarts and reports reach a device that has a door through Do. f must not call the
// door.
func (d *Door) Do(f func(now time.Duration, dev *Device)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d.clock(), d.dev)
	d.dev.Advance(d.clock(), d.deliver)
	if at, ok := d.dev.Next(); !ok || at >= d.armed {
		return // nothing is due earlier: most Sets are effective at once
	}
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Light reports light at a port to the device, as of the clock's instant. It can be called from another
// device's OnLight.
func (d *Door) Light(port southbound.Port, lit bool) {
	d.Do(func(now time.Duration, dev *Device) { dev.Light(now, port, lit) })
}

// Next returns the instant of the device's next transition.
func (d *Door) Next() (time.Duration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dev.Next()
}

// Advance runs the device up to now and delivers what happened.
func (d *Door) Advance(now time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dev.Advance(now, d.deliver)
}
