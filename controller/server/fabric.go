package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// fabricChange returns what has been changed of the fabric.
func (p *replicaProcess) fabricChange() (c controller.FabricChange) {
	p.node.View(func(uint64) { c = p.state.Change() })
	return c
}

// ChangeFabric implements api.Changer.
func (p *replicaProcess) ChangeFabric(ctx context.Context, r *apiv1.ApplyFabricRequest) (uint64, []string, error) {
	l := p.current.Leader()
	if l == nil {
		return 0, nil, fmt.Errorf("%w: %w", api.ErrNotLeader, leader.ErrVacant)
	}
	invalid := func(err error) (uint64, []string, error) {
		return 0, nil, &api.Error{Code: api.Invalid, Err: fmt.Errorf("apply: %w", err)}
	}
	now := p.fabricChange()
	if r.Generation != nil && *r.Generation != now.Generation {
		return invalid(fmt.Errorf("the fabric is at generation %d, not %d: read it again", now.Generation, *r.Generation))
	}
	next, err := described(p.fabric, p.charge.Policy, now, r.GetFabric())
	if err != nil {
		return invalid(err)
	}
	changes := differences(p.fabric, p.charge.Policy, &now, &next)
	if len(changes) == 0 {
		return now.Generation, nil, nil
	}
	if err := p.checkPolicy(&now, &next); err != nil {
		return invalid(err)
	}
	if r.DryRun {
		p.node.View(func(uint64) { err = p.state.CheckChange(&next) })
	} else {
		err = l.Change(ctx, next)
	}
	switch {
	case err == nil:
		return next.Generation, changes, nil
	case errors.Is(err, leader.ErrStopped), errors.Is(err, leader.ErrBusy), ctx.Err() != nil:
		return 0, nil, bandwidthError(ctx, err)
	case errors.Is(err, loop.ErrTooOld):
		return 0, nil, &api.Error{Code: api.Missing, Err: err}
	}
	return invalid(err)
}

// described returns what has been changed of a fabric once it is as described.
func described(f *topo.Fabric, founded string, now controller.FabricChange,
	to *apiv1.FabricDescription) (controller.FabricChange, error) {
	next := now
	next.Generation++
	if to.GetSpec() != "" && to.GetSpec() != f.Spec.String() {
		return next, fmt.Errorf("the cluster was founded for %s, not %s: racks, links and new switches are not changed "+
			"while it runs", f.Spec, to.GetSpec())
	}
	if name := to.GetPolicy(); name != "" && name != cmp.Or(now.Policy, founded) {
		next.Previous, next.Policy = now.Policy, name
	}
	if to.GetDrained() == nil {
		return next, nil
	}
	next.Drained = nil
	for _, name := range to.Drained.Names {
		n := slices.IndexFunc(f.Topology.Nodes(), func(n pathmap.Node) bool { return n.Name == name })
		if n < 0 {
			return next, fmt.Errorf("drain %q: no node is called so: lightloom status lists them", name)
		}
		next.Drained = append(next.Drained, pathmap.NodeID(n))
	}
	slices.Sort(next.Drained)
	next.Drained = slices.Compact(next.Drained)
	return next, nil
}

// differences tells in words what a change changes.
func differences(f *topo.Fabric, founded string, now, next *controller.FabricChange) (out []string) {
	if a, b := cmp.Or(now.Policy, founded), cmp.Or(next.Policy, founded); a != b {
		out = append(out, fmt.Sprintf("policy: %s → %s", a, b))
	}
	for _, n := range next.Drained {
		if !slices.Contains(now.Drained, n) {
			out = append(out, "drain "+f.Topology.Node(n).Name)
		}
	}
	for _, n := range now.Drained {
		if !slices.Contains(next.Drained, n) {
			out = append(out, "back in service: "+f.Topology.Node(n).Name)
		}
	}
	return out
}

// checkPolicy returns why a policy cannot take over from the one that decides, or nil.
func (p *replicaProcess) checkPolicy(now, next *controller.FabricChange) error {
	if next.Policy == now.Policy {
		return nil
	}
	if slices.Contains(next.Barred, next.Policy) {
		return fmt.Errorf("policy %s is barred: it has failed here", next.Policy)
	}
	to, err := policy.New(next.Policy, policy.Options{})
	if err != nil {
		return err
	}
	can := to.Capabilities()
	if err := policy.Close(to); err != nil {
		return err
	}
	from, err := policy.New(cmp.Or(now.Policy, p.charge.Policy), policy.Options{})
	if err != nil {
		return err
	}
	was := from.Capabilities()
	var why []string
	if can.Simulated {
		why = append(why, "its rules run on the simulator only")
	}
	if can.Relays || was.Relays {
		why = append(why, "racks begin or end to relay for each other at a controller's start only")
	}
	if can.Circuits && !p.fabric.HasOCS() {
		why = append(why, "it sets up circuits, and the fabric has no optical switch")
	}
	if len(why) > 0 {
		return fmt.Errorf("policy %s: %s", next.Policy, strings.Join(why, "; "))
	}
	return policy.Close(from)
}
