package emulated

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/testbed"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// linkState is the state of light that devices cannot see: which cables are cut, and whether the
// circuit that a ToR sends into carries light.
type linkState struct {
	mu  sync.Mutex
	cut map[pathmap.LinkID]bool // by the even direction
	lit []bool                  // by OCS port
}

// updateLinkState signals to the ToR that sends into an OCS input whether its light reaches the far end.
func (p *PacketFabric) updateLinkState(input int32) {
	port := p.fabric.OCSUplink[input]
	if port == pathmap.None {
		return
	}
	tor := p.fabric.ToRNode[p.fabric.OCSRack(input)]
	l := p.fabric.Topology.OutPort(tor, port)
	p.links.mu.Lock()
	lit := p.links.lit[input] && !p.links.cut[l&^1]
	p.links.mu.Unlock()
	p.Switches[tor].Door.Light(southbound.Port(port), lit)
}

// inject applies a fault to the fabric. It ignores faults of the controller's replicas.
func (p *PacketFabric) inject(ctx context.Context, c fault.Change) error {
	switch c.Kind {
	case fault.Link:
		return p.cable(c.Cable, c.Up)
	case fault.Switch:
		return p.Switches[c.Device].Power(ctx, c.Up, testbed.ColdBoot)
	case fault.Fibre:
		return p.replug(c)
	case fault.Host:
		return p.Agent.Fail(c.Host, c.Up)
	}
	return nil
}

// replug moves the fibres of the optical switch as a fault says.
func (p *PacketFabric) replug(c fault.Change) (err error) {
	if !p.fabric.HasOCS() {
		return fmt.Errorf("strike fibre: %w", ErrNoOCS)
	}
	ocs := p.Switches[p.fabric.OCSNode]
	ocs.Door.Do(func(time.Duration, *device.Device) { err = ocs.Panel.Plug(c.In, c.Out) })
	return err
}

// cable cuts a cable or mends it. Both ends first see a loss of light, then the interfaces go down. A
// mended cable carries packets before its ends see light.
func (p *PacketFabric) cable(l pathmap.LinkID, up bool) error {
	p.links.mu.Lock()
	p.links.cut[l&^1] = !up
	p.links.mu.Unlock()
	var err error
	if up {
		err = p.Net.Cut(l, true)
	}
	for _, d := range []pathmap.LinkID{l, pathmap.Reverse(l)} {
		link := p.fabric.Topology.Link(d)
		switch sw := p.Switches[link.From]; {
		case sw == nil: // a host's
		case p.fabric.IsOCS(link.To):
			p.updateLinkState(p.fabric.OCSPort(link.To, link.ToPort))
		default:
			sw.Door.Light(southbound.Port(link.FromPort), up)
		}
	}
	if !up {
		err = p.Net.Cut(l, false)
	}
	if err != nil {
		return fmt.Errorf("strike: %w", err)
	}
	return nil
}

// watchTables calls told when rules become effective at a packet switch. end stops that.
func (p *PacketFabric) watchTables(told func(device.Applied)) (end func()) {
	var ends []func()
	for _, node := range p.packetSwitches() {
		ends = append(ends, p.Switches[node].Door.Attach(device.Tap{Event: func(southbound.DeviceEvent) {}, Applied: told},
			func(time.Duration, *device.Device) {}))
	}
	return func() {
		for _, e := range ends {
			e()
		}
	}
}

func (p *PacketFabric) packetSwitches() (out []southbound.DeviceID) {
	for n, node := range p.fabric.Topology.Nodes() {
		if node.Role == pathmap.ToR || node.Role == pathmap.Switch {
			out = append(out, southbound.DeviceID(n))
		}
	}
	return out
}
