package run

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/emulator/agent"
	"lightloom/emulator/cabling"
	"lightloom/emulator/device"
	"lightloom/emulator/netns"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// plant is an emulated fabric of real packets in this process's namespaces: interfaces, the models of its switches, and
// the agent of its hosts. It is not programmed from here: package target puts gNMI in front of each switch.
type plant struct {
	fabric *topo.Fabric
	net    *netns.Fabric
	doors  map[southbound.DeviceID]*device.Door
	agent  *agent.Agent
	clock  func() time.Duration
	lights shining
	panel  *cabling.Panel // between the optical switch and its fibres; nil without one
}

// newPlant builds the fabric. allStop has every circuit go dark when one moves. The caller closes it.
func newPlant(f *topo.Fabric, opt netns.Options, seed uint64, allStop bool, budget delays, clock func() time.Duration) (*plant, error) {
	n, err := netns.Build(f, opt)
	if err != nil {
		return nil, err
	}
	p := &plant{fabric: f, net: n, doors: map[southbound.DeviceID]*device.Door{}, clock: clock}
	for i, node := range f.Topology.Nodes() {
		if node.Role != pathmap.Host {
			p.addSwitch(southbound.DeviceID(i), node, seed, allStop, budget)
		}
	}
	p.lights = shining{cut: map[pathmap.LinkID]bool{}, lit: make([]bool, f.Racks)}
	p.darkUplinks()
	conf := agent.ForFabric(f)
	conf.Net, conf.Now, conf.Congestion = n, clock, n.Settings().Congestion
	if p.agent, err = agent.New(conf); err != nil {
		return nil, fmt.Errorf("%w (and %v)", err, n.Close())
	}
	return p, nil
}

func (p *plant) addSwitch(id southbound.DeviceID, node pathmap.Node, seed uint64, allStop bool, budget delays) {
	c := device.Config{Delays: budget.packet(), Name: node.Name, ID: id, Kind: device.Packet, Ports: p.fabric.Topology.Ports(id), Racks: int32(p.fabric.Racks),
		Seed: seed, Plane: p.net.Plane(id), Clock: p.clock}
	if node.Role == pathmap.OCS {
		c.Kind, c.AllStop = device.Optical, allStop
		c.Delays = budget.optical()
		p.panel = cabling.New(c.Plane, c.Ports, func(fibre southbound.Port, lit bool) { p.light(int(fibre), lit) })
		c.Plane, c.OnLight = p.panel, func(_ time.Duration, input southbound.Port, lit bool) { p.panel.Light(input, lit) }
	}
	p.doors[id] = device.NewDoor(device.New(c), p.clock, nil)
}

// parked sums up what became of packets that met a dark circuit; nil where none may wait.
func (p *plant) parked() *report.DarkQueues {
	limit := p.net.Settings().DarkQueues
	if limit == 0 {
		return nil
	}
	sum := &report.DarkQueues{Limit: int64(limit)}
	for _, tor := range p.net.Parked() {
		for _, c := range tor {
			sum.Parked += c.Packets
			sum.Dropped += c.Dropped
			sum.Most = max(sum.Most, c.Most)
		}
	}
	return sum
}

// light tells the ToR that sends into an OCS input whether its circuit carries light, as far-end fault signalling does.
func (p *plant) light(rack int, lit bool) {
	p.lights.mu.Lock()
	p.lights.lit[rack] = lit
	p.lights.mu.Unlock()
	p.shine(rack)
}

// darkUplinks begins with what is true of a fabric without circuits: no ToR has light on its port to the OCS.
func (p *plant) darkUplinks() {
	for r := range p.fabric.OCSUplink {
		p.light(r, false)
	}
}

// run drives the switches until ctx ends.
func (p *plant) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, d := range p.doors {
		g.Go(func() error { return d.Run(ctx) })
	}
	return g.Wait()
}

func (p *plant) close() error {
	err := p.agent.Close()
	if e := p.net.Close(); err == nil {
		err = e
	}
	return err
}

// count adds the fabric's own counters to an outcome: bytes of HTB classes, drops of planes, the OCS's log of light.
func (p *plant) count(o *outcome, since netns.Counters) error {
	c, err := p.net.Counters()
	if err != nil {
		return err
	}
	t := p.fabric.Topology
	for l, link := range t.Links() {
		from, to := t.Node(link.From).Role, t.Node(link.To).Role
		n := c.Links[l].Bytes - since.Links[l].Bytes
		switch {
		case from == pathmap.ToR && to == pathmap.OCS:
			o.OCS += n
		case from == pathmap.ToR && to == pathmap.Switch:
			o.EPS += n
		}
		o.Queue += int64(c.Links[l].QueueDrops - since.Links[l].QueueDrops)
	}
	for n := range c.Dropped {
		o.Dropped += int64(c.Dropped[n] - since.Dropped[n])
	}
	a := p.agent.Stats()
	o.Retrans, o.Received, o.BundlesEnded = a.Retransmissions, a.BytesReceived, a.BundlesEnded
	o.Reordered, o.Marked = a.Reordered, a.Marked
	o.Basis, o.DarkSource = "layer 2", "device"
	o.Parked = p.parked()
	if p.fabric.HasOCS() {
		p.doors[p.fabric.OCSNode].Do(func(_ time.Duration, d *device.Device) { o.Lit = d.Log() })
	}
	return nil
}
