package device

import (
	"fmt"
	"slices"
	"time"

	"lightloom/southbound"
)

// Restart begins a restart that takes boot. Lost is emitted at once; Set is refused with ErrDown until
// it is over; then everything that stands is emitted, and Synced. What stands is up to the device's
// Recovery. A restart during a restart makes it longer.
//
// A device without power stays down: Power brings it back.
func (d *Device) Restart(now, boot time.Duration) {
	d.run(now)
	d.halt()
	if !d.off {
		d.bootAt(d.now + boot)
	}
	d.run(d.now)
}

// Save keeps what is accepted for restarts of a device whose Recovery is Saved.
func (d *Device) Save() { d.saved = d.Accepted() }

// FactoryReset is a restart after which the device is as it was made, whatever its Recovery.
func (d *Device) FactoryReset(now, boot time.Duration) {
	d.saved = nil
	own := d.cfg.Recovery
	d.cfg.Recovery = Remove
	d.Restart(now, boot)
	d.cfg.Recovery = own
}

// Power takes the device's power away, or gives it back: then it boots as after a restart that took
// boot. What it has already is nothing.
func (d *Device) Power(now time.Duration, on bool, boot time.Duration) {
	d.run(now)
	if d.off == !on {
		return
	}
	d.off = !on
	d.halt()
	if on {
		d.bootAt(d.now + boot)
	}
	d.run(d.now)
}

// halt ends what the device does, unless it is down already.
func (d *Device) halt() {
	if d.down {
		return
	}
	d.down = true
	d.agenda.clear()
	d.emit(southbound.Lost, southbound.NoPort, southbound.NoPort, 0)
	if d.cfg.Kind == Packet {
		d.stopRules()
	} else {
		d.stopCircuits()
	}
}

// bootAt lets a device that is down come back at an instant, or later where another boot takes longer.
func (d *Device) bootAt(at time.Duration) {
	d.bootDone = max(d.bootDone, at)
	d.agenda.add(item{at: d.bootDone, run: func(t time.Duration) {
		if d.down && !d.off && t >= d.bootDone {
			d.boot()
		}
	}})
}

func (d *Device) stopRules() {
	if d.cfg.Recovery == Maintain {
		return
	}
	d.effective(&ruleChange{replace: true})
	if d.cfg.Recovery == Remove {
		d.rules.accepted.Clear()
	}
	if err := d.cfg.Plane.SetRules(nil, nil, true); err != nil {
		d.fail(fmt.Errorf("clear rules: %w", err))
	}
}

func (d *Device) stopCircuits() {
	if d.cfg.Recovery == Maintain {
		return
	}
	if err := d.move(d.xbar.all(), nil); err != nil {
		d.fail(fmt.Errorf("darken: %w", err))
	}
	d.xbar.leaving, d.xbar.forgotten = nil, nil
	for _, c := range d.xbar.all() {
		if d.cfg.Recovery == Remove || d.cfg.Recovery == Saved {
			d.xbar.unwant(c)
			c.void = true
		} else {
			c.applied, c.status = false, southbound.PendingConnection
		}
	}
}

// boot ends a restart: it restores the accepted state where that is missing, and reports everything anew.
func (d *Device) boot() {
	d.down, d.applied = false, d.now
	if d.cfg.Kind == Packet {
		d.bootRules()
	} else {
		d.bootCircuits()
	}
	d.report()
	for i, l := range d.lights {
		if l.is != l.told {
			d.detect(southbound.Port(i))
		}
	}
}

// report emits all that stands, then Synced.
func (d *Device) report() {
	for _, c := range d.xbar.seen() {
		d.emit(southbound.ConnectionStatus, c.In, c.Out, c.Status)
	}
	for _, p := range d.downPorts() {
		d.emit(southbound.PortDown, p, southbound.NoPort, 0)
	}
	d.emit(southbound.Synced, southbound.NoPort, southbound.NoPort, 0)
}

// Forget is a warm restart of an optical switch whose saved configuration lacks the circuit of an input (NoPort: all
// circuits). A circuit that has light goes on in the state of the switch only: it holds its ports against others, and
// no change removes it before one has asked for the same circuit again.
func (d *Device) Forget(now time.Duration, in southbound.Port) {
	d.run(now)
	if d.down || d.cfg.Kind != Optical {
		return
	}
	d.emit(southbound.Lost, southbound.NoPort, southbound.NoPort, 0)
	for _, c := range d.xbar.byIn {
		if c != nil && c.made && (in == southbound.NoPort || in == c.in) {
			d.xbar.unwant(c)
			d.xbar.forgotten = append(d.xbar.forgotten, c)
		}
	}
	d.report()
	d.run(d.now)
}

func (d *Device) bootRules() {
	d.rules.pending = nil
	if err := d.cfg.Plane.SetRules(sorted(&d.rules.accepted), nil, true); err != nil {
		d.fail(fmt.Errorf("restore rules: %w", err))
		return
	}
	d.effective(&ruleChange{set: sorted(&d.rules.accepted), replace: true})
}

// bootCircuits lets circuits that were kept finish their moves, takes those away that were leaving, and
// makes those that are wanted and do not stand.
func (d *Device) bootCircuits() {
	op := &circuitChange{off: slices.Clone(d.xbar.leaving)}
	for _, c := range d.xbar.byIn {
		switch {
		case c == nil:
		case c.made && c.status != southbound.Connected:
			d.lockAt(c, max(d.now, c.connectAt))
		case !c.applied:
			c.status = southbound.PendingConnection
			op.on = append(op.on, c)
		}
	}
	if len(op.off)+len(op.on) > 0 {
		d.applyLater(d.drawApply(op), op)
	}
	if d.cfg.Recovery == Saved && d.saved != nil {
		d.setCircuits(d.saved)
	}
}
