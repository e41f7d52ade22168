package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/cmd/lightloom/internal/version"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/pki"
)

// gauge measures a run of jobs on switches that run elsewhere, by what they tell over gNMI.
type gauge struct {
	a     *attached
	names []string // of the ToRs, then of other packet switches
	nodes []pathmap.NodeID
	conns []*grpc.ClientConn
	since []probe.Counters
	ocs   *gnmi.Session
	stop  context.CancelFunc
	ended chan struct{}
	began time.Time
	cpu   float64

	mu  sync.Mutex
	lit []device.LitInterval // those that last have no end yet
}

const unended = time.Duration(-1)

// AttachCommand is what a manifest calls a run on switches that ran by themselves, as in Mininet. It names what was
// replayed and how; the testbed has to be made again by who made it.
const AttachCommand = "controller run"

// measure begins to measure. The caller closes it.
func (a *attached) measure(ctx context.Context) (*gauge, error) {
	g := &gauge{a: a, began: time.Now(), cpu: cpuSeconds(), ended: make(chan struct{}), stop: func() {}}
	id, err := a.identity(pki.Controller, "controller0")
	if err != nil {
		return nil, err
	}
	nodes := slices.Clone(a.fabric.ToRNode)
	for n, node := range a.fabric.Topology.Nodes() {
		if node.Role == pathmap.Switch {
			nodes = append(nodes, pathmap.NodeID(n))
		}
	}
	for _, n := range nodes {
		name := a.fabric.Topology.Node(n).Name
		conn, err := gnmi.Connect(gnmi.Config{Name: name, Addr: a.places.Devices[name], TLS: id.Client(name, pki.Switch)})
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		g.names, g.nodes, g.conns = append(g.names, name), append(g.nodes, n), append(g.conns, conn)
	}
	if g.since, err = g.counters(ctx); err != nil {
		return nil, errors.Join(err, g.close())
	}
	if err := g.watch(ctx, id); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *gauge) close() error {
	g.stop()
	var errs []error
	for _, c := range g.conns {
		errs = append(errs, c.Close())
	}
	if g.ocs != nil {
		<-g.ended
		errs = append(errs, g.ocs.Close())
	}
	return errors.Join(errs...)
}

func (g *gauge) counters(ctx context.Context) (all []probe.Counters, err error) {
	ctx, cancel := context.WithTimeout(ctx, auditTimeout)
	defer cancel()
	for i, c := range g.conns {
		n, err := probe.ReadCounters(ctx, gpb.NewGNMIClient(c))
		if err != nil {
			return nil, fmt.Errorf("switch %s: %w", g.names[i], err)
		}
		all = append(all, n)
	}
	return all, nil
}

// watch follows what circuits the optical switch says to have, where there is one.
func (g *gauge) watch(ctx context.Context, id pki.Identity) (err error) {
	f := g.a.fabric
	if !f.HasOCS() {
		return nil
	}
	node := f.Topology.Node(f.OCSNode)
	g.ocs, err = gnmi.Dial(ctx, gnmi.Config{Name: node.Name, Addr: g.a.places.Devices[node.Name], Device: f.OCSNode,
		Profile: gnmi.OCP{Ports: f.Topology.Ports(f.OCSNode)}, TLS: id.Client(node.Name, pki.Switch), Start: g.a.epoch, Timeout: auditTimeout})
	if err != nil {
		return err
	}
	ctx, g.stop = context.WithCancel(ctx)
	synced := make(chan struct{})
	var once sync.Once
	go func() {
		defer close(g.ended)
		_ = g.ocs.Watch(ctx, func(e southbound.DeviceEvent) { // a stream that breaks leaves what it told
			if e.Kind == southbound.Synced {
				once.Do(func() { close(synced) })
			}
			g.circuit(e)
		})
		once.Do(func() { close(synced) })
	}()
	<-synced
	return nil
}

func (g *gauge) circuit(e southbound.DeviceEvent) {
	if e.Kind != southbound.ConnectionStatus {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.lit, func(l device.LitInterval) bool { return l.In == e.In && l.Out == e.Out && l.To == unended })
	switch {
	case e.Status == southbound.Connected && i < 0:
		g.lit = append(g.lit, device.LitInterval{In: e.In, Out: e.Out, From: e.At, To: unended})
	case e.Status != southbound.Connected && i >= 0:
		g.lit[i].To = e.At
	}
}

// outcome joins what the controller's state says with what was measured.
func (g *gauge) outcome(ctx context.Context, client *api.Client, d *state.Data, begin time.Duration) (*outcome, error) {
	now, err := g.counters(ctx)
	if err != nil {
		return nil, err
	}
	a := g.a
	o := &outcome{Row: a.charge.Row, State: d, Assumed: a.charge.Delta, Basis: "layer 2", DarkSource: "device", End: a.clock(), Dataplane: "gnmi"}
	t := a.fabric.Topology
	for rack, node := range a.fabric.ToRNode {
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
			o.Queue += int64(now[rack].Ports[p].OutDiscards - g.since[rack].Ports[p].OutDiscards)
		}
		o.Dropped += int64(now[rack].NoRoute - g.since[rack].NoRoute)
	}
	o.Fullest, o.Notes = g.depth(now)
	if a.agent != nil {
		s := a.agent.Stats()
		o.Retrans, o.Received, o.BundlesEnded = s.Retransmissions, s.BytesReceived, s.BundlesEnded
		o.Reordered, o.Marked = s.Reordered, s.Marked
	}
	if st, err := client.Status(ctx); err == nil {
		o.LeaderChanges = int64(st.LeaderChanges)
	}
	if o.Digest, err = a.reps.agree(ctx, client); err != nil {
		return nil, err
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
	o.shift(begin)
	return o, nil
}

// depth is the port whose queue was fullest during the run, as the packet switches tell. They tell of the longest since they
// began, so that a queue counts where it has grown longer than it ever was before the run. Notes say why there is none.
func (g *gauge) depth(now []probe.Counters) (*report.QueueDepth, []string) {
	t := g.a.fabric.Topology
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

// write writes the report of a run: report.json is of the same form as that of lightloom replay.
func (g *gauge) write(s *setup, o *outcome) error {
	dir, err := reportDir(g.a.opt.ReportDir)
	if err != nil {
		return err
	}
	s.opt.On = cmp.Or(g.a.opt.On, "elsewhere")
	s.rows, s.elephants = []row{o.Row}, g.a.charge.Elephants
	rep, _ := s.report([]*outcome{o})
	manifest, inputs, err := s.manifest()
	if err != nil {
		return err
	}
	manifest.Command, rep.Manifest = AttachCommand, manifest
	rep.Fabric.Privilege, rep.Fabric.Dataplane = "root", "of switches run by themselves"
	rep.Fabric.Congestion = "cubic"
	rep.Controller.Replicas, rep.Controller.Log, rep.Controller.Digest = g.a.opt.Replicas, "raft", o.Digest
	now := time.Now()
	run := &report.Run{Version: version.This(), Command: g.a.opt.Args, Started: g.began, Ended: now, Host: report.ThisHost(),
		Wall: now.Sub(g.began).Seconds(), CPU: cpuSeconds() - g.cpu, Inputs: inputs}
	run.Policies = append(run.Policies, report.PolicyRun{Name: o.Row.Name, Wall: run.Wall, CPU: run.CPU})
	if err := rep.WriteDir(dir, run); err != nil {
		return err
	}
	fmt.Fprintf(g.a.opt.Stdout, "report: %s\n", filepath.Join(dir, "report.html"))
	return nil
}
