package gnmi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// SRLinux is the profile of SR Linux packet switches in their native model. Rules are placed as OpenConfig places them;
// a group "p3" or "p3-b5" holds the next hop of port 3 and, for the controller's eyes only, the name of its backup.
type SRLinux struct {
	Ports, Racks int32

	// Flags of vendor and site.
	InstanceName     string // of the network-instance; "" means default
	Interface        string // format of an interface's name, by number from 1; "" means "ethernet-1/%d"
	ControllerBackup bool   // take rules with a backup, which the device does not fall back to by itself
}

var _ Profile = SRLinux{}

func (p SRLinux) twin() OpenConfig { return OpenConfig{Ports: p.Ports, Racks: p.Racks} }

func (p SRLinux) instance() schema.Path {
	return schema.Path(nil).Entry("network-instance", "name", cmp.Or(p.InstanceName, "default"))
}
func (p SRLinux) policy() schema.Path {
	return p.instance().With("policy-forwarding").Entry("policy", "policy-id", Policy)
}
func (p SRLinux) rulePath(seq uint32) schema.Path {
	return p.policy().Entry("rule", "sequence-id", strconv.FormatUint(uint64(seq), 10))
}
func (p SRLinux) groupPath(name string) schema.Path {
	return p.instance().With("next-hop-groups").Entry("group", "name", name)
}
func (p SRLinux) interfaceName(port southbound.Port) string {
	return fmt.Sprintf(cmp.Or(p.Interface, "ethernet-1/%d"), port+1)
}

func (p SRLinux) interfaceNamed(name string) (southbound.Port, bool) {
	prefix, suffix, _ := strings.Cut(cmp.Or(p.Interface, "ethernet-1/%d"), "%d")
	digits, ok := strings.CutSuffix(name, suffix)
	port, isPort := portSuffix(digits, prefix)
	return port - 1, ok && isPort && port > 0 && int32(port) <= p.Ports
}

// Name implements Profile.
func (SRLinux) Name() string { return "srl-native" }

// Model implements Profile.
func (SRLinux) Model() *schema.Model { return schema.SRLinux() }

// Check implements Profile.
func (SRLinux) Check(c *gpb.CapabilityResponse) error { return hasModel(c, schema.SRLModule, "") }

// ConfigPaths implements Profile.
func (SRLinux) ConfigPaths() []schema.Path { return nil }

// StatePaths implements Profile.
func (p SRLinux) StatePaths() []schema.Path {
	return append([]schema.Path{p.policy()}, p.WatchPaths()...)
}

// WatchPaths implements Profile.
func (p SRLinux) WatchPaths() []schema.Path {
	return []schema.Path{schema.Path(nil).Entry("interface", "name", schema.Any).With("oper-state")}
}

type srlWriter struct {
	p            SRLinux
	model        *schema.Model
	based, basis bool
}

// NewWriter implements Profile.
func (p SRLinux) NewWriter([]schema.Leaf) Writer { return &srlWriter{p: p, model: p.Model()} }

// Accepted implements Writer.
func (w *srlWriter) Accepted() { w.based = w.based || w.basis }

// Encode implements Writer.
func (w *srlWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	req := &gpb.SetRequest{}
	w.basis = false
	if c.Empty() {
		return req, nil
	}
	p, twin := w.p, w.p.twin()
	if err := twin.check(c); err != nil {
		return nil, err
	}
	if err := noBackups(p.Name(), c.Rules); err != nil && !p.ControllerBackup {
		return nil, err
	}
	for _, m := range c.Drop {
		if !c.Replace && !slices.ContainsFunc(c.Rules, func(r southbound.Rule) bool { return r.Match == m }) {
			req.Delete = append(req.Delete, w.model.Proto(p.rulePath(twin.Sequence(m))))
		}
	}
	if c.Replace {
		req.Delete = append(req.Delete, w.model.Proto(p.policy()))
	}
	rules := slices.Clone(c.Rules)
	slices.SortFunc(rules, func(a, b southbound.Rule) int {
		return cmp.Compare(twin.Sequence(a.Match), twin.Sequence(b.Match))
	})
	var err error
	add := func(at schema.Path, leaves []schema.Leaf) {
		u, e := entry(w.model, at, leaves)
		err = cmp.Or(err, e)
		req.Update = append(req.Update, u)
	}
	for _, g := range groupsOf(rules) {
		at := p.groupPath(GroupName(g[0], g[1]))
		hop := at.Entry("nexthop", "index", "0")
		add(at, []schema.Leaf{{Path: at.With("admin-state"), Value: "enable"},
			{Path: hop.With("ip-address"), Value: NextHop(g[0]).String()}, {Path: hop.With("admin-state"), Value: "enable"}})
	}
	for _, r := range rules {
		seq := twin.Sequence(r.Match)
		add(p.rulePath(seq), p.ruleLeaves(seq, r))
	}
	if !w.based && len(rules) > 0 {
		w.basis = true
		for i := range southbound.Port(p.Ports) {
			at := p.instance().With("policy-forwarding").Entry("interface", "interface-id", p.interfaceName(i)+".0")
			add(at, []schema.Leaf{{Path: at.With("apply-forwarding-policy"), Value: Policy}})
		}
	}
	return req, err
}

