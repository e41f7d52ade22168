package run

import (
	"context"
	"sync"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/pki"
)

// agentName is the name in the agent's certificate.
const agentName = "agent"

// line is a device that is dialled when it is first asked for something, and again if that failed, so that one which
// does not answer keeps nobody from the others.
type line struct {
	cfg gnmi.Config

	mu      sync.Mutex
	session *gnmi.Session
}

var (
	_ southbound.Device   = (*line)(nil)
	_ southbound.Counting = (*line)(nil)
)

func (l *line) get(ctx context.Context) (*gnmi.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		s, err := gnmi.Dial(ctx, l.cfg)
		if err != nil {
			return nil, err
		}
		l.session = s
	}
	return l.session, nil
}

func (l *line) Set(ctx context.Context, c *southbound.Change) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Set(ctx, c)
}

func (l *line) Read(ctx context.Context) (southbound.Seen, error) {
	s, err := l.get(ctx)
	if err != nil {
		return southbound.Seen{}, err
	}
	return s.Read(ctx)
}

func (l *line) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Watch(ctx, sink)
}

func (l *line) Counters(ctx context.Context, every time.Duration, tell func([]southbound.PortCounters)) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Counters(ctx, every, tell)
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != nil {
		_ = l.session.Close() // nothing is left to lose
	}
}

// dial makes a line to every switch, with the election id of a term.
func (p *controllerProcess) dial(term uint64) (devices map[southbound.DeviceID]southbound.Device, closeAll func()) {
	out := map[southbound.DeviceID]southbound.Device{}
	var lines []*line
	for i, node := range p.fabric.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		id := southbound.DeviceID(i)
		l := &line{cfg: gnmi.Config{Name: node.Name, Addr: p.charge.Devices[node.Name], Device: id, Profile: p.profile(id, node),
			TLS: p.id.Client(node.Name, pki.Switch), Start: p.charge.Epoch, Timeout: 5 * time.Second,
			Election: func() gnmi.Election { return gnmi.Election{High: p.charge.electionHigh(term), Low: 1} }}}
		lines = append(lines, l)
		out[id] = l
		if p.export != nil {
			out[id] = p.export.meter.Device(node.Name, l, p.clock)
		}
	}
	return out, func() {
		for _, l := range lines {
			l.close()
		}
	}
}

// profile is how a switch of ours is spoken to.
func (p *controllerProcess) profile(id southbound.DeviceID, node pathmap.Node) gnmi.Profile {
	if node.Role == pathmap.OCS {
		return gnmi.OCP{Ports: p.fabric.Topology.Ports(id)}
	}
	return gnmi.OpenConfig{Ports: p.fabric.Topology.Ports(id), Racks: int32(p.fabric.Racks)}
}
