package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/server/fabricdiff"
	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
)

// fabricChange returns what has been changed of the fabric.
func (p *replicaProcess) fabricChange() (c controller.FabricChange) {
	p.node.View(func(uint64) { c = p.state.Change() })
	return c
}

// ChangeFabric implements api.Changer.
func (p *replicaProcess) ChangeFabric(ctx context.Context, r *apiv1.ApplyFabricRequest) (uint64,
	[]string, error) {
	l := p.current.Leader()
	if l == nil {
		return 0, nil, fmt.Errorf("%w: %w", api.ErrNotLeader, leader.ErrVacant)
	}
	invalid := func(err error) (uint64, []string, error) {
		return 0, nil, &api.Error{Code: api.Invalid, Err: fmt.Errorf("apply: %w", err)}
	}
	now := p.fabricChange()
	if r.Generation != nil && *r.Generation != now.Generation {
		return invalid(fmt.Errorf("the fabric is at generation %d, not %d: read it again",
			now.Generation, *r.Generation))
	}
	of := p.founded()
	next, err := of.Described(now, r.GetFabric())
	if err != nil {
		return invalid(err)
	}
	changes, err := of.Differences(&now, &next)
	if err != nil {
		return invalid(err)
	}
	if len(changes) == 0 {
		return now.Generation, nil, nil
	}
	if err := p.checkPolicy(&now, &next); err != nil {
		return invalid(err)
	}
	p.node.View(func(uint64) { err = p.state.CheckChange(&next) })
	if err == nil {
		err = p.lookAt(ctx, &now, &next)
	}
	if err == nil && !r.DryRun {
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

func (p *replicaProcess) founded() *fabricdiff.Founded {
	return &fabricdiff.Founded{Fabric: p.state.Founded(), Policy: p.config.Policy, Devices: p.config.Devices,
		Agents: p.config.Agents, Fixed: p.config.FixedCables, Alone: p.config.Agent != ""}
}

// lookAt returns why a switch that is to replace another, to come back or to get a cable cannot, or nil.
func (p *replicaProcess) lookAt(ctx context.Context, now, next *controller.FabricChange) error {
	all, err := p.founded().With(next)
	if err != nil {
		return err
	}
	f, err := cabling.Apply(p.state.Founded(), next.Cabling)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	come := append(next.Replaced(now), now.Removed...)
	for _, c := range next.Cabling.Plugged[len(now.Cabling.Plugged):] {
		come = append(come, c.From, c.To)
	}
	slices.Sort(come)
	for _, n := range slices.Compact(come) {
		if slices.Contains(next.Removed, n) || f.Topology.Node(n).Role == pathmap.Host {
			continue
		}
		g.Go(func() error { return checkSwitch(ctx, f, all, n, p.keys) })
	}
	return g.Wait()
}

// noQueues is why priorities do nothing on a large emulated fabric that came up for a policy without them.
const noQueues = "it gives priorities 1 to 6, for which ports of this fabric have no queues: come up with it"

// checkPolicy returns why a policy cannot take over from the one that decides, or nil.
func (p *replicaProcess) checkPolicy(now, next *controller.FabricChange) error {
	if next.Policy == now.Policy {
		return nil
	}
	if slices.Contains(next.Barred, next.Policy) {
		return fmt.Errorf("policy %s is barred: it has failed here", next.Policy)
	}
	to, err := policy.Parse(next.Policy, policy.Overrides{})
	if err != nil {
		return err
	}
	from, err := policy.Parse(cmp.Or(now.Policy, p.config.Policy), policy.Overrides{})
	if err != nil {
		return err
	}
	can, was := to.Capabilities(), from.Capabilities()
	var why []string
	if can.Simulated {
		why = append(why, "its rules run on the simulator only")
	}
	if can.Relays || was.Relays {
		why = append(why, "racks begin or end to relay for each other at a controller's start only")
	}
	if can.Multihop && !was.Multihop {
		why = append(why, "paths over several circuits begin at a controller's start only")
	}
	if can.Priorities && p.config.FewQueues {
		why = append(why, noQueues)
	}
	if can.Circuits && !p.fabric().HasOCS() {
		why = append(why, "it sets up circuits, and the fabric has no optical switch")
	}
	if len(why) > 0 {
		return fmt.Errorf("policy %s: %s", next.Policy, strings.Join(why, "; "))
	}
	return nil
}
