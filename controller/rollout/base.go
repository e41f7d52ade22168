package rollout

import (
	"cmp"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Base is what every packet switch holds whatever the circuits: rules by device, sorted by match.
type Base struct {
	fabric *topo.Fabric
	paths  *pathmap.Map
	down   func(pathmap.LinkID) bool
	rules  [][]southbound.Rule // by DeviceID; nil for what is not a packet switch
	deflt  [][]southbound.Port // [rack][rack]: the ToR's default port
}

// NewBase derives the tables from the path map. Tag PathTag(i) follows path i; any other tag follows path 0, by the
// next hop of a breadth-first search at switches off the path. Where the paths of one destination and tag do not form a
// tree at some switch, the rules there name the source rack too. A ToR's rule has the first hop of another path as its
// backup, where one exists.
func NewBase(f *topo.Fabric, m *pathmap.Map) *Base {
	b := &Base{fabric: f, paths: m}
	b.Avoid(nil)
	return b
}

// Avoid derives the tables anew, for a fabric some of whose links are down: a path over one of them is replaced by the
// first that is whole, where there is one. nil is a fabric without fault.
func (b *Base) Avoid(down func(pathmap.LinkID) bool) {
	if down == nil {
		down = func(pathmap.LinkID) bool { return false }
	}
	f, t := b.fabric, b.fabric.Topology
	b.down = down
	b.rules, b.deflt = make([][]southbound.Rule, len(t.Nodes())), make([][]southbound.Port, f.Racks)
	hops := make([][]hop, len(t.Nodes())) // transit hops, by node
	for s := range f.Racks {
		b.deflt[s] = slices.Repeat([]southbound.Port{southbound.NoPort}, f.Racks)
		for d := range f.Racks {
			paths := b.whole(s, d)
			if s == d || len(paths) == 0 {
				continue
			}
			first := make([]southbound.Port, len(paths))
			for i, path := range paths {
				first[i] = southbound.Port(t.Link(path[0]).FromPort)
				for _, l := range path[1:] {
					link := t.Link(l)
					hops[link.From] = append(hops[link.From], hop{southbound.RackID(d), southbound.PathTag(i), southbound.RackID(s), southbound.Port(link.FromPort)})
				}
			}
			b.deflt[s][d] = first[0]
			b.addToR(s, d, first)
		}
	}
	for n, node := range t.Nodes() {
		if node.Role == pathmap.Switch || node.Role == pathmap.ToR {
			b.addTransit(pathmap.NodeID(n), hops[n])
		}
		sortRules(b.rules[n])
	}
}

// whole returns the paths of a pair of racks by tag, the first whole one in the place of each that is broken.
func (b *Base) whole(s, d int) [][]pathmap.LinkID {
	if s == d {
		return nil
	}
	paths := make([][]pathmap.LinkID, min(b.paths.Paths(s, d), southbound.MaxPaths))
	intact := -1
	for i := range paths {
		paths[i] = b.paths.AppendPath(nil, s, d, i)
		if intact < 0 && !slices.ContainsFunc(paths[i], b.down) {
			intact = i
		}
	}
	for i := range paths {
		if intact >= 0 && slices.ContainsFunc(paths[i], b.down) {
			paths[i] = paths[intact]
		}
	}
	return paths
}

type hop struct {
	dst  southbound.RackID
	tag  southbound.Tag
	src  southbound.RackID
	port southbound.Port
}

func (b *Base) addToR(s, d int, first []southbound.Port) {
	n := b.fabric.ToRNode[s]
	other := func(p southbound.Port) southbound.Port {
		for _, q := range first {
			if q != p {
				return q
			}
		}
		return southbound.NoPort
	}
	match := southbound.Match{Dst: southbound.RackID(d), Tag: southbound.AnyTag, Src: southbound.AnyRack}
	b.rules[n] = append(b.rules[n], southbound.Rule{Match: match, Primary: first[0], Backup: other(first[0])})
	for i, p := range first {
		if p != first[0] {
			match.Tag = southbound.PathTag(i)
			b.rules[n] = append(b.rules[n], southbound.Rule{Match: match, Primary: p, Backup: other(p)})
		}
	}
}

// addTransit adds a switch's rules for packets that only pass through.
func (b *Base) addTransit(n pathmap.NodeID, hops []hop) {
	isToR := b.fabric.Topology.Node(n).Role == pathmap.ToR
	for d := range b.fabric.Racks {
		if b.fabric.ToRNode[d] == n {
			continue
		}
		any := southbound.Match{Dst: southbound.RackID(d), Tag: southbound.AnyTag, Src: southbound.AnyRack}
		def := southbound.NoPort
		if !isToR { // a ToR has its own any-tag rule already
			if def = b.nextHop(n, b.fabric.ToRNode[d]); def == southbound.NoPort {
				continue
			}
			b.rules[n] = append(b.rules[n], southbound.Rule{Match: any, Primary: def, Backup: southbound.NoPort})
		} else {
			def = b.deflt[b.fabric.Topology.Node(n).Rack][d]
		}
		b.addExceptions(n, southbound.RackID(d), def, hops)
	}
}

// addExceptions adds the rules for tags whose path leaves by another port than the default.
func (b *Base) addExceptions(n pathmap.NodeID, d southbound.RackID, def southbound.Port, hops []hop) {
	isToR := b.fabric.Topology.Node(n).Role == pathmap.ToR
	for tag := southbound.PathTag(0); tag < southbound.TagCircuit; tag++ {
		var of []hop
		for _, h := range hops {
			if h.dst == d && h.tag == tag {
				of = append(of, h)
			}
		}
		tree := len(of) > 0 && !isToR
		for _, h := range of {
			tree = tree && h.port == of[0].port
		}
		for _, h := range of {
			m := southbound.Match{Dst: d, Tag: tag, Src: h.src}
			if tree {
				m.Src = southbound.AnyRack
			}
			// A ToR has rules for its own packets with this tag: only one for the source goes before them.
			if h.port != def || isToR {
				b.rules[n] = append(b.rules[n], southbound.Rule{Match: m, Primary: h.port, Backup: southbound.NoPort})
			}
			if tree {
				break
			}
		}
	}
}

// nextHop is the lowest port of n on a shortest way to dst over packet switches and links that are up, or over any if
// there is none; NoPort if there is no way at all.
func (b *Base) nextHop(n, dst pathmap.NodeID) southbound.Port {
	if p := b.hopWithout(n, dst, b.down); p != southbound.NoPort {
		return p
	}
	return b.hopWithout(n, dst, func(pathmap.LinkID) bool { return false })
}

func (b *Base) hopWithout(n, dst pathmap.NodeID, down func(pathmap.LinkID) bool) southbound.Port {
	t := b.fabric.Topology
	dist := slices.Repeat([]int{-1}, len(t.Nodes()))
	dist[dst] = 0
	for queue := []pathmap.NodeID{dst}; len(queue) > 0; queue = queue[1:] {
		for _, l := range t.Out(queue[0]) {
			if to := t.Link(l).To; dist[to] < 0 && !down(pathmap.Reverse(l)) && (t.Node(to).Role == pathmap.Switch || to == n) {
				dist[to] = dist[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	for _, l := range t.Out(n) {
		if to := t.Link(l).To; dist[n] > 0 && !down(l) && dist[to] == dist[n]-1 && (to == dst || t.Node(to).Role == pathmap.Switch) {
			return southbound.Port(t.Link(l).FromPort)
		}
	}
	return southbound.NoPort
}

// Devices returns the switches of the fabric, packet switches first, the OCS last.
func (b *Base) Devices() []southbound.DeviceID {
	var out []southbound.DeviceID
	for n, node := range b.fabric.Topology.Nodes() {
		if node.Role == pathmap.ToR || node.Role == pathmap.Switch {
			out = append(out, southbound.DeviceID(n))
		}
	}
	if b.fabric.HasOCS() {
		out = append(out, b.fabric.OCSNode)
	}
	return out
}

// Rules returns what a packet switch should hold while the circuits given (by input, NoPort for none) are steered to.
func (b *Base) Rules(d southbound.DeviceID, steered []southbound.Port) []southbound.Rule {
	out := slices.Clone(b.rules[d])
	for in, to := range steered {
		if to != southbound.NoPort && b.fabric.ToRNode[in] == d {
			out = append(out, b.CircuitRule(southbound.Port(in), to))
		}
	}
	sortRules(out)
	return out
}

// CircuitRule is the rule at the ToR of rack in that sends the circuit's tag into the OCS, with the default way as its
// backup for the time that the port has no light.
func (b *Base) CircuitRule(in, out southbound.Port) southbound.Rule {
	return southbound.Rule{
		Match:   southbound.Match{Dst: southbound.RackID(out), Tag: southbound.TagCircuit, Src: southbound.AnyRack},
		Primary: southbound.Port(b.fabric.OCSUplink[in]),
		Backup:  b.deflt[in][out],
	}
}

func compareMatch(a, b southbound.Match) int {
	return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Src, b.Src))
}

func sortRules(r []southbound.Rule) {
	slices.SortFunc(r, func(a, b southbound.Rule) int { return compareMatch(a.Match, b.Match) })
}

// Diff returns the change that makes seen into wanted, both sorted by match. It is empty if they are the same.
func Diff(wanted, seen []southbound.Rule) southbound.Change {
	var c southbound.Change
	for len(wanted) > 0 || len(seen) > 0 {
		order := 0
		switch {
		case len(seen) == 0:
			order = -1
		case len(wanted) == 0:
			order = 1
		default:
			order = compareMatch(wanted[0].Match, seen[0].Match)
		}
		switch {
		case order < 0:
			c.Rules, wanted = append(c.Rules, wanted[0]), wanted[1:]
		case order > 0:
			c.Drop, seen = append(c.Drop, seen[0].Match), seen[1:]
		default:
			if wanted[0] != seen[0] {
				c.Rules = append(c.Rules, wanted[0])
			}
			wanted, seen = wanted[1:], seen[1:]
		}
	}
	return c
}
