package rollout

import (
	"fmt"
	"slices"

	"lightloom/controller/multihop"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Placed is a rule at a switch.
type Placed struct {
	Device southbound.DeviceID
	Rule   southbound.Rule
}

// multihops is the rules of paths over several circuits. They name both racks and the circuit's tag, so a pair of racks
// has one such path at a time. Of one path, any part may be there while no cable goes dark: a packet that finds no rule
// of it takes the default way, which does not come back to it.
type multihops struct {
	wanted  map[southbound.DeviceID][]southbound.Rule
	through map[southbound.Port][]southbound.Match // by input of an OCS: what its ToR possibly sends into it
	dirty   devices                                // whose wanted rules have changed since CheckWanted
}

// PathRules returns the rules of a path over several circuits, or why it cannot be. A circuit that goes dark has the
// default way of its rack as backup.
func (b *Base) PathRules(p *multihop.Path) ([]Placed, error) {
	f := b.fabric
	if err := multihop.Supported(f); err != nil {
		return nil, err
	}
	if b.standing || b.all {
		return nil, fmt.Errorf("path from rack %d to rack %d: packets take circuits by themselves here", p.Src, p.Dst)
	}
	if err := p.Check(f); err != nil {
		return nil, err
	}
	match := southbound.Match{Dst: p.Dst, Tag: southbound.TagCircuit, Src: p.Src}
	var rules []Placed
	hop := p.Hop(f)
	for i, c := range p.Circuits {
		if i == hop {
			over, err := b.overSpine(p, i, match)
			if err != nil {
				return nil, err
			}
			rules = append(rules, over...)
		}
		rack := f.OCSRack(int32(c.In))
		r := southbound.Rule{Match: match, Primary: southbound.Port(f.OCSUplink[c.In]), Backup: b.deflt[rack][p.Dst]}
		if r.Backup == southbound.NoPort {
			return nil, fmt.Errorf("path from rack %d to rack %d: rack %d has no way over packets", p.Src, p.Dst, rack)
		}
		rules = append(rules, Placed{f.ToRNode[rack], r})
	}
	return rules, nil
}

// Parts returns the rules of a path in the order in which switches are to forget them, the reverse of that in which
// they are to be told: each part once all switches of the one before have answered. The order within a part is open.
//
// Behind a spine that packets take, the default way of a rack can come to lead back over that spine when a cable goes
// dark. So none are sent to a rack that possibly does not know the path.
func Parts(p *multihop.Path, rules []Placed) [][]Placed {
	i := slices.IndexFunc(rules, func(r Placed) bool { return r.Device == p.Spine })
	if p.Spine == pathmap.None || i < 0 {
		return [][]Placed{rules}
	}
	return [][]Placed{rules[:i], rules[i : i+1], rules[i+1:]}
}

// overSpine returns the rules from the rack where packets are before a circuit to the rack of that, over the path's
// spine.
func (b *Base) overSpine(p *multihop.Path, circuit int, match southbound.Match) ([]Placed, error) {
	f := b.fabric
	fail := func(why string) ([]Placed, error) {
		return nil, fmt.Errorf("path from rack %d to rack %d by way of node %d: %s", p.Src, p.Dst, p.Spine, why)
	}
	at := int32(p.Src)
	if circuit > 0 {
		at = f.OCSRack(int32(p.Circuits[circuit-1].Out))
	}
	up, ok := b.port(f.ToRNode[at], p.Spine)
	down, also := b.port(p.Spine, f.ToRNode[f.OCSRack(int32(p.Circuits[circuit].In))])
	if !ok || !also {
		return fail("no cable with light joins it to both racks")
	}
	for _, c := range p.Circuits[circuit:] {
		rack := f.OCSRack(int32(c.In))
		if by, ok := b.port(f.ToRNode[rack], p.Spine); ok && b.deflt[rack][p.Dst] == by {
			return fail(fmt.Sprintf("rack %d would send back what finds no circuit", rack))
		}
	}
	first := southbound.Rule{Match: match, Primary: up, Backup: b.deflt[at][p.Dst]}
	if first.Backup == up {
		first.Backup = southbound.NoPort // as the rule for any tag has it there, or has another
		if r, found := Lookup(b.rules[f.ToRNode[at]], p.Dst, p.Src, southbound.TagDefault); found {
			first.Backup = r.Backup
		}
	}
	next := southbound.Rule{Match: match, Primary: down, Backup: b.descend(p.Spine, p.Dst)}
	return []Placed{{f.ToRNode[at], first}, {p.Spine, next}}, nil
}

// port returns the port of a node to another, over a cable that is up.
func (b *Base) port(from, to pathmap.NodeID) (southbound.Port, bool) {
	for _, l := range b.fabric.Topology.Out(from) {
		if link := b.fabric.Topology.Link(l); link.To == to && !b.down(l) {
			return southbound.Port(link.FromPort), true
		}
	}
	return southbound.NoPort, false
}

// Derived counts how often the tables were derived.
func (b *Base) Derived() int { return b.derived }

// Lead has switches hold some of the rules of a path. The pair of racks must have no other.
func (b *Base) Lead(p *multihop.Path, rules []Placed) {
	m := &b.multihops
	if m.wanted == nil {
		m.wanted = map[southbound.DeviceID][]southbound.Rule{}
		m.through = map[southbound.Port][]southbound.Match{}
	}
	for _, r := range rules {
		m.wanted[r.Device] = append(m.wanted[r.Device], r.Rule)
		m.dirty.add(r.Device)
	}
	for _, c := range p.Circuits {
		if slices.ContainsFunc(rules, func(r Placed) bool { return r.Device == b.tor(c.In) }) {
			m.through[c.In] = append(m.through[c.In], rules[0].Rule.Match)
		}
	}
}

// Refused notes that a switch has not taken its rule of a path, and holds none.
func (b *Base) Refused(p *multihop.Path, r Placed) {
	b.Unlead([]Placed{r})
	for _, c := range p.Circuits {
		if b.tor(c.In) == r.Device {
			b.forget(c.In, r.Rule.Match)
		}
	}
}

// Unlead has switches hold some of the rules of a path no longer. Until Forget they may do so.
func (b *Base) Unlead(rules []Placed) {
	m := &b.multihops
	for _, r := range rules {
		m.wanted[r.Device] = slices.DeleteFunc(m.wanted[r.Device], func(x southbound.Rule) bool {
			return x.Match == r.Rule.Match
		})
		m.dirty.add(r.Device)
	}
}

// Forget notes that no switch holds a rule of a path any more.
func (b *Base) Forget(p *multihop.Path, rules []Placed) {
	for _, c := range p.Circuits {
		b.forget(c.In, rules[0].Rule.Match)
	}
}

func (b *Base) forget(in southbound.Port, match southbound.Match) {
	b.multihops.through[in] = slices.DeleteFunc(b.multihops.through[in], func(m southbound.Match) bool {
		return m == match
	})
}

// Through returns what the ToR of an input must forget before its circuit moves, beside CircuitMatches: the rules of
// paths over it. A path has rules at several switches; where one of them is missing, packets go on by the default way.
func (b *Base) Through(in southbound.Port) []southbound.Match {
	return slices.Clone(b.multihops.through[in])
}
