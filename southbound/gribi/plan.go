package gribi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	aft "github.com/openconfig/gribi/v1/proto/gribi_aft"
	spb "github.com/openconfig/gribi/v1/proto/service"
	wpb "github.com/openconfig/ygot/proto/ywrapper"

	"lightloom/southbound"
)

// plan is the operations of a change, in their order: what routes need, then routes, then what no route
// needs.
type plan struct {
	n     *Names
	ops   []*spb.AFTOperation
	after table
}

// plan returns the operations that a change takes on a switch that holds t.
func (n *Names) plan(t *table, c *southbound.Change) (*plan, error) {
	if err := n.check(t, c); err != nil {
		return nil, err
	}
	p := &plan{n: n, after: table{rules: maps.Clone(t.rules), stands: maps.Clone(t.stands),
		hops: maps.Clone(t.hops), groups: maps.Clone(t.groups),
		foreign: t.foreign}}
	rules := slices.Clone(c.Rules)
	slices.SortFunc(rules, func(a, b southbound.Rule) int { return byMatch(a.Match, b.Match) })
	named := map[southbound.Match]bool{}
	for _, r := range rules {
		if n.NoBackups {
			r.Backup = southbound.NoPort
		}
		named[r.Match] = true
		p.add(r)
	}
	drop := c.Drop
	if c.Replace {
		drop = slices.Collect(maps.Keys(t.stands))
	}
	drop = slices.Clone(drop)
	slices.SortFunc(drop, byMatch)
	for _, m := range slices.Compact(drop) {
		if t.stands[m] && !named[m] {
			p.remove(m)
		}
	}
	if c.Replace {
		p.tidy()
	}
	return p, nil
}

// check finds what the switch would take in another meaning, or does not tell of.
func (n *Names) check(t *table, c *southbound.Change) error {
	if len(c.Connect) > 0 {
		return refused("plan change: a packet switch takes no cross-connects")
	}
	port := func(x southbound.Port) bool { return x >= 0 && int32(x) < n.Ports }
	seen := make(map[southbound.Match]bool, len(c.Rules))
	for _, r := range c.Rules {
		if err := n.checkMatch(r.Match); err != nil {
			return fmt.Errorf("plan rule %+v: %w", r.Match, err)
		}
		switch {
		case !port(r.Primary) || r.Backup != southbound.NoPort && !port(r.Backup) || r.Primary == r.Backup:
			return refused("plan rule %+v: ports %d and %d: ports are 0 to %d, and no port is its own backup", r.Match,
				r.Primary, r.Backup, n.Ports-1)
		case n.NoBackups && !n.ControllerBackup && r.Backup != southbound.NoPort:
			return fmt.Errorf("plan rule %+v: the switch knows no backup groups; set controller-backup to let the "+
				"controller fall back: %w: %w", r.Match, southbound.ErrUnsupported, southbound.ErrRefused)
		case seen[r.Match]:
			return refused("plan rule %+v: it is given twice", r.Match)
		case t.foreign[r.Match]:
			instance, _ := n.instance(r.Match)
			return refused("plan rule %+v: network instance %q has a route to %v that is not ours: whoever made it must take "+
				"it away", r.Match, instance, n.Prefix(r.Dst))
		}
		seen[r.Match] = true
	}
	for _, m := range c.Drop {
		if err := n.checkMatch(m); err != nil {
			return fmt.Errorf("plan drop %+v: %w", m, err)
		}
	}
	return nil
}

func (n *Names) checkMatch(m southbound.Match) error {
	rack := func(r southbound.RackID) bool { return r >= 0 && int32(r) < n.Racks }
	switch _, ok := n.instance(m); {
	case !rack(m.Dst) || m.Src != southbound.AnyRack && !rack(m.Src):
		return refused("racks are 0 to %d", n.Racks-1)
	case !m.Tag.OnWire() && m.Tag != southbound.AnyTag:
		return refused("tags are 0 to %d", southbound.Tags-1)
	case m.Src != southbound.AnyRack:
		return fmt.Errorf("routes know no source: a fabric whose rules name one takes a switch without gRIBI: %w: %w",
			southbound.ErrUnsupported, southbound.ErrRefused)
	case !ok:
		return fmt.Errorf("the switch has no network instances of tags: %w: %w", southbound.ErrUnsupported,
			southbound.ErrRefused)
	}
	return nil
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), southbound.ErrRefused)
}

func (p *plan) do(op spb.AFTOperation_Operation, instance string, e *spb.AFTOperation) {
	e.Op, e.NetworkInstance, e.Id = op, instance, uint64(len(p.ops)+1)
	p.ops = append(p.ops, e)
}

