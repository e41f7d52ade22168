// Package rib is what clients of gRIBI have programmed into an emulated packet switch, and the rules
// that it becomes. It has no lock and speaks to nobody.
package rib

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	aft "github.com/openconfig/gribi/v1/proto/gribi_aft"
	spb "github.com/openconfig/gribi/v1/proto/service"
	"google.golang.org/protobuf/proto"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gribi"
)

// RIB is what clients of gRIBI have programmed into a packet switch: tables of network instances, and
// the rules that they are. It outlives the targets of its switch, as the switch does. The targets use
// it under their lock.
type RIB struct {
	names     gribi.Names
	tags      map[string]southbound.Tag // by network instance
	racks     map[string]southbound.RackID
	ports     map[string]southbound.Port
	instances map[string]*tables

	wanted map[southbound.Match]southbound.Rule // what the tables are
	held   map[southbound.Match]southbound.Rule // what the switch has accepted of them
	dark   map[southbound.Match]bool            // accepted, and not in effect
	undo   []func()
}

// accepting is the switch, as far as the tables are concerned.
type accepting interface{ Accepted() *southbound.Change }

// tables are those of a network instance.
type tables struct {
	hops   map[uint64]*aft.Afts_NextHopKey
	groups map[uint64]*aft.Afts_NextHopGroupKey
	routes map[string]*aft.Afts_Ipv4EntryKey
}

func newTables() *tables {
	return &tables{map[uint64]*aft.Afts_NextHopKey{}, map[uint64]*aft.Afts_NextHopGroupKey{},
		map[string]*aft.Afts_Ipv4EntryKey{}}
}

// New returns the empty tables of a switch that calls things so.
func New(n gribi.Names) *RIB {
	r := &RIB{names: n, tags: n.Instances(), racks: map[string]southbound.RackID{},
		ports: map[string]southbound.Port{}}
	for k := range southbound.RackID(n.Racks) {
		r.racks[n.Prefix(k).String()] = k
	}
	for p := range southbound.Port(n.Ports) {
		r.ports[n.NextHop(p).String()] = p
	}
	r.clear()
	return r
}

func (r *RIB) clear() {
	r.instances = map[string]*tables{}
	for name := range r.tags {
		r.instances[name] = newTables()
	}
	r.wanted, r.held = map[southbound.Match]southbound.Rule{}, map[southbound.Match]southbound.Rule{}
	r.dark = map[southbound.Match]bool{}
}

// Owns reports whether a rule of the switch is one of these tables'.
func (r *RIB) Owns(m southbound.Match) bool {
	return stood(r.wanted, m) || stood(r.held, m)
}

// Booted forgets what the switch has forgotten.
func (r *RIB) Booted(dev accepting) {
	accepted := map[southbound.Match]southbound.Rule{}
	for _, x := range dev.Accepted().Rules {
		accepted[x.Match] = x
	}
	maps.DeleteFunc(r.held, func(m southbound.Match, x southbound.Rule) bool { return accepted[m] != x })
	clear(r.dark)
	if len(r.held) == 0 {
		r.clear()
	}
}

// Hide takes the rules of the RIB out of what has become effective, and notes them.
func (r *RIB) Hide(a device.Applied) device.Applied {
	mine := func(m southbound.Match) bool {
		own := r.Owns(m) || r.dark[m]
		delete(r.dark, m)
		return own
	}
	a.Set = slices.DeleteFunc(slices.Clone(a.Set), func(x southbound.Rule) bool {
		if r.wanted[x.Match] == x && stood(r.wanted, x.Match) {
			r.held[x.Match] = x // also where it comes after it was given up
		}
		return mine(x.Match)
	})
	a.Drop = slices.DeleteFunc(slices.Clone(a.Drop), mine)
	return a
}

// Keep has a change of the configuration leave the rules of the RIB alone.
func (r *RIB) Keep(c *southbound.Change) (*southbound.Change, error) {
	for _, x := range c.Rules {
		if r.Owns(x.Match) {
			return nil, refused("rule %+v: a gRIBI client has programmed it", x.Match)
		}
	}
	if !c.Replace || len(r.held) == 0 {
		return c, nil
	}
	out := *c
	out.Rules = append(slices.Clone(c.Rules), sortedRules(r.held)...)
	return &out, nil
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), southbound.ErrRefused)
}

