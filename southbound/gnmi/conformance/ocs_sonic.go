package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gnmi/schema"
)

// sonicOCSRules are the goals of the test plan of SONiC's optical switches (sonic-mgmt, docs/testbed/
// README.testbed.OCS.HLD.md, v0.2 of 2026-04), numbered in its order, as far as gNMI can try them.
func sonicOCSRules() []rule {
	return []rule{
		{"S1", "single and batch configuration succeed", true, inSONiC(sonicBatch)},
		{"S2", "configuration and state database agree", true, inSONiC(sonicAgrees)},
		{"S3", "what enters a port leaves the right one, by state and by packets", true, inSONiC(sonicPorts)},
		{"S4", "services run after a restart", true, inSONiC(sonicServices)},
		{"S5", "what was saved is back after a restart", true, inSONiC(sonicSaved)},
		{"S6", "what was not saved is absent after a restart", true, inSONiC(sonicUnsaved)},
		{"S7", "traffic is back as restored", true, inSONiC(sonicTraffic)},
		{"S8", "a factory reset clears all cross-connects", true, inSONiC(sonicReset)},
		{"S9", "an upgrade and a downgrade end well", true, inSONiC(sonicImage)},
		{"S10", "services run after an upgrade", true, inSONiC(sonicImageServices)},
		{"S11", "state agrees after an upgrade", true, inSONiC(sonicImageState)},
		{"S12", "traffic stays or comes back after an upgrade", true, inSONiC(sonicImageTraffic)},
		{"S13", "bad parameters are refused, and so is, or silent, the deletion of what is not there", true,
			inSONiC(sonicBad)},
		{"S14", "conflicting cross-connects are refused", true, inSONiC(sonicConflict)},
	}
}

// inSONiC is a rule of SONiC's optical switches alone.
func inSONiC(run func(context.Context, *bench, gnmi.SONiCOCS) error) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		p, ok := b.profile.(gnmi.SONiCOCS)
		if !ok {
			return fmt.Errorf("%w: the profile is of another model", errSkip)
		}
		return run(ctx, b, p)
	}
}

// lit waits until circuits are connected.
func (b *bench) lit(ctx context.Context, xs ...southbound.CrossConnect) error {
	return b.until(ctx, "light", func(s southbound.Seen) bool {
		return !slices.ContainsFunc(xs, func(x southbound.CrossConnect) bool {
			return !slices.Contains(s.Connections, southbound.Connection{In: x.In, Out: x.Out, Status: southbound.Connected})
		})
	})
}

func sonicBatch(ctx context.Context, b *bench, _ gnmi.SONiCOCS) error {
	return b.withCircuits(ctx, 3, func(_ *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return fmt.Errorf("single: %w", err)
		}
		if err := b.lit(ctx, xs[0]); err != nil {
			return fmt.Errorf("single: %w", err)
		}
		if err := b.connect(ctx, xs[1], xs[2]); err != nil {
			return fmt.Errorf("batch: %w", err)
		}
		if err := b.lit(ctx, xs...); err != nil {
			return fmt.Errorf("batch: %w", err)
		}
		return nil
	})
}

// rowKeys returns the keys of a table's rows.
func (b *bench) rowKeys(ctx context.Context, table schema.Path) (map[string]bool, error) {
	leaves, err := probe.Get(ctx, b.c, b.model, []schema.Path{table})
	out := map[string]bool{}
	for _, l := range leaves {
		out[l.Path[len(table)-1].Key("key")] = true
	}
	return out, err
}

func sonicAgrees(ctx context.Context, b *bench, p gnmi.SONiCOCS) error {
	return b.withCircuits(ctx, 1, func(_ *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if err := b.lit(ctx, xs[0]); err != nil {
			return err
		}
		return b.agrees(ctx, p)
	})
}