// add makes a rule's route, which takes the place of the one that stands, and before it what the route
// needs.
func (p *plan) add(r southbound.Rule) {
	instance, _ := p.n.instance(r.Match)
	at := p.n.groupsIn(instance)
	p.group(at, r.Primary, r.Backup)
	entry := &aft.Afts_Ipv4Entry{NextHopGroup: &wpb.UintValue{Value: groupID(r.Primary, r.Backup)}}
	if at != instance {
		entry.NextHopGroupNetworkInstance = &wpb.StringValue{Value: at}
	}
	p.do(spb.AFTOperation_ADD, instance, &spb.AFTOperation{Entry: &spb.AFTOperation_Ipv4{
		Ipv4: &aft.Afts_Ipv4EntryKey{Prefix: p.n.Prefix(r.Dst).String(), Ipv4Entry: entry}}})
	p.after.rules[r.Match], p.after.stands[r.Match] = r, true
}

func (p *plan) remove(m southbound.Match) {
	instance, _ := p.n.instance(m)
	p.do(spb.AFTOperation_DELETE, instance, &spb.AFTOperation{Entry: &spb.AFTOperation_Ipv4{
		Ipv4: &aft.Afts_Ipv4EntryKey{Prefix: p.n.Prefix(m.Dst).String(), Ipv4Entry: &aft.Afts_Ipv4Entry{}}}})
	delete(p.after.rules, m)
	delete(p.after.stands, m)
}

// group makes a group and what it needs, unless it stands.
func (p *plan) group(instance string, primary, backup southbound.Port) {
	at := place{instance, groupID(primary, backup)}
	if backup != southbound.NoPort {
		p.group(instance, backup, southbound.NoPort)
	}
	if p.hop(instance, primary); p.after.groups[at] {
		return
	}
	g := &aft.Afts_NextHopGroup{NextHop: []*aft.Afts_NextHopGroup_NextHopKey{{Index: hopID(primary),
		NextHop: &aft.Afts_NextHopGroup_NextHop{Weight: &wpb.UintValue{Value: 1}}}}}
	if backup != southbound.NoPort {
		g.BackupNextHopGroup = &wpb.UintValue{Value: groupID(backup, southbound.NoPort)}
	}
	p.do(spb.AFTOperation_ADD, instance, &spb.AFTOperation{Entry: &spb.AFTOperation_NextHopGroup{
		NextHopGroup: &aft.Afts_NextHopGroupKey{Id: at.id, NextHopGroup: g}}})
	p.after.groups[at] = true
}

func (p *plan) hop(instance string, port southbound.Port) {
	at := place{instance, hopID(port)}
	if p.after.hops[at] {
		return
	}
	h := &aft.Afts_NextHop{IpAddress: &wpb.StringValue{Value: p.n.NextHop(port).String()}}
	if p.n.Interface != nil {
		h.InterfaceRef = &aft.Afts_NextHop_InterfaceRef{Interface: &wpb.StringValue{Value: p.n.Interface(port)}}
	}
	p.do(spb.AFTOperation_ADD, instance, &spb.AFTOperation{Entry: &spb.AFTOperation_NextHop{
		NextHop: &aft.Afts_NextHopKey{Index: at.id, NextHop: h}}})
	p.after.hops[at] = true
}

// tidy takes away groups and next hops of ours that no rule needs: groups with a backup go before their
// backups.
func (p *plan) tidy() {
	needed := map[place]bool{}
	for m, r := range p.after.rules {
		instance, _ := p.n.instance(m)
		at := p.n.groupsIn(instance)
		needed[place{at, groupID(r.Primary, r.Backup)}], needed[place{at, hopID(r.Primary)}] = true, true
		if r.Backup != southbound.NoPort {
			needed[place{at, groupID(r.Backup, southbound.NoPort)}], needed[place{at,
				hopID(r.Backup)}] = true, true
		}
	}
	drop := func(all map[place]bool) []place {
		out := slices.DeleteFunc(slices.Collect(maps.Keys(all)),
			func(x place) bool { return needed[x] || !ours(x.id) })
		slices.SortFunc(out, func(a, b place) int {
			return cmp.Or(cmp.Compare(b.id, a.id), cmp.Compare(a.instance, b.instance))
		})
		for _, x := range out {
			delete(all, x)
		}
		return out
	}
	for _, x := range drop(p.after.groups) {
		p.do(spb.AFTOperation_DELETE, x.instance, &spb.AFTOperation{Entry: &spb.AFTOperation_NextHopGroup{
			NextHopGroup: &aft.Afts_NextHopGroupKey{Id: x.id, NextHopGroup: &aft.Afts_NextHopGroup{}}}})
	}
	for _, x := range drop(p.after.hops) {
		p.do(spb.AFTOperation_DELETE, x.instance, &spb.AFTOperation{Entry: &spb.AFTOperation_NextHop{
			NextHop: &aft.Afts_NextHopKey{Index: x.id, NextHop: &aft.Afts_NextHop{}}}})
	}
}
