package run

import (
	"fmt"
	"sync"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// shining is what a plant knows of light that its devices do not: which cables are cut, and whether the circuit that a
// rack sends into carries any.
type shining struct {
	mu  sync.Mutex
	cut map[pathmap.LinkID]bool // by the even direction
	lit []bool                  // by rack
}

// shine tells the ToR that sends into an OCS input whether light arrives where its fibre ends.
func (p *plant) shine(rack int) {
	port := p.fabric.OCSUplink[rack]
	if port == pathmap.None {
		return
	}
	tor := p.fabric.ToRNode[rack]
	l := p.fabric.Topology.OutPort(tor, port)
	p.lights.mu.Lock()
	lit := p.lights.lit[rack] && !p.lights.cut[l&^1]
	p.lights.mu.Unlock()
	p.doors[tor].Light(southbound.Port(port), lit)
}

// strike does to the fabric what a fault asks for. Replicas of the controller are not the fabric's.
func (p *plant) strike(c fault.Change) error {
	switch c.Kind {
	case fault.Link:
		return p.cable(c.Cable, c.Up)
	case fault.Switch:
		p.doors[c.Device].Do(func(now time.Duration, d *device.Device) { d.Power(now, c.Up, coldBoot) })
	case fault.Fibre:
		return p.replug(c)
	case fault.Host:
		return p.agent.Fail(c.Host, c.Up)
	}
	return nil
}

// replug plugs the fibres of the optical switch in as a fault says.
func (p *plant) replug(c fault.Change) (err error) {
	if p.panel == nil {
		return fmt.Errorf("strike fibre: %w", errNoOCS)
	}
	p.doors[p.fabric.OCSNode].Do(func(time.Duration, *device.Device) { err = p.panel.Plug(c.In, c.Out) })
	return err
}

// cable cuts a cable or mends it. Both its ends see that at once, as loss of light: then the interfaces go down. A cable
// that is mended carries packets before anybody sees its light.
func (p *plant) cable(l pathmap.LinkID, up bool) error {
	p.lights.mu.Lock()
	p.lights.cut[l&^1] = !up
	p.lights.mu.Unlock()
	var err error
	if up {
		err = p.net.Cut(l, true)
	}
	for _, d := range []pathmap.LinkID{l, pathmap.Reverse(l)} {
		link := p.fabric.Topology.Link(d)
		switch door := p.doors[link.From]; {
		case door == nil: // a host's
		case p.fabric.HasOCS() && link.To == p.fabric.OCSNode:
			p.shine(int(p.fabric.Topology.Node(link.From).Rack))
		default:
			door.Light(southbound.Port(link.FromPort), up)
		}
	}
	if !up {
		err = p.net.Cut(l, false)
	}
	if err != nil {
		return fmt.Errorf("strike: %w", err)
	}
	return nil
}

// watchTables has told told of rules that become effective at a packet switch. It returns what ends that.
func (p *plant) watchTables(told func(device.Applied)) (end func()) {
	var ends []func()
	for _, node := range p.packetSwitches() {
		ends = append(ends, p.doors[node].Attach(device.Tap{Event: func(southbound.DeviceEvent) {}, Applied: told},
			func(time.Duration, *device.Device) {}))
	}
	return func() {
		for _, e := range ends {
			e()
		}
	}
}

func (p *plant) packetSwitches() (out []southbound.DeviceID) {
	for n, node := range p.fabric.Topology.Nodes() {
		if node.Role == pathmap.ToR || node.Role == pathmap.Switch {
			out = append(out, southbound.DeviceID(n))
		}
	}
	return out
}
