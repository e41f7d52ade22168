package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/southbound"
)

// ErrDown is wrapped while a device restarts.
var ErrDown = errors.New("the device is restarting")

// Device is one switch. Set accepts a change, which becomes visible once its delays have passed. It is
// not safe for several goroutines: a Door is. Instants never go back; each call first runs what is due.
type Device struct {
	cfg    Config
	now    time.Duration
	agenda agenda
	events []southbound.DeviceEvent // that Advance has still to emit

	rules  rules
	xbar   crossbar
	lights []light
	faults []Fault

	applied  time.Duration // instant of the last application; later ones never overtake it
	bootDone time.Duration
	down     bool
	off      bool               // it has no power
	saved    *southbound.Change // that a Saved restart restores; nil: nothing
	err      error

	onApplied func(Applied)
	heard     func(Applied)

	applyRand, darkRand, lockRand, detectRand *rand.Rand
}

// New makes a device with an empty table or no circuits, and light on every port. It panics on a Config
// that no program should make.
func New(c Config) *Device {
	c.check()
	if c.LogSize == 0 {
		c.LogSize = defaultLogSize
	}
	stream := func(purpose uint64) *rand.Rand {
		return rand.New(rand.NewPCG(c.Seed, purpose<<32|uint64(uint32(c.ID))))
	}
	d := &Device{cfg: c, lights: make([]light, c.Ports),
		applyRand: stream(1), darkRand: stream(2), lockRand: stream(3), detectRand: stream(4)}
	for i := range d.lights {
		d.lights[i] = light{is: true, told: true}
	}
	if c.Kind == Optical {
		d.xbar = newCrossbar(c.Ports, c.LogSize)
	}
	return d
}

// Config returns what the device was made of.
func (d *Device) Config() Config { return d.cfg }

// Set takes c as one transaction, or refuses it whole with an error that wraps southbound.ErrRefused,
// or ErrDown during a restart. A change that requests the present state has no effect.
func (d *Device) Set(now time.Duration, c *southbound.Change) error {
	d.run(now)
	err := d.set(c)
	if err == nil && !c.Empty() && d.hits(Deny, southbound.NoPort) {
		err = ErrDenied
	}
	if err != nil {
		return fmt.Errorf("set device %q: %w", d.cfg.Name, err)
	}
	d.run(d.now)
	return nil
}

func (d *Device) set(c *southbound.Change) error {
	if d.down {
		return ErrDown
	}
	if err := d.Check(c); err != nil {
		return err
	}
	if c.Empty() || d.hits(Lie, southbound.NoPort) {
		return nil
	}
	if d.cfg.Kind == Packet {
		return d.setRules(c)
	}
	d.setCircuits(c)
	return nil
}

// Check returns an error if the device would refuse c in any state. The error wraps southbound.ErrRefused.
func (d *Device) Check(c *southbound.Change) error {
	var err error
	switch {
	case d.cfg.Kind == Packet && len(c.Connect) > 0:
		err = errors.New("a packet switch takes no cross-connects")
	case d.cfg.Kind == Optical && (len(c.Rules) > 0 || len(c.Drop) > 0):
		err = errors.New("an optical switch takes no rules")
	case d.cfg.Kind == Packet:
		err = d.checkRules(c)
	default:
		err = d.checkCircuits(c)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", err, southbound.ErrRefused)
	}
	return nil
}

// applyAt draws when a change that is accepted now becomes effective.
func (d *Device) applyAt() time.Duration {
	took := d.cfg.Delays.Apply.Draw(d.applyRand) + d.slowness()
	d.stage("apply", took)
	at := d.now + took
	d.applied = max(d.applied, at)
	return d.applied
}

func (d *Device) stage(name string, took time.Duration) {
	if d.cfg.OnStage != nil {
		d.cfg.OnStage(name, took)
	}
}

// Seen returns the state that the device reports at now.
func (d *Device) Seen(now time.Duration) southbound.Seen {
	d.run(now)
	return southbound.Seen{Rules: d.rules.seen(), Connections: d.xbar.seen(), Down: d.downPorts()}
}

// Accepted returns what the device has accepted, as one change that replaces everything: its configuration.
func (d *Device) Accepted() *southbound.Change {
	return &southbound.Change{Replace: true, Rules: sorted(&d.rules.accepted), Connect: d.xbar.accepted()}
}

// Down reports whether the device restarts at now.
func (d *Device) Down(now time.Duration) bool {
	d.run(now)
	return d.down
}

// Err returns the first error of the plane that came too late for Set to return it, or nil. Seen shows
// the resulting state.
func (d *Device) Err() error { return d.err }

// Next returns the instant of the next transition, or of events that Advance has still to emit.
func (d *Device) Next() (time.Duration, bool) {
	if len(d.events) > 0 {
		return d.events[0].At, true
	}
	return d.agenda.next()
}

// Advance runs every transition up to now, in order, and emits what happened since the last call.
func (d *Device) Advance(now time.Duration, emit func(southbound.DeviceEvent)) {
	d.run(now)
	for _, e := range d.events {
		emit(e)
	}
	d.events = d.events[:0]
}

// Take is Advance for callers that keep events in a list: it returns the list with new events appended.
func (d *Device) Take(now time.Duration, to []southbound.DeviceEvent) []southbound.DeviceEvent {
	d.run(now)
	to = append(to, d.events...)
	d.events = d.events[:0]
	return to
}

func (d *Device) run(now time.Duration) {
	for d.agenda.due(now) {
		it := d.agenda.pop()
		d.now = d.stamp(it.at)
		if it.run != nil {
			it.run(d.now)
		} else if it.circuit.epoch == it.epoch {
			d.locked(it.circuit)
		}
	}
	d.now = max(d.now, now)
}

// stamp returns when a transition that was due at at really happens.
func (d *Device) stamp(at time.Duration) time.Duration {
	if d.cfg.Clock != nil {
		at = max(at, d.cfg.Clock())
	}
	return max(at, d.now)
}

// emit records an event in place: a copy would have to wait for the preceding write.
func (d *Device) emit(kind southbound.DeviceEventKind, in, out southbound.Port, status southbound.Status) {
	if d.down && kind != southbound.Lost {
		return // no events while it boots; afterwards it reports everything anew
	}
	d.events = append(d.events, southbound.DeviceEvent{})
	e := &d.events[len(d.events)-1]
	e.At, e.Device, e.Kind = d.now, d.cfg.ID, kind
	e.In, e.Out, e.Status = in, out, status
}

func (d *Device) fail(err error) {
	if d.err == nil && err != nil {
		d.err = fmt.Errorf("device %q: %w", d.cfg.Name, err)
	}
}