func (p SRLinux) ruleLeaves(seq uint32, r southbound.Rule) []schema.Leaf {
	at := p.rulePath(seq)
	out := []schema.Leaf{{Path: at.With("sequence-id"), Value: uint64(seq)}}
	ipv4 := at.With("match", "ipv4")
	if r.Src != southbound.AnyRack {
		out = append(out, schema.Leaf{Path: ipv4.With("source-ip", "prefix"), Value: southbound.RackPrefix(r.Src).String()})
	}
	out = append(out, schema.Leaf{Path: ipv4.With("destination-ip", "prefix"), Value: southbound.RackPrefix(r.Dst).String()})
	if r.Tag != southbound.AnyTag {
		out = append(out, schema.Leaf{Path: ipv4.With("dscp-set"), Value: dscpSet(r.Tag)})
	}
	return append(out, schema.Leaf{Path: at.With("action", groupKey), Value: GroupName(r.Primary, r.Backup)})
}

// Seen implements Profile.
func (p SRLinux) Seen(state []schema.Leaf) (southbound.Seen, error) {
	var seen southbound.Seen
	policy := p.policy()
	rules := map[string]*southbound.Rule{}
	for _, l := range state {
		if port, up, ok := p.operState(l); ok && !up {
			seen.Down = append(seen.Down, port)
		}
		if !policy.Match(l.Path) || len(l.Path) <= len(policy)+1 {
			continue
		}
		seq := l.Path[len(policy)].Key("sequence-id")
		if rules[seq] == nil {
			rules[seq] = &southbound.Rule{Match: southbound.Match{Dst: southbound.AnyRack, Tag: southbound.AnyTag, Src: southbound.AnyRack},
				Primary: southbound.NoPort, Backup: southbound.NoPort}
		}
		if err := readSRLLeaf(rules[seq], l); err != nil {
			return southbound.Seen{}, fmt.Errorf("read rule %s: %w", seq, err)
		}
	}
	for _, seq := range sortedKeys(rules) {
		r := rules[seq]
		if r.Dst == southbound.AnyRack || r.Primary == southbound.NoPort {
			return southbound.Seen{}, fmt.Errorf("read rule %s: it has no destination or no group", seq)
		}
		seen.Rules = append(seen.Rules, *r)
	}
	slices.SortFunc(seen.Rules, byMatch)
	slices.Sort(seen.Down)
	return seen, nil
}

func readSRLLeaf(r *southbound.Rule, l schema.Leaf) (err error) {
	text, _ := l.Value.(string)
	switch p := l.Path; {
	case p[len(p)-2].Name == "destination-ip":
		r.Dst, err = rackOf(text)
	case p[len(p)-2].Name == "source-ip":
		r.Src, err = rackOf(text)
	case p[len(p)-1].Name == "dscp-set":
		set, _ := l.Value.([]schema.Value)
		var ok bool
		if r.Tag, ok = TagOfDSCPs(set); !ok {
			err = fmt.Errorf("dscp-set %v is not the eight priorities of one tag", l.Value)
		}
	case p[len(p)-1].Name == groupKey:
		var ok bool
		if r.Primary, r.Backup, ok = GroupNamed(text); !ok {
			err = fmt.Errorf("next-hop-group %q is none of ours", text)
		}
	}
	return err
}

// GroupNamed is the inverse of GroupName.
func GroupNamed(name string) (primary, backup southbound.Port, ok bool) {
	a, b, two := strings.Cut(name, "-")
	primary, ok = portSuffix(a, "p")
	backup = southbound.NoPort
	if two && ok {
		backup, ok = portSuffix(b, "b")
	}
	return primary, backup, ok
}

func (p SRLinux) operState(l schema.Leaf) (port southbound.Port, up, ok bool) {
	if len(l.Path) != 2 || l.Path[0].Name != "interface" || l.Path[1].Name != "oper-state" {
		return 0, false, false
	}
	port, ok = p.interfaceNamed(l.Path[0].Key("name"))
	return port, l.Value == "up", ok
}

// NewDecoder implements Profile.
func (p SRLinux) NewDecoder() Decoder {
	return &statusDecoder{down: map[southbound.Port]bool{}, read: p.operState, port: func(g schema.Path) (southbound.Port, bool) {
		if len(g) == 0 || g[0].Name != "interface" {
			return 0, false
		}
		return p.interfaceNamed(g[0].Key("name"))
	}}
}
