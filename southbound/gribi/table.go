package gribi

import (
	"cmp"
	"fmt"
	"slices"

	aft "github.com/openconfig/gribi/v1/proto/gribi_aft"
	spb "github.com/openconfig/gribi/v1/proto/service"

	"lightloom/southbound"
)

// isGroup reports whether a group is what its id says.
func isGroup(id uint64, g *aft.Afts_NextHopGroup) bool {
	const mask = 1<<portBits - 1
	primary, backup := southbound.Port(id&mask), southbound.Port(id>>portBits&mask)-1
	if id != groupID(primary, backup) || len(g.GetNextHop()) != 1 ||
		g.GetNextHop()[0].GetIndex() != hopID(primary) {
		return false
	}
	if backup == southbound.NoPort {
		return g.GetBackupNextHopGroup() == nil
	}
	return g.GetBackupNextHopGroup().GetValue() == groupID(backup, southbound.NoPort)
}

// place is where an entry stands.
type place struct {
	instance string
	id       uint64
}

// table is what a switch holds of our rules, and what stands in their way.
type table struct {
	rules   map[southbound.Match]southbound.Rule // that packets follow
	stands  map[southbound.Match]bool            // those, and routes that the switch does not forward by
	hops    map[place]bool                       // of ours: whether they are what their ids say
	groups  map[place]bool
	foreign map[southbound.Match]bool // routes of others, where ours would stand
}

// reading decodes entries.
type reading struct {
	n      *Names
	tags   map[string]southbound.Tag
	racks  map[string]southbound.RackID
	ports  map[string]southbound.Port
	hops   map[place]southbound.Port
	groups map[place]*aft.Afts_NextHopGroup
	routes []*spb.AFTEntry
	out    table
}

// read returns what entries are of our rules. A route of ours that leads to no port of ours is an
// error: writing would not mend what is not understood.
func (n *Names) read(entries []*spb.AFTEntry) (*table, error) {
	r := reading{n: n, tags: n.Instances(), racks: n.racks(), ports: n.ports(),
		hops:   map[place]southbound.Port{},
		groups: map[place]*aft.Afts_NextHopGroup{}, out: table{rules: map[southbound.Match]southbound.Rule{},
			stands: map[southbound.Match]bool{}, hops: map[place]bool{}, groups: map[place]bool{},
			foreign: map[southbound.Match]bool{}}}
	for _, e := range entries {
		r.take(e)
	}
	for _, e := range r.routes {
		if err := r.route(e); err != nil {
			return nil, fmt.Errorf("read route %s in %q: %w", e.GetIpv4().GetPrefix(), e.GetNetworkInstance(), err)
		}
	}
	return &r.out, nil
}

// take sorts an entry to its kind.
func (r *reading) take(e *spb.AFTEntry) {
	switch x := e.GetEntry().(type) {
	case *spb.AFTEntry_NextHop:
		at := place{e.GetNetworkInstance(), x.NextHop.GetIndex()}
		if p, ok := r.ports[x.NextHop.GetNextHop().GetIpAddress().GetValue()]; ok {
			r.hops[at] = p
			r.out.hops[at] = at.id == hopID(p) // else it is of before a cable was moved
		}
	case *spb.AFTEntry_NextHopGroup:
		at := place{e.GetNetworkInstance(), x.NextHopGroup.GetId()}
		r.groups[at] = x.NextHopGroup.GetNextHopGroup()
		r.out.groups[at] = isGroup(at.id, r.groups[at])
	case *spb.AFTEntry_Ipv4:
		r.routes = append(r.routes, e)
	}
}

// route adds what a route is: a rule of ours, or a foreign one in its place.
func (r *reading) route(entry *spb.AFTEntry) error {
	instance, e := entry.GetNetworkInstance(), entry.GetIpv4()
	tag, known := r.tags[instance]
	rack, ok := r.racks[e.GetPrefix()]
	if !known || !ok {
		return nil // nothing that we write
	}
	m := southbound.Match{Dst: rack, Tag: tag, Src: southbound.AnyRack}
	at := place{cmp.Or(e.GetIpv4Entry().GetNextHopGroupNetworkInstance().GetValue(), instance),
		e.GetIpv4Entry().GetNextHopGroup().GetValue()}
	if !ours(at.id) {
		r.out.foreign[m] = true
		return nil
	}
	if r.out.stands[m] = true; entry.GetFibStatus() == spb.AFTEntry_NOT_PROGRAMMED {
		return nil
	}
	rule := southbound.Rule{Match: m, Backup: southbound.NoPort}
	var err error
	if rule.Primary, err = r.port(at); err != nil {
		return err
	}
	if b := r.groups[at].GetBackupNextHopGroup(); b != nil {
		if rule.Backup, err = r.port(place{at.instance, b.GetValue()}); err != nil {
			return err
		}
	}
	r.out.rules[m] = rule
	return nil
}

// port returns the port of a group's one next hop.
func (r *reading) port(at place) (southbound.Port, error) {
	hops := r.groups[at].GetNextHop()
	if len(hops) != 1 {
		return 0, fmt.Errorf("group %#x has %d next hops, and not one", at.id, len(hops))
	}
	p, ok := r.hops[place{at.instance, hops[0].GetIndex()}]
	if !ok {
		return 0, fmt.Errorf("next hop %#x leads to no port of ours", hops[0].GetIndex())
	}
	return p, nil
}

// sorted returns the rules by match.
func (t *table) sorted() []southbound.Rule {
	out := make([]southbound.Rule, 0, len(t.rules))
	for _, r := range t.rules {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b southbound.Rule) int { return byMatch(a.Match, b.Match) })
	return out
}

func byMatch(a, b southbound.Match) int {
	return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Src, b.Src))
}
