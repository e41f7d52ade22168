package gnmi

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// StatePaths implements Profile.
func (OpenConfig) StatePaths() []schema.Path {
	return []schema.Path{policyPath().With("rules"), instancePath().With("static"), {{Name: "interfaces"}}}
}

// WatchPaths implements Profile.
func (OpenConfig) WatchPaths() []schema.Path {
	return []schema.Path{schema.Path{{Name: "interfaces"}}.Entry("interface", "name", schema.Any).
		With("state", "oper-status")}
}

// Seen implements Profile. A rule of another form than ours is an error: it cannot be compared with the
// wanted rules.
func (p OpenConfig) Seen(state []schema.Leaf) (southbound.Seen, error) {
	var seen southbound.Seen
	t := ReadTables(state, "state")
	for _, seq := range t.Sequences() {
		r, err := t.Rule(seq)
		if err != nil {
			return southbound.Seen{}, fmt.Errorf("read rules: %w", err)
		}
		seen.Rules = append(seen.Rules, r)
	}
	slices.SortFunc(seen.Rules, byMatch)
	for _, l := range state {
		if port, up, ok := operStatus(l); ok && !up {
			seen.Down = append(seen.Down, port)
		}
	}
	slices.Sort(seen.Down)
	return seen, nil
}

// operStatus reads the leaf of a port's status; false for any other leaf, and for interfaces that are
// no port of ours.
func operStatus(l schema.Leaf) (port southbound.Port, up, ok bool) {
	p := l.Path
	if len(p) != 4 || p[0].Name != "interfaces" || p[3].Name != "oper-status" {
		return 0, false, false
	}
	port, ok = PortNamed(p[1].Key("name"))
	return port, l.Value == "UP", ok
}

// Tables are the rules, groups and next hops of one device, as leaves say. The emulated target reads
// configurations with it, the driver what a device says of itself.
type Tables struct {
	rules  map[uint32]*rawRule
	groups map[string][]string // name → next hops
	hops   map[string]*rawHop
}

type rawRule struct {
	dst, src, group string
	hop             string // instead of a group
	dscp            []schema.Value
}

type rawHop struct {
	addr       string
	preference uint64
}

// ReadTables collects the leaves below the containers named where: "config" or "state".
func ReadTables(leaves []schema.Leaf, where string) *Tables {
	t := &Tables{rules: map[uint32]*rawRule{}, groups: map[string][]string{}, hops: map[string]*rawHop{}}
	for _, l := range leaves {
		t.Add(l, where)
	}
	return t
}

// Add adds one leaf; leaves of other containers are ignored.
func (t *Tables) Add(l schema.Leaf, where string) {
	p := l.Path
	if len(p) < 6 || p[0].Name != "network-instances" || p[len(p)-2].Name != where {
		return
	}
	leaf := p[len(p)-1].Name
	switch {
	case p[2].Name == "policy-forwarding" && p[4].Name == "policy" && p[4].Key("policy-id") == ForwardingPolicy &&
		len(p) > 7:
		if seq, ok := sequenceOf(p); ok {
			t.AddRule(seq, leaf, l.Value)
		}
	case p[2].Name == "static" && p[3].Name == "next-hop-groups":
		if leaf == "index" {
			name, index := p[4].Key("name"), fmt.Sprint(l.Value)
			if !slices.Contains(t.groups[name], index) {
				t.groups[name] = append(t.groups[name], index)
			}
		}
	case p[2].Name == "static" && p[3].Name == "next-hops":
		h := t.hops[p[4].Key("index")]
		if h == nil {
			h = &rawHop{}
			t.hops[p[4].Key("index")] = h
		}
		switch v := l.Value.(type) {
		case string:
			if leaf == "next-hop" {
				h.addr = v
			}
		case uint64:
			h.preference = v
		}
	}
}

// AddRule adds one leaf of the rule of that sequence-id, by its name.
func (t *Tables) AddRule(seq uint32, leaf string, v schema.Value) {
	r := t.rules[seq]
	if r == nil {
		r = &rawRule{}
		t.rules[seq] = r
	}
	text, _ := v.(string)
	switch leaf {
	case "destination-address":
		r.dst = text
	case "source-address":
		r.src = text
	case "dscp-set":
		r.dscp, _ = v.([]schema.Value)
	case groupKey:
		r.group = text
	case "next-hop":
		r.hop = text
	}
}

