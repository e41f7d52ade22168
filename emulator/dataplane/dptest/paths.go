package dptest

import (
	"errors"
	"fmt"
	"testing"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// RunSources is the conformance suite of rules that name the rack that packets come from. make gives a
// fresh network of a general fabric, to which it has done nothing: at least four racks, six paths
// between each two.
func RunSources(t *testing.T, make func(t *testing.T) Network) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Network)
	}{
		{"every tag of every host pair takes its path", everyPath},
		{"a source goes before a tag", sourceFirst},
		{"tables with sources swap under load without loss", swapPaths},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := make(t)
			if err := ProgramPaths(n, 1); err != nil {
				t.Fatal(err)
			}
			c.test(t, n)
		})
	}
}

// ProgramPaths puts rules for every two racks and every path between them into the switches along it;
// any other tag goes down to its rack by the lowest port.
func ProgramPaths(n Network, seed uint64) error {
	tables, err := PathRules(n, seed)
	if err != nil {
		return err
	}
	for i, rules := range tables {
		if rules == nil {
			continue
		}
		if err := n.Plane(pathmap.NodeID(i)).SetRules(rules, nil, true); err != nil {
			return fmt.Errorf("program %s: %w", n.Spec().Topology.Node(pathmap.NodeID(i)).Name, err)
		}
	}
	return nil
}

// PathRules returns ProgramPaths' rules, by node.
func PathRules(n Network, seed uint64) ([][]southbound.Rule, error) {
	f := n.Spec()
	m, err := f.PathMap(southbound.MaxPaths, seed)
	if err != nil {
		return nil, err
	}
	tables := make([][]southbound.Rule, len(f.Topology.Nodes()))
	add := func(at pathmap.NodeID, match southbound.Match, port int32) {
		tables[at] = append(tables[at], southbound.Rule{Match: match, Primary: southbound.Port(port),
			Backup: southbound.NoPort})
	}
	for d := range f.Racks {
		for at, l := range down(n, f.ToRNode[d]) {
			if l != pathmap.None {
				add(pathmap.NodeID(at), match(southbound.RackID(d), southbound.AnyTag), f.Topology.Link(l).FromPort)
			}
		}
		for s := range f.Racks {
			for i := range m.Paths(s, d) {
				if s == d {
					continue
				}
				for _, l := range m.AppendPath(nil, s, d, i) {
					link := f.Topology.Link(l)
					add(link.From, southbound.Match{Dst: southbound.RackID(d), Tag: southbound.PathTag(i),
						Src: southbound.RackID(s)},
						link.FromPort)
				}
			}
		}
	}
	return tables, nil
}

// down returns the link that leads from each switch toward one, over packet switches.
func down(n Network, to pathmap.NodeID) []pathmap.LinkID {
	t := n.Spec().Topology
	via := make([]pathmap.LinkID, len(t.Nodes()))
	for i := range via {
		via[i] = pathmap.None
	}
	for queue := []pathmap.NodeID{to}; len(queue) > 0; queue = queue[1:] {
		for _, l := range t.Out(queue[0]) {
			next := t.Link(l).To
			if role := t.Node(next).Role; next != to && via[next] == pathmap.None &&
				(role == pathmap.Switch || role == pathmap.ToR) {
				via[next] = pathmap.Reverse(l)
				queue = append(queue, next)
			}
		}
	}
	return via
}

func everyPath(t *testing.T, n Network) {
	f := n.Spec()
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	probes := 0
	for src := range southbound.HostID(f.Hosts()) {
		for dst := range southbound.HostID(f.Hosts()) {
			s, d := int(f.RackOf(int32(src))), int(f.RackOf(int32(dst)))
			if s == d {
				continue
			}
			for i := range m.Paths(s, d) {
				before := carried(t, n)
				expect(t, n, src, dst, southbound.PathTag(i), 1)
				after := carried(t, n)
				for _, l := range m.AppendPath(nil, s, d, i) {
					if got := after[l] - before[l]; got != 1 {
						t.Fatalf("host %d to %d by path %d: link %d carried %d packets, want 1", src, dst, i, l, got)
					}
				}
				probes++
			}
			expect(t, n, src, dst, southbound.TagCircuit, 1)
		}
	}
	t.Logf("%d probes took their path", probes)
}

