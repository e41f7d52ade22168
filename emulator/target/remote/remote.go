// Package remote is the backend of targets whose switch is elsewhere, behind another driver.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
)

// Switch is a remote optical switch behind another driver: it forwards the target's requests, and the
// switch's events become the target's state. It knows no more than the driver does: if the switch has
// no intermediate states, a circuit is pending from its acceptance until it is listed, and failed if
// that takes longer than Settle.
type Switch struct {
	cfg Config

	mu       sync.Mutex
	taps     []*device.Tap
	down     bool
	accepted map[southbound.Port]southbound.Port
	status   map[ends]southbound.Status
	since    map[ends]time.Duration // of those that are pending
}

// Config configures a Switch: the remote switch and its timeouts.
type Config struct {
	Name    string
	Ports   int32 // of each side
	Device  southbound.Device
	Clock   func() time.Duration
	Timeout time.Duration // of one Set; 0 means 5 s
	Settle  time.Duration // from a circuit's acceptance to its failure; 0 means 5 s
	Retry   time.Duration // between two tries to reach the switch; 0 means 1 s
	Log     *slog.Logger  // nil: none
}

var _ target.Backend = (*Switch)(nil)

// New makes a backend. It is down until Run has reached the switch.
func New(c Config) *Switch {
	c.Timeout, c.Settle, c.Retry = cmp.Or(c.Timeout, 5*time.Second), cmp.Or(c.Settle, 5*time.Second),
		cmp.Or(c.Retry, time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Switch{cfg: c, down: true, accepted: map[southbound.Port]southbound.Port{},
		status: map[ends]southbound.Status{}, since: map[ends]time.Duration{}}
}

// Do implements Backend.
func (r *Switch) Do(f func(now time.Duration, s target.Switch)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.cfg.Clock(), elsewhere{r})
}

// Attach implements Backend.
func (r *Switch) Attach(t device.Tap, first func(now time.Duration, s target.Switch)) (detach func()) {
	r.Do(func(now time.Duration, s target.Switch) {
		first(now, s)
		r.taps = append(r.taps, &t)
	})
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.taps = slices.DeleteFunc(r.taps, func(o *device.Tap) bool { return o == &t })
	}
}

// Run follows the switch until ctx ends; it returns nil then.
func (r *Switch) Run(ctx context.Context) error {
	tick := time.NewTicker(min(r.cfg.Settle/4, r.cfg.Retry))
	defer tick.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.follow(ctx)
	}()
	for {
		select {
		case <-done:
			return nil
		case <-tick.C:
			r.verify(ctx)
		}
	}
}

// follow keeps a watch of the switch open.
func (r *Switch) follow(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		var standing []southbound.DeviceEvent // until the watch is synced
		synced := false
		err := r.cfg.Device.Watch(ctx, func(e southbound.DeviceEvent) {
			switch {
			case e.Kind == southbound.Synced:
				synced = true
				r.reached(standing)
			case e.Kind == southbound.Lost:
				r.lost()
			case !synced:
				standing = append(standing, e)
			default:
				r.told(e)
			}
		})
		if ctx.Err() != nil {
			return
		}
		r.cfg.Log.Warn("the switch cannot be followed", "switch", r.cfg.Name, "error", err)
		r.lost()
		pause.Reset(r.cfg.Retry)
	}
}

// emit sends an event to every tap. The lock is held.
func (r *Switch) emit(kind southbound.DeviceEventKind, c ends, s southbound.Status) {
	for _, t := range r.taps {
		t.Event(southbound.DeviceEvent{At: r.cfg.Clock(), Kind: kind, In: c.in, Out: c.out, Status: s})
	}
}

// ends are those of a circuit.
type ends struct{ in, out southbound.Port }

var nowhere = ends{southbound.NoPort, southbound.NoPort}

// lost says, once, that the switch cannot be spoken to.
func (r *Switch) lost() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.down {
		r.down = true
		r.emit(southbound.Lost, nowhere, 0)
	}
}

// reached takes over the existing circuits as the switch's configuration: it has no other.
func (r *Switch) reached(standing []southbound.DeviceEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.accepted)
	clear(r.status)
	clear(r.since)
	for _, e := range standing {
		if e.Kind == southbound.ConnectionStatus {
			r.accepted[e.In], r.status[ends{e.In, e.Out}] = e.Out, e.Status
		}
	}
	r.down = false
	r.emit(southbound.Synced, nowhere, 0)
}

