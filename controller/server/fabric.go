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
	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
	"lightloom/pathmap/topo"
	"lightloom/southbound/inventory"
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
	of := p.founded()
	next, err := of.described(now, r.GetFabric())
	if err != nil {
		return invalid(err)
	}
	changes, err := of.differences(&now, &next)
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

// founded is what a cluster was started with.
type founded struct {
	fabric  *topo.Fabric
	policy  string
	devices inventory.Devices
	fixed   bool // nobody can move its cables
}

func (p *replicaProcess) founded() *founded {
	return &founded{p.state.Founded(), p.charge.Policy, p.charge.Devices, p.charge.FixedCables}
}

// with returns the records of all switches after a change; with an error those that the cluster was founded with.
func (o *founded) with(c *controller.FabricChange) (inventory.Devices, error) {
	var records []inventory.Device
	for _, r := range c.Devices {
		d, err := inventory.ParseRecord(r.Record)
		if err != nil {
			return o.devices, err
		}
		records = append(records, d)
	}
	f, err := cabling.Apply(o.fabric, c.Cabling)
	if err != nil {
		return o.devices, err
	}
	all, err := o.devices.Replace(f, records...)
	if err != nil {
		return o.devices, err
	}
	return all, nil
}

// described returns what has been changed of a fabric once it is as described.
func (o *founded) described(now controller.FabricChange, to *apiv1.FabricDescription) (controller.FabricChange, error) {
	next, f := now, o.fabric
	next.Generation++
	if to.GetSpec() != "" && to.GetSpec() != f.Spec.String() {
		return next, fmt.Errorf("the cluster was founded for %s, not %s: racks and new switches are not added while it "+
			"runs; links are moved under links", f.Spec, to.GetSpec())
	}
	if name := to.GetPolicy(); name != "" && name != cmp.Or(now.Policy, o.policy) {
		next.Previous, next.Policy = now.Policy, name
	}
	for _, list := range []struct {
		what  string
		names *apiv1.NodeNames
		to    *[]pathmap.NodeID
	}{{"drain", to.GetDrained(), &next.Drained}, {"remove", to.GetRemoved(), &next.Removed}} {
		if list.names == nil {
			continue
		}
		*list.to = nil
		for _, name := range list.names.Names {
			n, known := f.Topology.Named(name)
			if !known {
				return next, fmt.Errorf("%s %q: no node is called so: lightloom status lists them", list.what, name)
			}
			*list.to = append(*list.to, n)
		}
		slices.Sort(*list.to)
		*list.to = slices.Compact(*list.to)
	}
	if err := o.recable(&next, to.GetLinks()); err != nil {
		return next, err
	}
	return next, o.replace(&next, to.GetDevices())
}

// recable puts cables in the place of those at the same ports, where they differ.
func (o *founded) recable(next *controller.FabricChange, links []*apiv1.Cable) (err error) {
	if len(links) > 0 && o.fixed {
		return errors.New("links: the cables of an emulated fabric cannot be moved: start it with another --fabric")
	}
	var all []cabling.Plug
	for _, l := range links {
		all = append(all, cabling.Plug{From: l.GetFrom(), To: l.GetTo(), Rate: pathmap.BitsPerSecond(l.GetBitsPerSecond())})
	}
	if next.Cabling, err = cabling.Next(o.fabric, next.Cabling, all); err != nil {
		return fmt.Errorf("links: %w", err)
	}
	return nil
}

// replace puts records in the place of those of the same switches, where they differ.
func (o *founded) replace(next *controller.FabricChange, records []string) error {
	was, err := o.with(next)
	if err != nil {
		return err
	}
	before := next.Devices
	next.Devices = slices.Clone(before)
	for _, text := range records {
		d, err := inventory.ParseRecord(text)
		if err != nil {
			return err
		}
		n, known := o.fabric.Topology.Named(d.Name)
		if !known {
			return fmt.Errorf("replace %q: no switch is called so: lightloom status lists them", d.Name)
		}
		next.Devices = slices.DeleteFunc(next.Devices, func(r controller.DeviceRecord) bool { return r.Node == n })
		next.Devices = append(next.Devices, controller.DeviceRecord{Node: n, Record: text})
	}
	is, err := o.with(next)
	if err != nil {
		return fmt.Errorf("replace devices: %w", err)
	}
	same := func(r controller.DeviceRecord) bool {
		name := o.fabric.Topology.Node(r.Node).Name
		return !slices.Contains(before, r) && len(one(is, name).Differences(one(was, name))) == 0
	}
	for i, r := range next.Devices {
		j := slices.IndexFunc(before, func(x controller.DeviceRecord) bool { return x.Node == r.Node })
		if j >= 0 && same(r) {
			next.Devices[i] = before[j]
		}
	}
	next.Devices = slices.DeleteFunc(next.Devices, same)
	slices.SortFunc(next.Devices, func(a, b controller.DeviceRecord) int { return cmp.Compare(a.Node, b.Node) })
	return nil
}

// one returns the record of a switch; an empty one where there is none.
func one(all inventory.Devices, name string) *inventory.Device {
	d, err := all.Find(name)
	if err != nil {
		return &inventory.Device{Name: name}
	}
	return d
}

// differences tells in words what a change changes.
func (o *founded) differences(now, next *controller.FabricChange) (out []string, err error) {
	if a, b := cmp.Or(now.Policy, o.policy), cmp.Or(next.Policy, o.policy); a != b {
		out = append(out, fmt.Sprintf("policy: %s → %s", a, b))
	}
	for _, list := range []struct {
		what    string
		is, was []pathmap.NodeID
	}{{"drain ", next.Drained, now.Drained}, {"back in service: ", now.Drained, next.Drained},
		{"remove ", next.Removed, now.Removed}, {"add ", now.Removed, next.Removed}} {
		for _, n := range list.is {
			if !slices.Contains(list.was, n) {
				out = append(out, list.what+o.fabric.Topology.Node(n).Name)
			}
		}
	}
	cables, err := cabling.Differences(o.fabric, now.Cabling, next.Cabling)
	if err != nil {
		return nil, err
	}
	out = append(out, cables...)
	is, err := o.with(next)
	if err != nil {
		return nil, err
	}
	was, _ := o.with(now) // what does not fit any more is replaced, or an error of next, too
	for _, n := range next.Replaced(now) {
		name := o.fabric.Topology.Node(n).Name
		out = append(out, fmt.Sprintf("replace %s: %s", name, strings.Join(one(is, name).Differences(one(was, name)), ", ")))
	}
	return out, nil
}

// lookAt returns why a switch that is to replace another, to come back or to get a cable cannot, or nil.
func (p *replicaProcess) lookAt(ctx context.Context, now, next *controller.FabricChange) error {
	all, err := p.founded().with(next)
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
		if slices.Contains(next.Removed, n) {
			continue
		}
		g.Go(func() error { return look(ctx, f, all, n, p.keys) })
	}
	return g.Wait()
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
	if can.Circuits && !p.fabric().HasOCS() {
		why = append(why, "it sets up circuits, and the fabric has no optical switch")
	}
	if len(why) > 0 {
		return fmt.Errorf("policy %s: %s", next.Policy, strings.Join(why, "; "))
	}
	return policy.Close(from)
}