func carried(t *testing.T, n Network) []uint64 {
	t.Helper()
	c, err := n.Carried()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// elsewhere returns two ports of the ToR of rack 0 by which packets of any tag reach rack d.
func elsewhere(t *testing.T, n Network, d int) (a, b southbound.Port) {
	t.Helper()
	f := n.Spec()
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	port := func(i int) southbound.Port {
		return southbound.Port(f.Topology.Link(m.AppendPath(nil, 0, d, i)[0]).FromPort)
	}
	for i := 1; i < m.Paths(0, d); i++ {
		if port(i) != port(0) {
			return port(0), port(i)
		}
	}
	t.Fatalf("all paths from rack 0 to %d leave by one port", d)
	return 0, 0
}

func sourceFirst(t *testing.T, n Network) {
	f := n.Spec()
	d := f.Racks - 1
	dst := southbound.HostID(f.FirstHost[d])
	// Only which port of the ToR a packet leaves by is looked at: everything else leads to the rack.
	a, b := elsewhere(t, n, d)
	tor := n.Plane(f.ToRNode[0])
	rule := func(src southbound.RackID, tag southbound.Tag, port southbound.Port) southbound.Rule {
		return southbound.Rule{Match: southbound.Match{Dst: southbound.RackID(d), Tag: tag, Src: src},
			Primary: port,
			Backup:  southbound.NoPort}
	}
	const any, tag = southbound.AnyRack, southbound.TagCircuit // which no other switch has a rule for
	steps := []struct {
		name string
		rule southbound.Rule
		gone bool
		want southbound.Port
	}{
		{"any tag, any source", rule(any, southbound.AnyTag, a), false, a},
		{"the tag before any", rule(any, tag, b), false, b},
		{"the source before the tag", rule(0, southbound.AnyTag, a), false, a},
		{"source and tag before the source", rule(0, tag, b), false, b},
		{"another source is none of this one's", rule(1, tag, a), false, b},
		{"without source and tag", rule(0, tag, b), true, a},
		{"without the source", rule(0, southbound.AnyTag, a), true, b},
		{"without the tag", rule(any, tag, b), true, a},
	}
	for _, s := range steps {
		if s.gone {
			set(t, tor.SetRules(nil, []southbound.Match{s.rule.Match}, false))
		} else {
			set(t, tor.SetRules([]southbound.Rule{s.rule}, nil, false))
		}
		t.Run(s.name, func(t *testing.T) { leavesBy(t, n, 0, dst, tag, s.want) })
	}
}

func swapPaths(t *testing.T, n Network) {
	f := n.Spec()
	one, err := PathRules(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := PathRules(n, 2)
	if err != nil {
		t.Fatal(err)
	}
	// Of the last switch on a path: both tables lead on from there.
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := f.Racks - 1
	path := m.AppendPath(nil, 0, d, m.Paths(0, d)-1)
	at := f.Topology.Link(path[len(path)-1]).From
	keep := func(rules []southbound.Rule) (out []southbound.Rule) {
		for _, r := range rules {
			if int(r.Dst) != d || r.Src != 0 { // the flow's own rules stay as they are
				out = append(out, r)
			}
		}
		for _, r := range one[at] {
			if int(r.Dst) == d && r.Src == 0 {
				out = append(out, r)
			}
		}
		return out
	}
	a, b := keep(one[at]), keep(two[at])
	plane := n.Plane(at)
	flow, err := n.Load(0, southbound.HostID(f.FirstHost[d]), southbound.PathTag(m.Paths(0, d)-1),
		func() error {
			return errors.Join(plane.SetRules(b, nil, true), plane.SetRules(a, nil, true))
		})
	whole(t, flow, err)
	if flow.Reordered > 0 {
		t.Errorf("%d packets changed places", flow.Reordered)
	}
}
