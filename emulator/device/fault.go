package device

import (
	"slices"
	"time"

	"lightloom/southbound"
)

// FaultKind says what goes wrong.
type FaultKind uint8

// The kinds of faults.
const (
	Stick FaultKind = iota + 1 // a new circuit of the port stays in PENDING_CONNECTION, dark
	Fail                       // a new circuit of the port ends in FAILED, dark
	Slow                       // a change becomes effective Delay later than it would
	Lie                        // a change is accepted and nothing comes of it
)

// Fault is something that will go wrong.
type Fault struct {
	Kind  FaultKind
	Port  southbound.Port // Stick and Fail: the input; NoPort means any
	Times int             // how often it strikes; 0 means until ClearFaults
	Delay time.Duration   // Slow
}

// Fault arms f.
func (d *Device) Fault(f Fault) { d.faults = append(d.faults, f) }

// ClearFaults disarms every fault. What they have done stays.
func (d *Device) ClearFaults() { d.faults = nil }

// strikes says whether a fault of that kind hits the port now, and wears it.
func (d *Device) strikes(kind FaultKind, port southbound.Port) bool {
	_, ok := d.strike(kind, port)
	return ok
}

func (d *Device) slowness() time.Duration {
	f, _ := d.strike(Slow, southbound.NoPort)
	return f.Delay
}

func (d *Device) strike(kind FaultKind, port southbound.Port) (Fault, bool) {
	for i, f := range d.faults {
		if f.Kind != kind || f.Port != southbound.NoPort && port != southbound.NoPort && f.Port != port {
			continue
		}
		if f.Times == 1 {
			d.faults = slices.Delete(d.faults, i, i+1)
		} else if f.Times > 1 {
			d.faults[i].Times--
		}
		return f, true
	}
	return Fault{}, false
}
