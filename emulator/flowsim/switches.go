package flowsim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/des"
	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// switchboard is a device of the fabric and its door.
type switchboard struct {
	sim      *Sim
	id       southbound.DeviceID
	dev      *device.Device
	plane    *plane
	due      des.Event
	watchers []*watcher
}

type watcher struct {
	sink func(southbound.DeviceEvent)
	lost chan struct{}
}

// plane is the table that walks are looked up in. It reports to the simulator when they must be walked
// again.
type plane struct {
	mem *mem.Tables
	sim *Sim
	id  southbound.DeviceID
}

func (p *plane) SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	p.sim.change(p.id)
	if x := p.sim.fluid.relay; x != nil {
		x.told(p.id, set, drop, replace)
	}
	return p.mem.SetRules(set, drop, replace)
}

func (p *plane) SetLight(port southbound.Port, lit bool) error {
	if p.sim.fabric.IsOCS(p.id) {
		p.sim.changeCircuits(p.id)
	} else {
		p.sim.change(p.id)
	}
	return p.mem.SetLight(port, lit)
}

func (p *plane) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	for _, in := range off {
		p.sim.change(p.sim.circuitOf(p.id, in))
	}
	for _, c := range on {
		p.sim.change(p.sim.circuitOf(p.id, c.In))
	}
	if dark > 0 && len(on) > 0 {
		p.sim.lightLater(p.id, on, p.sim.clock.Now()+dark)
	}
	return p.mem.Move(off, on, dark)
}

func (p *plane) Dropped() (uint64, error) { return p.mem.Dropped() }

// logSize is how many intervals of light an OCS's log keeps: more than a long run has, since a run is
// judged by it. The log takes memory only as it grows.
const logSize = 1 << 22

// shortLog is how many it keeps if Options.Lit is called with each as it ends.
const shortLog = 1 << 10

// addDevices makes a device of every node that is not a host.
func (s *Sim) addDevices() {
	t := s.fabric.Topology
	s.switches = make([]*switchboard, len(t.Nodes()))
	for i, n := range t.Nodes() {
		if n.Role == pathmap.Host {
			continue
		}
		id := pathmap.NodeID(i)
		sw := &switchboard{sim: s, id: id}
		sw.plane = &plane{mem: mem.NewTables(t.Ports(id), s.clock.Now), sim: s, id: id}
		c := device.Config{Name: n.Name, ID: id, Kind: device.Packet, Ports: t.Ports(id),
			Racks:  int32(s.fabric.Racks),
			Tags:   s.tags,
			Delays: s.opt.Switch, Seed: s.opt.Seed, Plane: sw.plane, LogSize: logSize}
		if n.Role == pathmap.OCS {
			c.Kind, c.Delays, c.AllStop = device.Optical, s.opt.optical(s.fabric, id), s.opt.AllStop
			c.Plane = optics{sw.plane}
			c.OnLight = func(_ time.Duration, input southbound.Port, lit bool) { s.onLight(id, input, lit) }
			if s.opt.Lit != nil {
				c.LogSize, c.OnLit = shortLog, func(i device.LitInterval) { s.opt.Lit(s.inFabric(id, i)) }
			}
		}
		sw.dev = device.New(c)
		s.switches[i] = sw
		s.devices = append(s.devices, id)
	}
	for p := range s.fabric.OCSUplink {
		s.updateUplink(int32(p))
	}
}

// inFabric returns an interval of light of an OCS with the fabric's numbers of its ports.
func (s *Sim) inFabric(ocs pathmap.NodeID, i device.LitInterval) device.LitInterval {
	i.In = southbound.Port(s.fabric.OCSPort(ocs, int32(i.In)))
	i.Out = southbound.Port(s.fabric.OCSPort(ocs, int32(i.Out)))
	return i
}

// circuitLight reports to a ToR that the circuit it sends into carries light, or no longer does.
func (s *Sim) circuitLight(ocs pathmap.NodeID, input southbound.Port, lit bool) {
	if s.linkBy(ocs, input) == pathmap.None {
		return
	}
	port := s.fabric.OCSPort(ocs, int32(input))
	s.circuit[port] = lit
	s.updateUplink(port)
}

// updateUplink reports to the ToR at an OCS port what its own end of that cable sees.
func (s *Sim) updateUplink(at int32) {
	port := s.fabric.OCSUplink[at]
	if port == pathmap.None {
		return
	}
	tor := s.fabric.ToRNode[s.fabric.OCSRack(at)]
	l := s.linkBy(tor, southbound.Port(port))
	s.switches[tor].light(southbound.Port(port), s.circuit[at] && !s.cut[l])
}

// light reports to the device what a port of it sees.
func (w *switchboard) light(port southbound.Port, lit bool) {
	w.dev.Light(w.sim.clock.Now(), port, lit)
	w.plan()
}

// plan puts the device's next transition on the clock.
func (w *switchboard) plan() {
	at, ok := w.dev.Next()
	switch {
	case !ok:
		w.sim.clock.Cancel(w.due)
	case !w.sim.clock.Move(w.due, at):
		w.due = w.sim.clock.At(at, event{deviceDue, int32(w.id)})
	}
}