// sequenceOf returns the sequence-id in the path of a rule or of something in it.
func sequenceOf(p schema.Path) (uint32, bool) {
	if len(p) < 7 || p[6].Name != "rule" {
		return 0, false
	}
	return ParseSequence(p[6].Key("sequence-id"))
}

// ParseSequence reads a sequence-id as a key has it: decimal, no sign, no leading zero.
func ParseSequence(text string) (uint32, bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil && (text[0] != '0' || n == 0 && len(text) == 1)
}

// Sequences returns the sequence-ids of the rules, ascending.
func (t *Tables) Sequences() []uint32 {
	out := make([]uint32, 0, len(t.rules))
	for seq := range t.rules {
		out = append(out, seq)
	}
	slices.Sort(out)
	return out
}

// Rule returns one rule, its group resolved to ports.
func (t *Tables) Rule(seq uint32) (southbound.Rule, error) {
	raw := t.rules[seq]
	if raw == nil {
		return southbound.Rule{}, fmt.Errorf("rule %d: it does not exist", seq)
	}
	r := southbound.Rule{Match: southbound.Match{Tag: southbound.AnyTag, Src: southbound.AnyRack}}
	var err error
	if r.Dst, err = rackOf(raw.dst); err != nil {
		return r, fmt.Errorf("rule %d: destination-address: %w", seq, err)
	}
	if raw.src != "" {
		if r.Src, err = rackOf(raw.src); err != nil {
			return r, fmt.Errorf("rule %d: source-address: %w", seq, err)
		}
	}
	if raw.dscp != nil {
		tag, ok := TagOfDSCPs(raw.dscp)
		if !ok {
			return r, fmt.Errorf("rule %d: dscp-set %v is not the eight priorities of one tag", seq, raw.dscp)
		}
		r.Tag = tag
	}
	if raw.hop != "" && raw.group == "" {
		r.Backup = southbound.NoPort
		r.Primary, err = portOfHop(raw.hop)
	} else {
		r.Primary, r.Backup, err = t.Group(raw.group)
	}
	if err != nil {
		return r, fmt.Errorf("rule %d: %w", seq, err)
	}
	return r, nil
}

func rackOf(prefix string) (southbound.RackID, error) {
	p, err := netip.ParsePrefix(prefix)
	if err != nil {
		return 0, fmt.Errorf("%q is no prefix", prefix)
	}
	r, ok := southbound.RackOfPrefix(p)
	if !ok {
		return 0, fmt.Errorf("%q is no rack's prefix: racks are 10.x.y.0/24", prefix)
	}
	return r, nil
}

// Group returns the ports of a group: the next hop of the smallest preference, then the other one.
func (t *Tables) Group(name string) (primary, backup southbound.Port, err error) {
	type member struct {
		port southbound.Port
		pref uint64
	}
	var ms []member
	for _, index := range t.groups[name] {
		h := t.hops[index]
		if h == nil {
			return 0, 0, fmt.Errorf("next-hop-group %q: next hop %q does not exist", name, index)
		}
		a, err := netip.ParseAddr(h.addr)
		if err != nil {
			return 0, 0, fmt.Errorf("next-hop-group %q: next hop %q has no address", name, index)
		}
		port, ok := NextHopPort(a)
		if !ok {
			return 0, 0, fmt.Errorf("next-hop-group %q: next hop %q: no port leads to %v", name, index, a)
		}
		ms = append(ms, member{port, h.preference})
	}
	slices.SortFunc(ms, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.pref, b.pref),
			cmp.Compare(a.port, b.port))
	})
	switch {
	case len(ms) == 0:
		return 0, 0, fmt.Errorf("next-hop-group %q: it does not exist or is empty", name)
	case len(ms) == 1:
		return ms[0].port, southbound.NoPort, nil
	case len(ms) == 2 && ms[0].pref < ms[1].pref:
		return ms[0].port, ms[1].port, nil
	}
	return 0, 0, fmt.Errorf("next-hop-group %q: want one next hop, or two of different preference", name)
}
