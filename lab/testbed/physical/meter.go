package physical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"

	"lightloom/controller/api"
	"lightloom/controller/server"
	"lightloom/emulator/device"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/pki"
)

// meter measures a run of jobs on switches that run elsewhere, by their reports over gNMI.
type meter struct {
	a     *server.Daemon
	names []string // of the ToRs, then of other packet switches
	nodes []pathmap.NodeID
	kinds []gnmi.Profile // what they speak
	conns []*grpc.ClientConn
	since []probe.Counters
	notes []string // what is not measured
	ocses []gnmi.Line
	stop  context.CancelFunc
	ended sync.WaitGroup // those that follow optical switches

	mu  sync.Mutex
	lit []device.LitInterval // those that last have no end yet
}

// askWithin bounds one call to one switch.
const askWithin = 5 * time.Second

const unended = time.Duration(-1)

// measure starts to measure. The caller closes the meter.
func measure(ctx context.Context, a *server.Daemon) (*meter, error) {
	g := &meter{a: a, stop: func() {}}
	id, err := a.Identity(pki.Controller, "controller0")
	if err != nil {
		return nil, err
	}
	nodes := slices.Clone(a.Fabric.ToRNode)
	for n, node := range a.Fabric.Topology.Nodes() {
		if node.Role == pathmap.Switch {
			nodes = append(nodes, pathmap.NodeID(n))
		}
	}
	for i, n := range nodes {
		if err := g.connect(ctx, n, id); err != nil && i >= a.Fabric.Racks {
			g.notes = append(g.notes, fmt.Sprintf("not measured: %v", err)) // it may have been replaced, or be away
		} else if err != nil {
			return nil, errors.Join(err, g.close())
		}
	}
	if g.since, _, err = g.counters(ctx); err != nil {
		return nil, errors.Join(err, g.close())
	}
	if err := g.watch(ctx, id); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// connect adds a packet switch to those that are read.
func (g *meter) connect(ctx context.Context, n pathmap.NodeID, id pki.Identity) error {
	cfg, err := g.a.Inventory.Devices.Config(g.a.Fabric, n, id, os.Getenv)
	if err != nil {
		return err
	}
	kind, err := speaks(ctx, g.a, n, id)
	if err != nil {
		return err
	}
	conn, err := gnmi.Connect(cfg)
	if err != nil {
		return err
	}
	g.names, g.nodes = append(g.names, cfg.Name), append(g.nodes, n)
	g.kinds, g.conns = append(g.kinds, kind), append(g.conns, conn)
	return nil
}

func (g *meter) close() error {
	g.stop()
	var errs []error
	for _, c := range g.conns {
		errs = append(errs, c.Close())
	}
	g.ended.Wait()
	for _, o := range g.ocses {
		errs = append(errs, o.Close())
	}
	return errors.Join(errs...)
}

// counters reads all switches. Those that hosts are not at count for the queues only: away are the
// names of those that do not answer, because they have been replaced or have failed.
func (g *meter) counters(ctx context.Context) (all []probe.Counters, away []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	for i, c := range g.conns {
		n, err := probe.ReadCounters(ctx, gpb.NewGNMIClient(c), g.kinds[i])
		if err != nil && i < g.a.Fabric.Racks {
			return nil, nil, fmt.Errorf("switch %s: %w", g.names[i], err)
		}
		if err != nil {
			away = append(away, g.names[i])
		}
		all = append(all, n)
	}
	return all, away, nil
}

// speaks returns the profile of a packet switch, which the switch is asked for where its record says so.
func speaks(ctx context.Context, a *server.Daemon, n pathmap.NodeID, id pki.Identity) (gnmi.Profile, error) {
	line, err := a.Inventory.Devices.Dial(ctx, a.Fabric, n, id, os.Getenv,
		func(c *gnmi.Config) { c.Timeout = askWithin })
	if err != nil {
		return nil, err
	}
	defer line.Close()
	if s, ok := line.(interface{ Profile() gnmi.Profile }); ok {
		return s.Profile(), nil
	}
	return nil, nil
}

// watch follows the circuits that the optical switches report, if there are any.
func (g *meter) watch(ctx context.Context, id pki.Identity) error {
	ctx, g.stop = context.WithCancel(ctx)
	for i := range g.a.Fabric.OCSes() {
		if err := g.follow(ctx, g.a.Fabric.OCSNode+pathmap.NodeID(i), id); err != nil {
			return err
		}
	}
	return nil
}

// follow follows the circuits that one optical switch reports.
func (g *meter) follow(ctx context.Context, n pathmap.NodeID, id pki.Identity) error {
	ocs, err := g.a.Inventory.Devices.Dial(ctx, g.a.Fabric, n, id, os.Getenv, func(cfg *gnmi.Config) {
		cfg.Start, cfg.Timeout = g.a.Epoch, askWithin
	})
	if err != nil {
		return err
	}
	g.ocses = append(g.ocses, ocs)
	synced := make(chan struct{})
	var once sync.Once
	g.ended.Go(func() {
		_ = ocs.Watch(ctx, func(e southbound.DeviceEvent) { // after a broken stream the earlier events stay
			if e.Kind == southbound.Synced {
				once.Do(func() { close(synced) })
			}
			g.circuit(n, e)
		})
		once.Do(func() { close(synced) })
	})
	<-synced
	return nil
}

// circuit notes what an optical switch says of a circuit, with the fabric's numbers of its ports.
func (g *meter) circuit(ocs pathmap.NodeID, e southbound.DeviceEvent) {
	if e.Kind != southbound.ConnectionStatus {
		return
	}
	e.In = southbound.Port(g.a.Fabric.OCSPort(ocs, int32(e.In)))
	e.Out = southbound.Port(g.a.Fabric.OCSPort(ocs, int32(e.Out)))
	if e.In < 0 || e.Out < 0 {
		return // of a port that the fabric does not use
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.lit, func(l device.LitInterval) bool {
		return l.In == e.In && l.Out == e.Out && l.To == unended
	})
	switch {
	case e.Status == southbound.Connected && i < 0:
		g.lit = append(g.lit, device.LitInterval{In: e.In, Out: e.Out, From: e.At, To: unended})
	case e.Status != southbound.Connected && i >= 0:
		g.lit[i].To = e.At
	}
}

// into adds the measurements to an outcome.
func (g *meter) into(ctx context.Context, client *api.Client, o *outcome.Outcome) error {
	now, away, err := g.counters(ctx)
	if err != nil {
		return err
	}
	a := g.a
	o.Basis, o.DarkSource, o.Dataplane = "layer 2", "device", "gnmi"
	t := a.Fabric.Topology
	for rack, node := range a.Fabric.ToRNode {
		for _, l := range t.Out(node) {
			link := t.Link(l)
			p := southbound.Port(link.FromPort)
			n := pathmap.Bytes(now[rack].Ports[p].OutOctets - g.since[rack].Ports[p].OutOctets)
			switch t.Node(link.To).Role {
			case pathmap.OCS:
				o.OCS += n
			case pathmap.Switch:
				o.EPS += n
			}
			o.DroppedQueue += int64(now[rack].Ports[p].OutDiscards - g.since[rack].Ports[p].OutDiscards)
		}
		o.DroppedDark += int64(now[rack].NoRoute - g.since[rack].NoRoute)
	}
	o.QueueDepth, o.Notes = g.depth(now)
	o.Notes = append(o.Notes, g.notes...)
	if len(away) > 0 {
		o.Notes = append(o.Notes, "not read at the end of the run: "+strings.Join(away, ", "))
	}
	if a.Agent != nil {
		s := a.Agent.Stats()
		o.Retransmissions, o.HostFlowsEnded = s.Retransmissions, s.HostFlowsEnded
		o.Reordered, o.Marked = s.Reordered, s.Marked
	}
	if st, err := client.Status(ctx); err == nil {
		o.LeaderChanges = int64(st.LeaderChanges)
	}
	if o.Digest, err = a.Cluster.Agree(ctx, client); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.lit {
		if l.To == unended {
			l.To = o.End
		}
		o.Lit = append(o.Lit, l)
	}
	slices.SortFunc(o.Lit, func(x, y device.LitInterval) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.In, y.In), cmp.Compare(x.Out, y.Out))
	})
	return nil
}

// depth returns the port whose queue was fullest during the run, as the packet switches report. They
// report the longest queue since they started, so a queue counts only if it exceeded its maximum from
// before the run. Notes give the reason if there is none.
func (g *meter) depth(now []probe.Counters) (*report.QueueDepth, []string) {
	t := g.a.Fabric.Topology
	d, told := &report.QueueDepth{}, false
	for i, n := range g.nodes {
		for _, l := range t.Out(n) {
			link := t.Link(l)
			port := southbound.Port(link.FromPort)
			q, before := now[i].Ports[port].Queue, g.since[i].Ports[port].Queue
			if q == nil {
				continue
			}
			told = true
			if before != nil && q.Most <= before.Most || float64(q.Most) <= d.Most {
				continue
			}
			d.Most, d.Mean = float64(q.Most), float64(q.Mean)
			d.Port = fmt.Sprintf("%s:%d to %s", g.names[i], port, t.Node(link.To).Name)
		}
	}
	switch {
	case !told:
		return nil, []string{"queue depth: not told by these switches"}
	case d.Port == "":
		return nil, []string{"queue depth: no queue was seen fuller than before the run"}
	}
	return d, nil
}
