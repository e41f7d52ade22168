package device

import (
	"errors"
	"slices"
	"time"

	"lightloom/southbound"
)

// FaultKind is the kind of a fault.
type FaultKind uint8

// The kinds of faults.
const (
	Stick      FaultKind = iota + 1 // a new circuit of the port stays in PENDING_CONNECTION, dark
	Fail                            // a new circuit of the port ends in FAILED, dark
	Slow                            // a change becomes effective Delay later than it would
	Lie                             // a change is accepted and nothing comes of it
	Loss                            // what leaves the circuit of the port is weaker by Loss; it lasts until ClearFaults
	Deny                            // a change is applied, and the answer says that it was not
	Spoil                           // a new circuit of the port ends in INVALID, and stays so until it is deleted
	Forgetting                      // the circuit of the port leaves the configuration, and stays in the state; see Forget
)

// CentiBel is a hundredth of a decibel.
type CentiBel int32

// Fault is something that will go wrong.
type Fault struct {
	Kind  FaultKind
	Port  southbound.Port // Stick, Fail, Spoil, Forgetting and Loss: the input; NoPort means any
	Times int             // how often it strikes; 0 means until ClearFaults
	Delay time.Duration   // Slow
	Loss  CentiBel        // Loss
}

// ErrDenied is what a device with a Deny fault says of a change that it has taken.
var ErrDenied = errors.New("the device says that it did not apply the change")

// Fault arms f.
func (d *Device) Fault(f Fault) { d.faults = append(d.faults, f) }

// ClearFaults disarms every fault. What they have done stays.
func (d *Device) ClearFaults() { d.faults = nil }

// hits reports whether a fault of that kind hits the port now, and wears it.
func (d *Device) hits(kind FaultKind, port southbound.Port) bool {
	_, ok := d.hit(kind, port)
	return ok
}

func (d *Device) slowness() time.Duration {
	f, _ := d.hit(Slow, southbound.NoPort)
	return f.Delay
}

// Losses returns by how much more than usual the circuits of inputs are weakened, where they are.
func (d *Device) Losses() map[southbound.Port]CentiBel {
	var out map[southbound.Port]CentiBel
	for _, f := range d.faults {
		if f.Kind != Loss {
			continue
		}
		if out == nil {
			out = map[southbound.Port]CentiBel{}
		}
		for in := range southbound.Port(d.cfg.Ports) {
			if f.Port == southbound.NoPort || f.Port == in {
				out[in] += f.Loss
			}
		}
	}
	return out
}

func (d *Device) hit(kind FaultKind, port southbound.Port) (Fault, bool) {
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