// advance runs what is due and sends the events to all watchers.
func (w *switchboard) advance() {
	s := w.sim
	first := len(s.emitted)
	s.emitted = w.dev.Take(s.clock.Now(), s.emitted)
	if len(w.watchers) > 0 {
		for _, e := range s.emitted[first:] {
			w.deliver(e)
		}
	}
	w.plan()
}

func (w *switchboard) deliver(e southbound.DeviceEvent) {
	for _, o := range w.watchers {
		o.sink(e)
		if e.Kind == southbound.Lost {
			close(o.lost)
		}
	}
	if e.Kind == southbound.Lost {
		w.watchers = nil
	}
}

// Set implements southbound.Device: the change is accepted or refused at once, at Now.
func (w *switchboard) Set(ctx context.Context, c *southbound.Change) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("set device %q: %w", w.dev.Config().Name, err)
	}
	w.sim.mu.Lock()
	defer w.sim.mu.Unlock()
	err := w.dev.Set(w.sim.clock.Now(), c)
	w.plan()
	return err
}

// Read implements southbound.Device.
func (w *switchboard) Read(ctx context.Context) (southbound.Seen, error) {
	w.sim.mu.Lock()
	defer w.sim.mu.Unlock()
	defer w.plan()
	now := w.sim.clock.Now()
	err := ctx.Err()
	if err == nil && w.dev.Down(now) {
		err = device.ErrDown
	}
	if err != nil {
		return southbound.Seen{}, fmt.Errorf("read device %q: %w", w.dev.Config().Name, err)
	}
	return w.dev.Seen(now), nil
}

// Watch implements southbound.Device. Events come from within Advance, under the simulator's lock: sink
// must not call the Sim. What has happened at Now and Advance has not reported yet comes twice, once as
// part of the current state.
func (w *switchboard) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	o := &watcher{sink: sink, lost: make(chan struct{})}
	if err := w.attend(o); err != nil {
		return fmt.Errorf("watch device %q: %w", w.dev.Config().Name, err)
	}
	select {
	case <-ctx.Done():
		w.sim.mu.Lock()
		defer w.sim.mu.Unlock()
		w.watchers = slices.DeleteFunc(w.watchers, func(x *watcher) bool { return x == o })
		return nil
	case <-o.lost:
		return fmt.Errorf("watch device %q: %w", w.dev.Config().Name, device.ErrDown)
	}
}

// attend sends a new watcher the current state, then Synced, and adds it to the list.
func (w *switchboard) attend(o *watcher) error {
	w.sim.mu.Lock()
	defer w.sim.mu.Unlock()
	defer w.plan()
	now := w.sim.clock.Now()
	if w.dev.Down(now) {
		return device.ErrDown
	}
	seen := w.dev.Seen(now)
	e := southbound.DeviceEvent{At: now, Device: w.id}
	for _, c := range seen.Connections {
		e.Kind, e.In, e.Out, e.Status = southbound.ConnectionStatus, c.In, c.Out, c.Status
		o.sink(e)
	}
	e.Out, e.Status = southbound.NoPort, 0
	for _, p := range seen.Down {
		e.Kind, e.In = southbound.PortDown, p
		o.sink(e)
	}
	e.Kind, e.In = southbound.Synced, southbound.NoPort
	o.sink(e)
	w.watchers = append(w.watchers, o)
	return nil
}

// Devices returns the switches of the fabric, ascending.
func (s *Sim) Devices() []southbound.DeviceID { return slices.Clone(s.devices) }

// Device returns the direct door of a switch. It panics where there is none: Devices lists them.
func (s *Sim) Device(id southbound.DeviceID) southbound.Device { return s.board(id) }

func (s *Sim) board(id southbound.DeviceID) *switchboard {
	if id < 0 || int(id) >= len(s.switches) || s.switches[id] == nil {
		panic(fmt.Sprintf("flowsim: no device %d", id))
	}
	return s.switches[id]
}

// Do calls f with a device at Now: it is how faults and restarts reach it. f must not call the Sim.
func (s *Sim) Do(id southbound.DeviceID, f func(now time.Duration, d *device.Device)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.board(id)
	f(s.clock.Now(), w.dev)
	w.plan()
}

// Cable cuts or mends both directions of a link's cable. Switches at its ends see their light go or come.
func (s *Sim) Cable(l pathmap.LinkID, up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut[l] == !up {
		return
	}
	s.fluid.tables++
	s.recabled, s.fluid.recabled = s.fluid.tables, true
	for _, d := range []pathmap.LinkID{l, pathmap.Reverse(l)} {
		s.cut[d] = !up
	}
	for _, d := range []pathmap.LinkID{l, pathmap.Reverse(l)} {
		link := s.fabric.Topology.Link(d)
		switch w := s.switches[link.From]; {
		case w == nil:
		case s.fabric.IsOCS(link.To):
			s.updateUplink(s.fabric.OCSPort(link.To, link.ToPort))
		default:
			w.light(southbound.Port(link.FromPort), up)
		}
	}
}