// told handles one event.
func (r *Switch) told(e southbound.DeviceEvent) {
	if e.Kind != southbound.ConnectionStatus {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(ends{e.In, e.Out}, e.Status)
}

// set changes the status of a circuit and emits it. The lock is held.
func (r *Switch) set(c ends, s southbound.Status) {
	old, stands := r.status[c]
	switch {
	case stands && old == s || !stands && s == southbound.Disconnected:
		return
	case s == southbound.Disconnected:
		delete(r.status, c)
	default:
		r.status[c] = s
	}
	delete(r.since, c)
	if s == southbound.PendingConnection || s == southbound.PendingDeletion {
		r.since[c] = r.cfg.Clock()
	}
	r.emit(southbound.ConnectionStatus, c, s)
}

// verify reads the switch while something is pending: a watch reports differences only, and a circuit
// that was removed and made again between two polls is none. A circuit that is pending for too long
// counts as failed.
func (r *Switch) verify(ctx context.Context) {
	r.mu.Lock()
	idle := r.down || len(r.since) == 0
	r.mu.Unlock()
	if idle {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	began := r.cfg.Clock()
	seen, err := r.cfg.Device.Read(ctx)
	if err != nil {
		return // the watch will find out
	}
	listed := map[ends]bool{}
	for _, c := range seen.Connections {
		listed[ends{c.In, c.Out}] = c.Status == southbound.Connected
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range sortedEnds(r.since) {
		if r.since[c] >= began {
			continue // asked for after the look
		}
		leaving, late := r.status[c] == southbound.PendingDeletion, began-r.since[c] >= r.cfg.Settle
		switch {
		case leaving && !listed[c]:
			r.set(c, southbound.Disconnected)
		case listed[c] && (!leaving || late):
			r.set(c, southbound.Connected)
		case late:
			r.set(c, southbound.Failed)
		}
	}
}

func sortedEnds[V any](m map[ends]V) []ends {
	return slices.SortedFunc(maps.Keys(m), func(a, b ends) int {
		return cmp.Or(cmp.Compare(a.in, b.in), cmp.Compare(a.out, b.out))
	})
}

// elsewhere is the switch while its lock is held.
type elsewhere struct{ r *Switch }

func (e elsewhere) Config() device.Config {
	return device.Config{Name: e.r.cfg.Name, Kind: device.Optical, Ports: e.r.cfg.Ports,
		Recovery: device.Maintain}
}

func (e elsewhere) Accepted() *southbound.Change {
	c := &southbound.Change{Replace: true}
	for _, in := range slices.Sorted(maps.Keys(e.r.accepted)) {
		c.Connect = append(c.Connect, southbound.CrossConnect{In: in, Out: e.r.accepted[in]})
	}
	return c
}

func (e elsewhere) Seen(time.Duration) southbound.Seen {
	var seen southbound.Seen
	for _, c := range sortedEnds(e.r.status) {
		seen.Connections = append(seen.Connections,
			southbound.Connection{In: c.in, Out: c.out, Status: e.r.status[c]})
	}
	return seen
}

func (e elsewhere) Down(time.Duration) bool                     { return e.r.down }
func (e elsewhere) Losses() map[southbound.Port]device.CentiBel { return nil }
func (e elsewhere) Dropped() (uint64, error)                    { return 0, nil }

// Set forwards the change to the switch, and waits for its answer: a Set of the target is accepted when
// the switch has accepted it.
func (e elsewhere) Set(_ time.Duration, c *southbound.Change) error {
	r := e.r
	if r.down {
		return fmt.Errorf("set switch %q: %w", r.cfg.Name, device.ErrDown)
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.Timeout)
	defer cancel()
	if err := r.cfg.Device.Set(ctx, c); err != nil {
		if !errors.Is(err, southbound.ErrRefused) {
			err = fmt.Errorf("%w: %w", err, device.ErrDown) // whether it was taken is not known
		}
		return err
	}
	r.take(c)
	return nil
}

// take makes an accepted change the configuration.
func (r *Switch) take(c *southbound.Change) {
	on, outs := map[southbound.Port]southbound.CrossConnect{}, map[southbound.Port]bool{}
	for _, x := range c.Connect {
		on[x.In] = x
		if !x.Off {
			outs[x.Out] = true
		}
	}
	for _, in := range slices.Sorted(maps.Keys(r.accepted)) {
		out := r.accepted[in]
		x, named := on[in]
		if named && !x.Off && x.Out == out {
			continue
		}
		if named || outs[out] || c.Replace {
			delete(r.accepted, in)
		}
	}
	for _, x := range c.Connect {
		if !x.Off {
			r.accepted[x.In] = x.Out
		}
	}
	for _, e := range sortedEnds(r.status) { // what is not wanted and stood is on its way
		x, named := on[e.in]
		leaves := c.Replace || named || outs[e.out]
		if out, wanted := r.accepted[e.in]; leaves && (!wanted || out != e.out) &&
			!(named && !x.Off && x.Out == e.out) {
			if r.status[e] == southbound.Failed || r.status[e] == southbound.PendingConnection {
				r.set(e, southbound.Disconnected)
			} else {
				r.set(e, southbound.PendingDeletion)
			}
		}
	}
	for _, x := range c.Connect {
		if s := r.status[ends{x.In, x.Out}]; !x.Off && s != southbound.Connected {
			r.set(ends{x.In, x.Out}, southbound.PendingConnection)
		}
	}
}
