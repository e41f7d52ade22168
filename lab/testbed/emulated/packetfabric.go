package emulated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/emulator/device"
	"lightloom/emulator/netns"
	"lightloom/emulator/switchd"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hostagent"
	"lightloom/southbound/inventory"
)

// PacketFabric is an emulated fabric of real packets in this process's namespaces: interfaces, the
// models of its switches, and the agent of its hosts. Package target puts gNMI in front of each switch,
// through which it is programmed.
type PacketFabric struct {
	fabric   *topo.Fabric
	Net      *netns.Fabric
	Switches map[southbound.DeviceID]*switchd.Switch
	Agent    *hostagent.Agent
	clock    func() time.Duration
	links    linkState
	watch    *watch        // records what host flows had left; nil: that is not recorded
	raised   chan struct{} // closed: switches' ports are up
}

// newPacketFabric builds the fabric, whose ports run sets up: the kernel takes its time, on one processor, and switches
// are programmed meanwhile. fences is a directory that keeps election ids. The caller closes it.
func newPacketFabric(f *topo.Fabric, o *ChildConfig, fences string,
	clock func() time.Duration) (*PacketFabric, error) {
	n, err := netns.Lay(f, o.Net)
	if err != nil {
		return nil, err
	}
	p := &PacketFabric{fabric: f, Net: n, Switches: map[southbound.DeviceID]*switchd.Switch{}, clock: clock,
		raised: make(chan struct{})}
	for i, node := range f.Topology.Nodes() {
		if node.Role != pathmap.Host {
			p.addSwitch(southbound.DeviceID(i), node, o)
		}
	}
	p.links = linkState{cut: map[pathmap.LinkID]bool{}, lit: make([]bool, f.OCSPorts())}
	p.darkUplinks()
	conf := hostagent.ForFabric(f)
	conf.Net, conf.Now, conf.Congestion = n, clock, n.Settings().Congestion
	conf.FenceFile = filepath.Join(fences, inventory.AgentName)
	if o.Reservations || o.Rules.PerHostFlow != "" {
		p.watch = newWatch(southbound.CircuitTags(f))
		conf.Watch = p.watch
	}
	if p.Agent, err = hostagent.New(conf); err != nil {
		return nil, fmt.Errorf("%w (and %v)", err, n.Close())
	}
	return p, nil
}

func (p *PacketFabric) addSwitch(id southbound.DeviceID, node pathmap.Node, o *ChildConfig) {
	c := switchd.Config{Device: device.Config{Delays: o.Delays.Packet(), Name: node.Name, ID: id,
		Kind:  device.Packet,
		Ports: p.fabric.Topology.Ports(id), Racks: int32(p.fabric.Racks),
		Seed: o.Seed, Plane: p.Net.Plane(id), Clock: p.clock}}
	if node.Role == pathmap.OCS {
		c.Device.Kind, c.Device.AllStop = device.Optical, o.Row.AllStop
		c.Device.Delays = o.Delays.OpticalOf(int(id - p.fabric.OCSNode))
		c.Fibres = func(fibre southbound.Port, lit bool) { p.setCircuitLit(p.fabric.OCSPort(id, int32(fibre)), lit) }
	}
	p.Switches[id] = switchd.New(c)
}

// queued sums up the packets that met a dark circuit; nil if packets cannot wait for one.
func (p *PacketFabric) queued() *report.VOQs {
	limit := p.Net.Settings().VOQBytes
	if limit == 0 {
		return nil
	}
	sum := &report.VOQs{Limit: int64(limit)}
	for _, tor := range p.Net.Queued() {
		for _, c := range tor {
			sum.Queued += c.Packets
			sum.Dropped += c.Dropped
			sum.Most = max(sum.Most, c.Most)
		}
	}
	return sum
}

// setCircuitLit sets whether the circuit of the ToR that sends into an OCS input carries light, and
// signals that to the ToR, like far-end fault signalling.
func (p *PacketFabric) setCircuitLit(input int32, lit bool) {
	p.links.mu.Lock()
	p.links.lit[input] = lit
	p.links.mu.Unlock()
	p.updateLinkState(input)
}

// darkUplinks sets the initial state, without circuits: no ToR has light on its ports to OCSes.
func (p *PacketFabric) darkUplinks() {
	for input := range p.fabric.OCSUplink {
		p.setCircuitLit(int32(input), false)
	}
}

// run drives the switches and serves their targets until ctx ends.
func (p *PacketFabric) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := p.Net.Raise(ctx); err != nil {
			return err
		}
		close(p.raised)
		return nil
	})
	for _, s := range p.Switches {
		g.Go(func() error { return s.Run(ctx) })
	}
	return g.Wait()
}

// up reports whether all ports are up.
func (p *PacketFabric) up() bool {
	select {
	case <-p.raised:
		return true
	default:
		return false
	}
}

func (p *PacketFabric) close() error {
	for _, s := range p.Switches {
		s.Close()
	}
	err := p.Agent.Close()
	if e := p.Net.Close(); err == nil {
		err = e
	}
	return err
}

// count adds the fabric's own counters to an outcome: bytes of HTB classes, drops of planes, the OCS's
// log of light.
func (p *PacketFabric) count(o *outcome.Outcome, since netns.Counters) error {
	c, err := p.Net.Counters()
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
		o.DroppedQueue += int64(c.Links[l].QueueDrops - since.Links[l].QueueDrops)
	}
	for n := range c.Dropped {
		o.DroppedDark += int64(c.Dropped[n] - since.Dropped[n])
	}
	a := p.Agent.Stats()
	o.Retransmissions, o.Received, o.HostFlowsEnded = a.Retransmissions, a.BytesReceived, a.HostFlowsEnded
	o.Reordered, o.Marked = a.Reordered, a.Marked
	o.Basis, o.DarkSource = "layer 2", "device"
	o.VOQs = p.queued()
	p.addLit(o)
	return nil
}

// addLit adds the logs of light of all OCSes to an outcome, with the fabric's numbers of their ports, by when
// each interval began.
func (p *PacketFabric) addLit(o *outcome.Outcome) {
	for i := range p.fabric.OCSes() {
		id := p.fabric.OCSNode + southbound.DeviceID(i)
		var log []device.LitInterval
		p.Switches[id].Door.Do(func(_ time.Duration, d *device.Device) { log = d.Log() })
		for k := range log {
			log[k].In = southbound.Port(p.fabric.OCSPort(id, int32(log[k].In)))
			log[k].Out = southbound.Port(p.fabric.OCSPort(id, int32(log[k].Out)))
		}
		if i == 0 {
			o.Lit = log
			continue
		}
		o.Lit = append(o.Lit, log...)
	}
	if p.fabric.OCSes() > 1 {
		slices.SortStableFunc(o.Lit, func(a, b device.LitInterval) int { return cmp.Compare(a.From, b.From) })
	}
}

// ErrNoOCS means that a fabric has no optical switch.
var ErrNoOCS = errors.New("the fabric has no optical switch, whose fibres could be audited")

// unprogrammed returns the first packet switch that has no rule yet, and those that follow it. A switch
// gets its first table in one transaction.
func (p *PacketFabric) unprogrammed(of []southbound.DeviceID) []southbound.DeviceID {
	for i, id := range of {
		var rules int
		p.Switches[id].Door.Do(func(now time.Duration, d *device.Device) { rules = len(d.Seen(now).Rules) })
		if rules == 0 {
			return of[i:]
		}
	}
	return nil
}
