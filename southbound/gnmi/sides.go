package gnmi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

var (
	_ southbound.Configured      = (*Session)(nil)
	_ southbound.Sided           = (*Session)(nil)
	_ southbound.FactoryMeasured = (*Session)(nil)
)

// Configured implements southbound.Configured.
func (s *Session) Configured(ctx context.Context) ([]southbound.CrossConnect, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	fail := func(err error) error { return fmt.Errorf("read configuration of device %q: %w", s.cfg.Name, err) }
	leaves, err := s.get(ctx, s.cfg.Profile.ConfigPaths(), gpb.GetRequest_ALL)
	if err != nil {
		return nil, fail(explain(err))
	}
	w := s.cfg.Profile.NewWriter(leaves)
	if r, ok := w.(*renamedWriter); ok {
		w = r.Writer
	}
	knows, ok := w.(circuitKnower)
	if !ok {
		return nil, fail(southbound.ErrUnsupported)
	}
	var out []southbound.CrossConnect
	for _, h := range knows.circuits() {
		out = append(out, southbound.CrossConnect{In: h.in, Out: h.out})
	}
	slices.SortFunc(out, func(a, b southbound.CrossConnect) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
	})
	return out, nil
}

// sided is an optional interface of a Profile whose devices say of each port what it is joined to.
type sided interface {
	sidePaths() []schema.Path
	sides(state []schema.Leaf) []southbound.Side
}

var (
	_ sided = OCP{}
	_ sided = SONiCOCS{}
	_ sided = (*renamed)(nil)
)

// Sides implements southbound.Sided.
func (s *Session) Sides(ctx context.Context) ([]southbound.Side, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	fail := func(err error) error { return fmt.Errorf("read ports of device %q: %w", s.cfg.Name, err) }
	p, ok := s.cfg.Profile.(sided)
	if !ok || len(p.sidePaths()) == 0 {
		return nil, fail(southbound.ErrUnsupported)
	}
	leaves, err := s.get(ctx, p.sidePaths(), gpb.GetRequest_STATE)
	if err != nil {
		return nil, fail(explain(err))
	}
	if len(leaves) == 0 {
		return nil, fail(southbound.ErrUnsupported)
	}
	return p.sides(leaves), nil
}

// sideTable collects sides from leaves that come one by one.
type sideTable map[southbound.Side]*southbound.Side // by Port and Input alone

func (t sideTable) at(p southbound.Port, input bool) *southbound.Side {
	key := southbound.Side{Port: p, Input: input}
	if t[key] == nil {
		t[key] = &southbound.Side{Port: p, Input: input, Peer: southbound.NoPort}
	}
	return t[key]
}

// all returns the sides, outputs first, by port.
func (t sideTable) all() []southbound.Side {
	out := make([]southbound.Side, 0, len(t))
	for _, s := range t {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b southbound.Side) int {
		return cmp.Or(cmp.Compare(b2i(a.Input), b2i(b.Input)), cmp.Compare(a.Port, b.Port))
	})
	return out
}

func (OCP) sidePaths() []schema.Path {
	port := schema.Path(nil).With("components").Entry("component", "name", schema.Any).With("ocp-ocs-port", "state")
	return []schema.Path{port.With("status"), port.With("connection", "peer"), port.With("input-optical-power"),
		port.With("output-optical-power")}
}

func (p OCP) sides(state []schema.Leaf) []southbound.Side {
	t := sideTable{}
	comes, leaves := map[southbound.Port]float64{}, map[southbound.Port]float64{} // power in dBm
	for _, l := range state {
		if len(l.Path) < 5 || l.Path[0].Name != "components" || l.Path[2].Name != "ocp-ocs-port" {
			continue
		}
		name := l.Path[1].Key("name")
		port, input := InputNamed(name)
		if !input {
			var ok bool
			if port, ok = OutputNamed(name); !ok {
				continue
			}
		}
		s, text := t.at(port, input), fmt.Sprint(l.Value)
		switch last := l.Path[len(l.Path)-1].Name; {
		case last == "status":
			s.Tuned = text == "TUNED"
		case last == "peer" && input:
			s.Peer = named(OutputNamed(text))
		case last == "peer":
			s.Peer = named(InputNamed(text))
		case last == "input-optical-power" && input:
			note(comes, port, text)
		case last == "output-optical-power" && !input:
			note(leaves, port, text)
		}
	}
	for port, out := range leaves {
		s := t.at(port, false)
		if in, known := comes[s.Peer]; known && s.Tuned {
			s.Loss, s.Measured = in-out, true
		}
	}
	return t.all()
}

// note keeps a number that a text is.
func note(into map[southbound.Port]float64, p southbound.Port, text string) {
	if dB, err := strconv.ParseFloat(text, 64); err == nil {
		into[p] = dB
	}
}

// named is the port of a name that stands for one.
func named(p southbound.Port, ok bool) southbound.Port {
	if !ok {
		return southbound.NoPort
	}
	return p
}

func (p SONiCOCS) sidePaths() []schema.Path {
	return []schema.Path{p.PortStateTable(), p.ConnectStateTable()}
}

func (p SONiCOCS) sides(state []schema.Leaf) []southbound.Side {
	t := sideTable{}
	for _, l := range state {
		if key, field, ok := cell(p.ConnectStateTable(), l.Path); ok && field == "insertion_loss_dB" {
			_, out, known := CrossConnectNamed(key)
			dB, err := strconv.ParseFloat(fmt.Sprint(l.Value), 64)
			if known && err == nil { // N/A where it was not measured
				s := t.at(out, false)
				s.Loss, s.Measured = dB, true
			}
		}
		id, field, ok := cell(p.PortStateTable(), l.Path)
		if !ok {
			continue
		}
		port, input := ASideNamed(id)
		if !input {
			if port, ok = BSideNamed(id); !ok {
				continue
			}
		}
		s, text := t.at(port, input), fmt.Sprint(l.Value)
		switch {
		case field == p.tables().PortStatus:
			s.Tuned = text == "tuned" || text == "connected"
		case field == "target_simplex_port_id" && input:
			s.Peer = named(BSideNamed(text))
		case field == "target_simplex_port_id":
			s.Peer = named(ASideNamed(text))
		}
	}
	return t.all()
}

func (r *renamed) sidePaths() []schema.Path {
	if p, ok := r.Profile.(sided); ok {
		return r.out.paths(p.sidePaths())
	}
	return nil
}

func (r *renamed) sides(state []schema.Leaf) []southbound.Side {
	if p, ok := r.Profile.(sided); ok {
		return p.sides(r.in.leaves(state))
	}
	return nil
}