// Instances are the names of the network instances, in order.
func (r *RIB) Instances() []string { return slices.Sorted(maps.Keys(r.instances)) }

// Held are the rules that the switch has accepted.
func (r *RIB) Held() map[southbound.Match]southbound.Rule { return r.held }

// Dark reports whether the switch has accepted a change of a rule that is not in effect.
func (r *RIB) Dark(m southbound.Match) bool { return r.dark[m] }

// Match is what the route to a prefix in an instance matches.
func (r *RIB) Match(instance, prefix string) southbound.Match {
	return southbound.Match{Dst: r.racks[prefix], Tag: r.tags[instance], Src: southbound.AnyRack}
}

func byMatch(a, b southbound.Match) int {
	return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Src, b.Src), cmp.Compare(a.Tag, b.Tag))
}

func sortedRules(all map[southbound.Match]southbound.Rule) []southbound.Rule {
	return slices.SortedFunc(maps.Values(all),
		func(a, b southbound.Rule) int { return byMatch(a.Match, b.Match) })
}

// Put does an operation on the tables, or says why not. rollback takes back all since the last commit.
func (r *RIB) Put(op *spb.AFTOperation) error {
	in, ok := r.instances[op.GetNetworkInstance()]
	if !ok {
		return fmt.Errorf("there is no network instance %q: this switch has %q and %q", op.GetNetworkInstance(),
			r.names.Default, r.names.Tagged)
	}
	var there bool
	var err error
	n := len(r.undo)
	switch x := op.GetEntry().(type) {
	case *spb.AFTOperation_NextHop:
		there = change(r, in.hops, x.NextHop.GetIndex(), x.NextHop, op)
		err = r.checkHops(in, x.NextHop, op)
	case *spb.AFTOperation_NextHopGroup:
		there = change(r, in.groups, x.NextHopGroup.GetId(), x.NextHopGroup, op)
		err = r.checkGroups(in, op)
	case *spb.AFTOperation_Ipv4:
		there = change(r, in.routes, x.Ipv4.GetPrefix(), x.Ipv4, op)
		if op.GetOp() != spb.AFTOperation_DELETE {
			_, err = r.rule(op.GetNetworkInstance(), x.Ipv4)
		}
	default:
		return fmt.Errorf("entries of type %T are not supported", op.GetEntry())
	}
	if err == nil && op.GetOp() == spb.AFTOperation_REPLACE && !there {
		err = fmt.Errorf("there is nothing to replace")
	}
	if err != nil {
		r.Rollback(n)
	}
	return err
}

// change puts an entry into a table or takes it out, so that it can be undone, and returns whether it
// stood before.
func change[K comparable, V proto.Message](r *RIB, t map[K]V, key K, entry V, op *spb.AFTOperation) bool {
	old, stood := t[key]
	r.undo = append(r.undo, func() {
		if delete(t, key); stood {
			t[key] = old
		}
	})
	if delete(t, key); op.GetOp() != spb.AFTOperation_DELETE {
		t[key] = proto.Clone(entry).(V)
	}
	return stood
}

// Rollback takes back what has been put since the last change was accepted, down to the first `to` steps.
func (r *RIB) Rollback(to int) {
	for i := len(r.undo) - 1; i >= to; i-- {
		r.undo[i]()
	}
	r.undo = r.undo[:to]
}

// checkHops checks a next hop, and the groups that stand on it.
func (r *RIB) checkHops(in *tables, h *aft.Afts_NextHopKey, op *spb.AFTOperation) error {
	if op.GetOp() != spb.AFTOperation_DELETE {
		if _, err := r.port(h); err != nil {
			return err
		}
	}
	return r.checkGroups(in, op)
}

// port returns the port of a next hop.
func (r *RIB) port(h *aft.Afts_NextHopKey) (southbound.Port, error) {
	addr := h.GetNextHop().GetIpAddress().GetValue()
	p, ok := r.ports[addr]
	if !ok {
		return 0, fmt.Errorf("next hop %d: address %q is at no port", h.GetIndex(), addr)
	}
	name := h.GetNextHop().GetInterfaceRef().GetInterface().GetValue()
	if r.names.Interface != nil && name != "" && name != r.names.Interface(p) {
		return 0, fmt.Errorf("next hop %d: address %q is at interface %q, and not at %q", h.GetIndex(), addr,
			r.names.Interface(p), name)
	}
	return p, nil
}

