package device

import (
	"fmt"
	"time"

	"lightloom/southbound"
)

// light is what a port sees, and what the device has found out about it.
type light struct {
	is, told bool
	epoch    uint32 // of the last change: a detection that it overtakes is void
}

// Light reports to the device that a port has light or lost it, as of now. If that still holds after
// the detection delay, a packet switch's plane falls back to (or leaves) the backups of that port, and
// PortDown or PortUp is emitted. A port that is out of range is ignored.
func (d *Device) Light(now time.Duration, port southbound.Port, lit bool) {
	d.run(now)
	if port < 0 || int32(port) >= d.cfg.Ports || d.lights[port].is == lit {
		return
	}
	d.lights[port].is = lit
	d.lights[port].epoch++
	if !d.down {
		d.detect(port)
	}
	d.run(d.now)
}

func (d *Device) detect(port southbound.Port) {
	epoch := d.lights[port].epoch
	at := d.now + d.cfg.Delays.Detect.Draw(d.detectRand)
	if next, ok := d.agenda.next(); at <= d.now && (!ok || next > d.now) { // nothing comes before it
		if l := d.lights[port]; l.is != l.told {
			d.reportLight(port)
		}
		return
	}
	d.agenda.add(item{at: at, run: func(time.Duration) {
		if l := d.lights[port]; l.epoch == epoch && l.is != l.told {
			d.reportLight(port)
		}
	}})
}

func (d *Device) reportLight(port southbound.Port) {
	l := &d.lights[port]
	l.told = l.is
	if d.cfg.Kind == Packet {
		if err := d.cfg.Plane.SetLight(port, l.is); err != nil {
			d.fail(fmt.Errorf("set light of port %d: %w", port, err))
		}
	}
	kind := southbound.PortDown
	if l.is {
		kind = southbound.PortUp
	}
	d.emit(kind, port, southbound.NoPort, 0)
}

func (d *Device) downPorts() []southbound.Port {
	var down []southbound.Port
	for i, l := range d.lights {
		if !l.told {
			down = append(down, southbound.Port(i))
		}
	}
	return down
}
