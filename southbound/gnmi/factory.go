package gnmi

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// factoryMeasured is an optional interface of a Profile whose devices keep what was measured when they were made.
type factoryMeasured interface {
	factoryPaths() []schema.Path
	factoryLosses(state []schema.Leaf) map[southbound.CrossConnect]southbound.Loss
}

var (
	_ factoryMeasured = SONiCOCS{}
	_ factoryMeasured = (*renamed)(nil)
)

// FactoryLosses implements southbound.FactoryMeasured.
func (s *Session) FactoryLosses(ctx context.Context) (map[southbound.CrossConnect]southbound.Loss, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	fail := func(err error) error { return fmt.Errorf("read factory losses of device %q: %w", s.cfg.Name, err) }
	p, ok := s.cfg.Profile.(factoryMeasured)
	if !ok || len(p.factoryPaths()) == 0 {
		return nil, fail(southbound.ErrUnsupported)
	}
	leaves, err := s.get(ctx, p.factoryPaths(), gpb.GetRequest_STATE)
	if err != nil {
		return nil, fail(explain(err))
	}
	out := p.factoryLosses(leaves)
	if len(out) == 0 {
		return nil, fail(southbound.ErrUnsupported)
	}
	return out, nil
}

func (p SONiCOCS) factoryPaths() []schema.Path { return []schema.Path{p.FactoryTable()} }

// factoryLosses implements factoryMeasured. A circuit that was measured at several frequencies and temperatures has the
// largest of its losses: which of them light has today is not known.
func (p SONiCOCS) factoryLosses(state []schema.Leaf) map[southbound.CrossConnect]southbound.Loss {
	rows := map[string]southbound.Loss{}
	measured := map[string]bool{}
	for _, l := range state {
		key, field, ok := cell(p.FactoryTable(), l.Path)
		dB, err := strconv.ParseFloat(fmt.Sprint(l.Value), 64)
		if !ok || err != nil || !(dB >= 0) {
			continue
		}
		r := rows[key]
		switch field {
		case "loss_dB":
			r.DB, measured[key] = dB, true
		case "accuracy_dB":
			r.Accuracy = dB
		}
		rows[key] = r
	}
	out := map[southbound.CrossConnect]southbound.Loss{}
	for _, key := range sortedKeys(measured) {
		id, _, _ := strings.Cut(key, "|")
		in, to, ok := CrossConnectNamed(id)
		x := southbound.CrossConnect{In: in, Out: to}
		if old, twice := out[x]; ok && (!twice || old.DB < rows[key].DB) {
			out[x] = rows[key]
		}
	}
	return out
}

func (r *renamed) factoryPaths() []schema.Path {
	if p, ok := r.Profile.(factoryMeasured); ok {
		return r.out.paths(p.factoryPaths())
	}
	return nil
}

func (r *renamed) factoryLosses(state []schema.Leaf) map[southbound.CrossConnect]southbound.Loss {
	if p, ok := r.Profile.(factoryMeasured); ok {
		return p.factoryLosses(r.in.leaves(state))
	}
	return nil
}