// checkGroups checks that all groups of an instance have what they name, and that routes have their groups.
func (r *RIB) checkGroups(in *tables, op *spb.AFTOperation) error {
	for _, id := range slices.Sorted(maps.Keys(in.groups)) {
		if _, _, err := r.ways(in, id); err != nil {
			return err
		}
	}
	if x := op.GetNextHopGroup(); x != nil && op.GetOp() == spb.AFTOperation_DELETE {
		for name, other := range r.instances {
			for prefix, e := range other.routes {
				if r.groupsOf(name, e) == in && e.GetIpv4Entry().GetNextHopGroup().GetValue() == x.GetId() {
					return fmt.Errorf("group %d: route %s in %q stands on it", x.GetId(), prefix, name)
				}
			}
		}
	}
	return nil
}

// groupsOf returns the instance in which a route's group stands, nil for one that there is not.
func (r *RIB) groupsOf(name string, e *aft.Afts_Ipv4EntryKey) *tables {
	return r.instances[cmp.Or(e.GetIpv4Entry().GetNextHopGroupNetworkInstance().GetValue(), name)]
}

// ways returns the port of a group and that of its backup, NoPort without one.
func (r *RIB) ways(in *tables, id uint64) (primary, backup southbound.Port, err error) {
	if primary, err = r.way(in, id); err != nil {
		return 0, 0, err
	}
	b := in.groups[id].GetNextHopGroup().GetBackupNextHopGroup()
	if b == nil || r.names.NoBackups {
		return primary, southbound.NoPort, nil
	}
	if backup, err = r.way(in, b.GetValue()); err != nil {
		return 0, 0, fmt.Errorf("group %d: its backup: %w", id, err)
	}
	if backup == primary { // so while the next hops of two ports change places
		backup = southbound.NoPort
	}
	return primary, backup, nil
}

func (r *RIB) way(in *tables, id uint64) (southbound.Port, error) {
	g, ok := in.groups[id]
	if !ok {
		return 0, fmt.Errorf("there is no group %d", id)
	}
	hops := g.GetNextHopGroup().GetNextHop()
	if len(hops) != 1 {
		return 0, fmt.Errorf("group %d has %d next hops: this switch sends a group's packets to one",
			id, len(hops))
	}
	h, ok := in.hops[hops[0].GetIndex()]
	if !ok {
		return 0, fmt.Errorf("group %d: there is no next hop %d", id, hops[0].GetIndex())
	}
	return r.port(h)
}

// rule returns what a route is.
func (r *RIB) rule(name string, e *aft.Afts_Ipv4EntryKey) (southbound.Rule, error) {
	rack, ok := r.racks[e.GetPrefix()]
	if !ok {
		return southbound.Rule{}, fmt.Errorf("prefix %q is no rack's: this switch knows %v to %v", e.GetPrefix(),
			r.names.Prefix(0), r.names.Prefix(southbound.RackID(r.names.Racks-1)))
	}
	at := r.groupsOf(name, e)
	if at == nil || r.names.Local && at != r.instances[name] {
		return southbound.Rule{}, fmt.Errorf("groups of network instance %q are not to be had from %q",
			e.GetIpv4Entry().GetNextHopGroupNetworkInstance().GetValue(), name)
	}
	x := southbound.Rule{Match: southbound.Match{Dst: rack, Tag: r.tags[name], Src: southbound.AnyRack}}
	var err error
	x.Primary, x.Backup, err = r.ways(at, e.GetIpv4Entry().GetNextHopGroup().GetValue())
	return x, err
}

// Plan returns the change that brings the switch to what the tables are. done is called once it has
// been accepted.
func (r *RIB) Plan() (c *southbound.Change, done func(), err error) {
	next := map[southbound.Match]southbound.Rule{}
	for name, in := range r.instances {
		for _, e := range in.routes {
			x, err := r.rule(name, e)
			if err != nil {
				return nil, nil, err
			}
			next[x.Match] = x
		}
	}
	c = &southbound.Change{}
	for _, x := range sortedRules(next) {
		if old, stands := r.held[x.Match]; !stands || old != x {
			c.Rules = append(c.Rules, x)
		}
	}
	for _, x := range sortedRules(r.held) {
		if _, still := next[x.Match]; !still {
			c.Drop = append(c.Drop, x.Match)
		}
	}
	return c, func() {
		r.wanted, r.held, r.undo = next, maps.Clone(next), nil
		for _, x := range c.Rules {
			r.dark[x.Match] = true
		}
		for _, m := range c.Drop {
			r.dark[m] = true
		}
	}, nil
}