// agrees checks that the same rows are configured and in the state.
func (b *bench) agrees(ctx context.Context, p gnmi.SONiCOCS) error {
	config, err := b.rowKeys(ctx, p.ConnectTable())
	state, serr := b.rowKeys(ctx, p.ConnectStateTable())
	if err := errors.Join(err, serr); err != nil {
		return err
	}
	for key := range config {
		if !state[key] {
			return fmt.Errorf("cross-connect %q is configured, and not in the state", key)
		}
	}
	for key := range state {
		if !config[key] {
			return fmt.Errorf("cross-connect %q is in the state, and not configured", key)
		}
	}
	return nil
}

func sonicPorts(ctx context.Context, b *bench, p gnmi.SONiCOCS) error {
	err := b.withCircuits(ctx, 1, func(_ *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if err := b.lit(ctx, xs[0]); err != nil {
			return err
		}
		leaves, err := probe.Get(ctx, b.c, b.model, []schema.Path{p.PortStateTable()})
		if err != nil {
			return err
		}
		want := map[string]string{gnmi.ASide(xs[0].In): gnmi.BSide(xs[0].Out), gnmi.BSide(xs[0].Out): gnmi.ASide(xs[0].In)}
		got := map[string]string{}
		for _, l := range leaves {
			if l.Path[len(l.Path)-1].Name == "target_simplex_port_id" {
				got[l.Path[len(l.Path)-2].Key("key")] = fmt.Sprint(l.Value)
			}
		}
		for id, peer := range want {
			if got[id] != peer {
				return fmt.Errorf("state: port %s leads to %q, want %s", id, got[id], peer)
			}
		}
		return nil
	})
	if err != nil || b.lab.Probes == nil {
		return err
	}
	return lightThrough(ctx, b)
}

// sonicRow sends one row of cross-connects.
func (b *bench) sonicRow(ctx context.Context, p gnmi.SONiCOCS, key, a, z string) error {
	table := p.ConnectTable()
	at := table[:len(table)-1].Entry(table[len(table)-1].Name, "key", key)
	v, err := b.model.Nest(at, []schema.Leaf{{Path: at.With("a_side"), Value: a}, {Path: at.With("b_side"), Value: z}})
	if err != nil {
		return err
	}
	tv, err := schema.JSON(v, gpb.Encoding_JSON_IETF)
	if err != nil {
		return err
	}
	_, err = b.c.Set(ctx, &gpb.SetRequest{Update: []*gpb.Update{{Path: b.model.Proto(at), Val: tv}}})
	return err
}

// refusedRow wants a row to be refused, and takes it away where it was not.
func (b *bench) refusedRow(ctx context.Context, p gnmi.SONiCOCS, key string) error {
	a, z, _ := strings.Cut(key, "-")
	if b.sonicRow(ctx, p, key, a, z) != nil {
		return nil
	}
	table := p.ConnectTable()
	at := table[:len(table)-1].Entry(table[len(table)-1].Name, "key", key)
	_, err := b.c.Set(ctx, &gpb.SetRequest{Delete: []*gpb.Path{b.model.Proto(at)}})
	return errors.Join(fmt.Errorf("cross-connect %q was taken", key), err)
}

func sonicBad(ctx context.Context, b *bench, p gnmi.SONiCOCS) error {
	if _, err := b.freePair(ctx); err != nil { // what is beyond our ports may be others'
		return err
	}
	for _, key := range []string{"0A-1B", "1B-1A", "nothing-1B"} {
		if err := b.refusedRow(ctx, p, key); err != nil {
			return err
		}
	}
	return nil
}

func sonicConflict(ctx context.Context, b *bench, p gnmi.SONiCOCS) error {
	return b.withCircuits(ctx, 2, func(_ *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if err := b.lit(ctx, xs[0]); err != nil {
			return err
		}
		return errors.Join(b.refusedRow(ctx, p, gnmi.CrossConnectID(xs[0].In, xs[1].Out)),
			b.refusedRow(ctx, p, gnmi.CrossConnectID(xs[1].In, xs[0].Out)))
	})
}
