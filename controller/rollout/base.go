package rollout

import (
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Base is what every packet switch holds whatever the circuits: rules by device, sorted by match.
//
// A packet of tag PathTag(i) follows path i of its two racks, one of TagDefault path 0. Any other
// packet, and one that has left its path by a backup, goes down to its destination: every switch sends
// it to a switch that is a hop closer.
//
// A backup is another port that leads, over whatever else may be dark, to no switch that the packet has
// met: the switch behind it is closer to the destination than every switch on the packet's path so far,
// and from there it gets closer still, or comes back to its path further on. So however many ports are
// dark, no packet goes round in circles.
type Base struct {
	all      bool             // circuits take packets without a tag, too
	standing bool             // ToRs hold the rules of circuits whichever stand
	circuits []southbound.Tag // of a pod: those of the circuits between two cubes, which several join; nil for others
	fabric   *topo.Fabric
	paths    *pathmap.Map
	down     func(pathmap.LinkID) bool
	transit  bool                // some path leads through the ToR of another rack
	far      []distances         // by destination rack
	rules    [][]southbound.Rule // by DeviceID; nil for what is not a packet switch
	deflt    [][]southbound.Port // [rack][rack]: the ToR's default port
	derived  int                 // how often rules were derived
	multihops
}

// NewBase derives the tables from the path map. Where the paths of one destination and tag form a tree
// at some switch that leads downward, its rule names no source rack; else there is one for each source.
func NewBase(f *topo.Fabric, m *pathmap.Map) *Base {
	b := &Base{fabric: f, paths: m}
	if f.Spec.Pod() {
		b.circuits = southbound.CircuitTags(f)
	}
	b.Avoid(nil)
	return b
}

// Avoid derives the tables anew, for a fabric some of whose links are down: a path over one of them is
// replaced by the first that is whole; where none is, packets of every tag go down to their destination
// by any way that there is. nil is a fabric without fault.
func (b *Base) Avoid(down func(pathmap.LinkID) bool) {
	if down == nil {
		down = func(pathmap.LinkID) bool { return false }
	}
	f, t := b.fabric, b.fabric.Topology
	b.down, b.derived = down, b.derived+1
	b.measure()
	b.rules, b.deflt = make([][]southbound.Rule, len(t.Nodes())), make([][]southbound.Port, f.Racks)
	hops := b.hops()
	for n, node := range t.Nodes() {
		if node.Role == pathmap.Switch || node.Role == pathmap.ToR {
			w := writer{b: b, n: pathmap.NodeID(n), rack: pathmap.None}
			if node.Role == pathmap.ToR {
				w.rack = node.Rack
			}
			b.rules[n] = w.table(hops[n])
			sortRules(b.rules[n])
		}
	}
	for r := range b.deflt {
		b.deflt[r] = slices.Repeat([]southbound.Port{southbound.NoPort}, f.Racks)
		for _, rule := range b.rules[f.ToRNode[r]] {
			if rule.Tag == southbound.AnyTag && rule.Src == southbound.AnyRack {
				b.deflt[r][rule.Dst] = rule.Primary
			}
		}
	}
}

// hop is where the path of one tag between two racks leaves a switch.
type hop struct {
	dst   southbound.RackID
	tag   southbound.Tag
	src   southbound.RackID
	port  southbound.Port
	bound int32 // the least distance from dst of the switches of the path, up to this one
}

// hops follows every path, and returns the hops of each switch, by destination, and of one destination
// by source.
func (b *Base) hops() [][]hop {
	t := b.fabric.Topology
	hops := make([][]hop, len(t.Nodes()))
	b.transit = b.fabric.Transit
	var buf, whole []pathmap.LinkID
	for d := range b.fabric.Racks {
		for s := range b.fabric.Racks {
			if s == d {
				continue
			}
			known, ok := false, true
			for i := range min(b.paths.Paths(s, d), southbound.MaxNamedPaths) {
				buf = b.paths.AppendPath(buf[:0], s, d, i)
				path := buf
				if slices.ContainsFunc(buf, b.down) {
					if !known {
						whole, ok = b.whole(whole[:0], s, d)
						known = true
					}
					if path = whole; !ok {
						break
					}
				}
				if i == 0 {
					b.follow(hops, s, d, southbound.TagDefault, path)
				}
				b.follow(hops, s, d, southbound.PathTag(i), path)
			}
		}
	}
	return hops
}

// whole appends the first path of two racks that has no link down; false if there is none.
func (b *Base) whole(buf []pathmap.LinkID, s, d int) ([]pathmap.LinkID, bool) {
	for i := range min(b.paths.Paths(s, d), southbound.MaxNamedPaths) {
		if buf = b.paths.AppendPath(buf[:0], s, d, i); !slices.ContainsFunc(buf, b.down) {
			return buf, true
		}
	}
	return buf, false
}

func (b *Base) follow(hops [][]hop, s, d int, tag southbound.Tag, path []pathmap.LinkID) {
	t := b.fabric.Topology
	bound := int32(b.far[d].up[b.fabric.ToRNode[s]])
	for i, l := range path {
		link := t.Link(l)
		bound = min(bound, int32(b.far[d].up[link.From]))
		b.transit = b.transit || i > 0 && t.Node(link.From).Role == pathmap.ToR
		hops[link.From] = append(hops[link.From], hop{southbound.RackID(d), tag, southbound.RackID(s),
			southbound.Port(link.FromPort), bound})
	}
}

// Devices returns the switches of the fabric, packet switches first, the OCSes last.
func (b *Base) Devices() []southbound.DeviceID {
	var out []southbound.DeviceID
	for n, node := range b.fabric.Topology.Nodes() {
		if node.Role == pathmap.ToR || node.Role == pathmap.Switch {
			out = append(out, southbound.DeviceID(n))
		}
	}
	for i := range b.fabric.OCSes() {
		out = append(out, b.fabric.OCSNode+southbound.DeviceID(i))
	}
	return out
}

// Rules returns what a packet switch should hold while the circuits given (by input, NoPort for none)
// are steered to.
func (b *Base) Rules(d southbound.DeviceID, steered []southbound.Port) []southbound.Rule {
	var more []southbound.Rule
	if b.standing {
		more = b.standingRules(d)
	}
	more = append(more, b.wanted[d]...)
	var before map[int32]int // circuits to a cube, of a pod
	if b.circuits != nil {
		before = map[int32]int{}
	}
	for in, to := range steered {
		if to == southbound.NoPort || b.tor(southbound.Port(in)) != d {
			continue
		}
		if b.circuits == nil {
			more = append(more, b.CircuitRules(southbound.Port(in), to)...)
			continue
		}
		dst := b.fabric.OCSRack(int32(to))
		more = append(more, b.parallelRules(d, more, southbound.Port(in), to, before[dst])...)
		before[dst]++
	}
	return inserted(b.rules[d], more)
}

// SteerAll has circuits carry untagged packets too: those of senders that do not know the controller.
// It must be called before anything is sent to a switch.
func (b *Base) SteerAll() { b.all = true }

// Stand has each ToR send packets of its own rack that carry the circuit's tag into the OCS, for every
// other rack and whatever circuits exist, so that no move of a circuit changes a table. It is for
// fabrics with one OCS port a rack. Their hosts use that tag only while the circuit is in service, and
// send nothing else to other racks: without light, packets take the default path as a backup, as with
// rules per circuit. A packet that comes out at another rack because its circuit moved finds no such
// rule there, for its source is not that ToR's, and takes the default path.
//
// It must be called before anything is sent to a switch, and not together with SteerAll.
func (b *Base) Stand() { b.standing = true }

func (b *Base) standingRules(d southbound.DeviceID) (rules []southbound.Rule) {
	f := b.fabric
	node := f.Topology.Node(d)
	if node.Role != pathmap.ToR || f.OCSUplink[node.Rack] == pathmap.None {
		return nil
	}
	for dst := range f.Racks {
		if int32(dst) != node.Rack && f.OCSUplink[dst] != pathmap.None {
			rules = append(rules, southbound.Rule{
				Match: southbound.Match{Dst: southbound.RackID(dst), Tag: southbound.TagCircuit,
					Src: southbound.RackID(node.Rack)},
				Primary: southbound.Port(f.OCSUplink[node.Rack]),
				Backup:  b.deflt[node.Rack][dst],
			})
		}
	}
	return rules
}

// tor returns the ToR at an OCS port.
func (b *Base) tor(p southbound.Port) southbound.DeviceID {
	return b.fabric.ToRNode[b.fabric.OCSRack(int32(p))]
}

// CircuitRules are the rules at the ToR of input in that send the circuit's tag, and after SteerAll
// what has none, into the OCS, with the default way as its backup for the time that the port has no
// light. After Stand there are none: the ToR has them anyway. On a pod there are none either: Rules has
// those of all circuits between two cubes.
func (b *Base) CircuitRules(in, out southbound.Port) []southbound.Rule {
	if b.standing || b.circuits != nil {
		return nil
	}
	return b.circuitRules(in, out)
}

// parallelRules are those of the i-th circuit from one cube of a pod to another: the first carries the circuit's tag
// and what has none, each of the others a tag of its own. There are none where it leads back to its own cube, where
// tags have run out, or where a path, or a rule in more, has its tag.
func (b *Base) parallelRules(d southbound.DeviceID, more []southbound.Rule, in, out southbound.Port,
	i int) []southbound.Rule {
	if b.tor(in) == b.tor(out) || i >= len(b.circuits) {
		return nil
	}
	rules := b.circuitRules(in, out)
	if i > 0 {
		rules = rules[:1]
		rules[0].Tag = b.circuits[i]
	}
	same := func(r southbound.Rule) bool { return r.Match == rules[0].Match }
	if slices.ContainsFunc(more, same) || slices.ContainsFunc(b.rules[d], same) {
		return nil
	}
	return rules
}

func (b *Base) circuitRules(in, out southbound.Port) []southbound.Rule {
	src, dst := b.fabric.OCSRack(int32(in)), b.fabric.OCSRack(int32(out))
	rule := southbound.Rule{
		Match: southbound.Match{Dst: southbound.RackID(dst), Tag: southbound.TagCircuit,
			Src: southbound.AnyRack},
		Primary: southbound.Port(b.fabric.OCSUplink[in]),
		Backup:  b.deflt[src][dst],
	}
	rules := []southbound.Rule{rule}
	if b.all {
		rule.Tag = southbound.TagDefault
		rules = append(rules, rule)
	}
	return rules
}

// CircuitMatches are what CircuitRules match.
func (b *Base) CircuitMatches(in, out southbound.Port) []southbound.Match {
	if b.standing || b.circuits != nil {
		return nil
	}
	dst := southbound.RackID(b.fabric.OCSRack(int32(out)))
	all := []southbound.Match{{Dst: dst, Tag: southbound.TagCircuit, Src: southbound.AnyRack}}
	if b.all {
		all = append(all, southbound.Match{Dst: dst, Tag: southbound.TagDefault, Src: southbound.AnyRack})
	}
	return all
}