// Given reports whether a change takes the place of rules that are the switch's configuration.
func (r *RIB) Given(c *southbound.Change, dev accepting) error {
	fresh := map[southbound.Match]bool{}
	for _, x := range c.Rules {
		if !r.Owns(x.Match) {
			fresh[x.Match] = true
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	for _, x := range dev.Accepted().Rules {
		if fresh[x.Match] {
			return refused("rule %+v: it is configured by gNMI", x.Match)
		}
	}
	return nil
}

// Lost says that a change was accepted and has not become effective: the switch still holds what it
// held before.
func (r *RIB) Lost(all []southbound.Match, before map[southbound.Match]southbound.Rule) {
	for _, m := range all {
		delete(r.dark, m)
		if delete(r.held, m); stood(before, m) {
			r.held[m] = before[m]
		}
	}
}

func stood(in map[southbound.Match]southbound.Rule, m southbound.Match) bool {
	_, ok := in[m]
	return ok
}

// Entries returns the entries of an instance, of one type or of all.
func (r *RIB) Entries(name string, what spb.AFTType) (out []*spb.AFTEntry) {
	in := r.instances[name]
	add := func(kind spb.AFTType, e *spb.AFTEntry, fib spb.AFTEntry_Status) {
		if what == spb.AFTType_ALL || what == kind {
			e.NetworkInstance, e.RibStatus, e.FibStatus = name, spb.AFTEntry_PROGRAMMED, fib
			out = append(out, e)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(in.hops)) {
		add(spb.AFTType_NEXTHOP, &spb.AFTEntry{Entry: &spb.AFTEntry_NextHop{NextHop: in.hops[id]}},
			spb.AFTEntry_PROGRAMMED)
	}
	for _, id := range slices.Sorted(maps.Keys(in.groups)) {
		add(spb.AFTType_NEXTHOP_GROUP, &spb.AFTEntry{Entry: &spb.AFTEntry_NextHopGroup{NextHopGroup: in.groups[id]}},
			spb.AFTEntry_PROGRAMMED)
	}
	for _, prefix := range slices.Sorted(maps.Keys(in.routes)) {
		m, fib := southbound.Match{Dst: r.racks[prefix], Tag: r.tags[name],
			Src: southbound.AnyRack}, spb.AFTEntry_PROGRAMMED
		if held, ok := r.held[m]; !ok || held != r.wanted[m] || r.dark[m] {
			fib = spb.AFTEntry_NOT_PROGRAMMED
		}
		add(spb.AFTType_IPV4, &spb.AFTEntry{Entry: &spb.AFTEntry_Ipv4{Ipv4: in.routes[prefix]}}, fib)
	}
	return out
}

// Flush empties the tables of instances. It reports whether all is gone: what other instances stand on
// stays.
func (r *RIB) Flush(names []string) (all bool) {
	for _, name := range names {
		in := r.instances[name]
		for prefix, e := range in.routes {
			change(r, in.routes, prefix, e, deletion)
		}
	}
	all = true
	for _, name := range names {
		in := r.instances[name]
		needed := map[uint64]bool{}
		for other, from := range r.instances {
			for _, e := range from.routes {
				if r.groupsOf(other, e) == in {
					id := e.GetIpv4Entry().GetNextHopGroup().GetValue()
					needed[id], needed[in.groups[id].GetNextHopGroup().GetBackupNextHopGroup().GetValue()] = true, true
				}
			}
		}
		stands := map[uint64]bool{}
		for id, g := range in.groups {
			if !needed[id] {
				change(r, in.groups, id, g, deletion)
				continue
			}
			for _, h := range g.GetNextHopGroup().GetNextHop() {
				stands[h.GetIndex()] = true
			}
			all = false
		}
		for id, h := range in.hops {
			if !stands[id] {
				change(r, in.hops, id, h, deletion)
			}
		}
	}
	return all
}

var deletion = &spb.AFTOperation{Op: spb.AFTOperation_DELETE}
