// Package cabling stands between an optical switch and its fibres: which fibre is plugged in at which
// port. Straight is how the fabric was meant; exchanged and pulled fibres are faults that a cabling
// audit must find.
//
// It knows nothing of the fabric and of LLDP: it is a device.Plane in front of another one.
package cabling

import (
	"fmt"
	"slices"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
)

// Fibre selects fibres of a port.
type Fibre uint8

// The fibres: into the switch, out of it, both.
const (
	In Fibre = 1 << iota
	Out
	Both = In | Out
)

// Panel is the patch panel of one optical switch. It has no lock: its calls come under the lock of the
// device's door.
type Panel struct {
	plane    device.Plane
	in, out  []southbound.Port // the fibre that is plugged in at a port, by where it belongs; NoPort: none
	circuits []southbound.Port // output by input, as the switch knows its ports
	lit      []bool            // by input: the circuit carries light as far as the switch knows
	told     []bool            // by fibre: the last report to its sender
	tell     func(fibre southbound.Port, lit bool)
}

// New makes a straight panel in front of plane. tell, if any, is called when what is sent into a fibre
// begins or ceases to arrive somewhere.
func New(plane device.Plane, ports int32, tell func(fibre southbound.Port, lit bool)) *Panel {
	p := &Panel{plane: plane, in: make([]southbound.Port, ports), out: make([]southbound.Port, ports),
		circuits: make([]southbound.Port, ports), lit: make([]bool, ports), told: make([]bool,
			ports), tell: tell}
	for i := range p.circuits {
		p.circuits[i] = southbound.NoPort
	}
	p.straighten()
	return p
}

func (p *Panel) straighten() {
	for i := range p.in {
		p.in[i], p.out[i] = southbound.Port(i), southbound.Port(i)
	}
}

var _ device.Plane = (*Panel)(nil)

// SetRules implements device.Plane.
func (p *Panel) SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	return p.plane.SetRules(set, drop, replace)
}

// SetLight implements device.Plane.
func (p *Panel) SetLight(port southbound.Port, lit bool) error { return p.plane.SetLight(port, lit) }

// Dropped implements device.Plane.
func (p *Panel) Dropped() (uint64, error) { return p.plane.Dropped() }

// Move implements device.Plane. A circuit one of whose fibres is missing moves mirrors and no light.
func (p *Panel) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	var gone []southbound.Port
	for _, i := range off {
		if f := p.in[i]; f != southbound.NoPort {
			gone = append(gone, f)
		}
		p.circuits[i] = southbound.NoPort
	}
	var made []southbound.CrossConnect
	for _, c := range on {
		if held := slices.Index(p.circuits, c.Out); held >= 0 && c.Out != southbound.NoPort {
			p.circuits[held] = southbound.NoPort
		}
		p.circuits[c.In] = c.Out
		if f, t := p.in[c.In], p.out[c.Out]; f != southbound.NoPort && t != southbound.NoPort {
			made = append(made, southbound.CrossConnect{In: f, Out: t})
		} else if f != southbound.NoPort && !slices.Contains(gone, f) {
			gone = append(gone, f) // whatever the input led to before
		}
	}
	slices.Sort(gone)
	slices.SortFunc(made, func(a, b southbound.CrossConnect) int { return int(a.In - b.In) })
	return p.plane.Move(gone, made, dark)
}

// Light is what the switch's OnLight is to call: the circuit of an input carries light, or no longer does.
func (p *Panel) Light(input southbound.Port, lit bool) {
	p.lit[input] = lit
	p.retell()
}

// retell reports changes to the senders of all fibres.
func (p *Panel) retell() {
	now := make([]bool, len(p.in))
	for i, f := range p.in {
		if out := p.circuits[i]; f != southbound.NoPort && p.lit[i] && out != southbound.NoPort &&
			p.out[out] != southbound.NoPort {
			now[f] = true
		}
	}
	for f, lit := range now {
		if lit != p.told[f] {
			p.told[f] = lit
			if p.tell != nil {
				p.tell(southbound.Port(f), lit)
			}
		}
	}
}

// Swap exchanges the fibres of two ports. Light follows them at once.
func (p *Panel) Swap(a, b southbound.Port, which Fibre) error {
	if err := p.check(a, b); err != nil {
		return fmt.Errorf("swap fibres: %w", err)
	}
	return p.rewire(func() {
		if which&In != 0 {
			p.in[a], p.in[b] = p.in[b], p.in[a]
		}
		if which&Out != 0 {
			p.out[a], p.out[b] = p.out[b], p.out[a]
		}
	})
}

// Pull unplugs the fibres of a port.
func (p *Panel) Pull(a southbound.Port, which Fibre) error {
	if err := p.check(a); err != nil {
		return fmt.Errorf("pull fibre: %w", err)
	}
	return p.rewire(func() {
		if which&In != 0 {
			p.in[a] = southbound.NoPort
		}
		if which&Out != 0 {
			p.out[a] = southbound.NoPort
		}
	})
}

// Mend plugs every fibre in where it belongs.
func (p *Panel) Mend() error { return p.rewire(p.straighten) }

// Plug plugs in the given fibre at each port, numbered by the port to which it belongs, or none
// (NoPort). No fibre must occur twice in either direction.
func (p *Panel) Plug(in, out []southbound.Port) error {
	for _, at := range [][]southbound.Port{in, out} {
		if len(at) != len(p.in) {
			return fmt.Errorf("plug fibres: %d ports are named, the optical switch has %d", len(at), len(p.in))
		}
		seen := make([]bool, len(at))
		for _, f := range at {
			if f == southbound.NoPort {
				continue
			}
			if err := p.check(f); err != nil {
				return fmt.Errorf("plug fibres: %w", err)
			}
			if seen[f] {
				return fmt.Errorf("plug fibres: fibre %d is named twice", f)
			}
			seen[f] = true
		}
	}
	return p.rewire(func() { copy(p.in, in); copy(p.out, out) })
}

func (p *Panel) check(ports ...southbound.Port) error {
	for _, a := range ports {
		if a < 0 || int(a) >= len(p.in) {
			return fmt.Errorf("port %d: the optical switch has ports 0 to %d", a, len(p.in)-1)
		}
	}
	return nil
}

// light returns which fibres are joined now: by fibre into the switch, the fibre out of it.
func (p *Panel) light() []southbound.Port {
	joined := make([]southbound.Port, len(p.in))
	for i := range joined {
		joined[i] = southbound.NoPort
	}
	for i, out := range p.circuits {
		if out != southbound.NoPort && p.in[i] != southbound.NoPort {
			joined[p.in[i]] = p.out[out]
		}
	}
	return joined
}

// rewire changes what is plugged in and moves the light of the circuits that stand. Mirrors do not
// move, so it is not dark in between.
func (p *Panel) rewire(change func()) error {
	before := p.light()
	change()
	after := p.light()
	var off []southbound.Port
	var on []southbound.CrossConnect
	for f := range before {
		if before[f] == after[f] {
			continue
		}
		if after[f] != southbound.NoPort {
			on = append(on, southbound.CrossConnect{In: southbound.Port(f), Out: after[f]})
		} else {
			off = append(off, southbound.Port(f))
		}
	}
	if len(off)+len(on) > 0 {
		if err := p.plane.Move(off, on, 0); err != nil {
			return fmt.Errorf("rewire: %w", err)
		}
	}
	p.retell()
	return nil
}

// Plugged returns which fibre sits at each port, by where it belongs; NoPort where none does.
func (p *Panel) Plugged() (in, out []southbound.Port) { return slices.Clone(p.in), slices.Clone(p.out) }
