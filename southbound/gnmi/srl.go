package gnmi

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// SRLinux is the profile of SR Linux packet switches in their native model: one forwarding policy of
// type pbr-policy, whose rules send what they match to the address at a port's far end. A forwarding
// policy holds schema.SRLRules rules: those of ours that differ in their tags alone are one of the
// policy's. They are tried by sequence-id: the profile keeps the numbers of rules that stand and gives
// new ones a number between those of the more and the less specific. A rule's backup is for the
// controller's eyes only, in its description.
type SRLinux struct {
	Ports, Racks int32

	// Flags of vendor and site.
	InstanceName     string // of the network-instance; "" means default
	Interface        string // format of an interface's name, by number from 1; "" means "ethernet-1/%d"
	ControllerBackup bool   // take rules with a backup, which the device does not fall back to by itself
}

var _ Profile = SRLinux{}

func (p SRLinux) openConfig() OpenConfig { return OpenConfig{Ports: p.Ports, Racks: p.Racks} }

func (p SRLinux) instance() schema.Path {
	return schema.Path(nil).Entry("network-instance", "name", cmp.Or(p.InstanceName, "default"))
}
func (p SRLinux) policy() schema.Path {
	return p.instance().With("policy-forwarding").Entry("policy", "policy-id", ForwardingPolicy)
}
func (p SRLinux) rulePath(seq uint32) schema.Path {
	return p.policy().Entry("rule", "sequence-id", strconv.FormatUint(uint64(seq), 10))
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

// Check implements Profile. Releases differ in the namespace that they put before the module's name.
func (SRLinux) Check(c *gpb.CapabilityResponse) error {
	for _, m := range c.GetSupportedModels() {
		if strings.HasSuffix(m.GetName(), ":"+schema.SRLModuleName) ||
			strings.HasPrefix(m.GetName(), schema.SRLNamespace) {
			return nil
		}
	}
	return hasModel(c, schema.SRLModule, "")
}

// ConfigPaths implements Profile: what number a rule has is known from the device only.
func (p SRLinux) ConfigPaths() []schema.Path { return []schema.Path{p.policy()} }

// StatePaths implements Profile.
func (p SRLinux) StatePaths() []schema.Path {
	return append([]schema.Path{p.policy(), p.bindings()}, p.WatchPaths()...)
}

// bindings are the subinterfaces that forwarding policies are applied to.
func (p SRLinux) bindings() schema.Path { return p.instance().With("policy-forwarding", "interface") }

// applied reports whether the forwarding policy is applied to every port: its rules are in effect only then.
func (p SRLinux) applied(state []schema.Leaf) bool {
	on := map[southbound.Port]bool{}
	for _, l := range state {
		if at := p.bindings(); len(l.Path) > len(at) && at.Match(l.Path) && l.Value == ForwardingPolicy {
			if port, ok := p.SubinterfaceNamed(l.Path[len(at)-1].Key("subinterface")); ok {
				on[port] = true
			}
		}
	}
	return int32(len(on)) == p.Ports
}

// WatchPaths implements Profile.
func (p SRLinux) WatchPaths() []schema.Path {
	return []schema.Path{schema.Path(nil).Entry("interface", "name", schema.Any).With("oper-state")}
}

// Seen implements Profile.
func (p SRLinux) Seen(state []schema.Leaf) (southbound.Seen, error) {
	var seen southbound.Seen
	rules, err := p.Rules(state)
	if err != nil {
		return southbound.Seen{}, err
	}
	if p.applied(state) {
		for _, seq := range sortedSequences(rules) {
			seen.Rules = append(seen.Rules, rules[seq]...)
		}
	}
	for _, l := range state {
		if port, up, ok := p.operState(l); ok && !up {
			seen.Down = append(seen.Down, port)
		}
	}
	slices.SortFunc(seen.Rules, byMatch)
	slices.Sort(seen.Down)
	return seen, nil
}

// Rules reads the rules of our forwarding policy, by sequence-id: one for each tag that a rule of the
// policy matches.
func (p SRLinux) Rules(leaves []schema.Leaf) (map[uint32][]southbound.Rule, error) {
	policy, all := p.policy(), map[uint32]*srlRule{}
	for _, l := range leaves {
		if !policy.Match(l.Path) || len(l.Path) <= len(policy)+1 {
			continue
		}
		seq, ok := ParseSequence(l.Path[len(policy)].Key("sequence-id"))
		if !ok {
			return nil, fmt.Errorf("read rule %q: its sequence-id is no number",
				l.Path[len(policy)].Key("sequence-id"))
		}
		r := all[seq]
		if r == nil {
			r = &srlRule{tags: []southbound.Tag{southbound.AnyTag}, Rule: southbound.Rule{Match: southbound.Match{
				Dst: southbound.AnyRack, Src: southbound.AnyRack}, Primary: southbound.NoPort, Backup: southbound.NoPort}}
			all[seq] = r
		}
		if err := r.read(l); err != nil {
			return nil, fmt.Errorf("read rule %d: %w", seq, err)
		}
	}
	out := make(map[uint32][]southbound.Rule, len(all))
	for _, seq := range sortedSequences(all) {
		r := all[seq]
		if r.Dst == southbound.AnyRack || r.Primary == southbound.NoPort {
			return nil, fmt.Errorf("read rule %d: it has no destination or no next hop", seq)
		}
		for _, t := range r.tags {
			one := r.Rule
			one.Tag = t
			out[seq] = append(out[seq], one)
		}
	}
	return out, nil
}

// srlRule is a rule of a forwarding policy: what it says of each of its tags.
type srlRule struct {
	southbound.Rule
	tags []southbound.Tag
}

func (r *srlRule) read(l schema.Leaf) (err error) {
	text, _ := l.Value.(string)
	switch p := l.Path; {
	case p[len(p)-2].Name == "destination-ip":
		r.Dst, err = rackOf(text)
	case p[len(p)-2].Name == "source-ip":
		r.Src, err = rackOf(text)
	case p[len(p)-1].Name == "dscp-set":
		set, _ := l.Value.([]schema.Value)
		var ok bool
		if r.tags, ok = tagsOfDSCPs(set); !ok {
			err = fmt.Errorf("dscp-set %v is not the eight priorities of each of its tags", l.Value)
		}
	case p[len(p)-1].Name == "next-hop":
		r.Primary, err = portOfHop(text)
	case p[len(p)-1].Name == "description":
		if digits, ok := strings.CutPrefix(text, srlBackup); ok {
			if r.Backup, ok = portSuffix(digits, ""); !ok {
				err = fmt.Errorf("description %q names no port", text)
			}
		}
	}
	return err
}

// portOfHop returns the port that an address leads to.
func portOfHop(text string) (southbound.Port, error) {
	a, err := netip.ParseAddr(text)
	port, ok := NextHopPort(a)
	if err != nil || !ok {
		return 0, fmt.Errorf("next hop %q: no port leads there", text)
	}
	return port, nil
}

// PortLeaves are the state of a port.
func (p SRLinux) PortLeaves(port southbound.Port, up bool) []schema.Leaf {
	at, state := schema.Path(nil).Entry("interface", "name", p.interfaceName(port)), "down"
	if up {
		state = "up"
	}
	return []schema.Leaf{{Path: at.With("admin-state"), Value: "enable"},
		{Path: at.With("oper-state"), Value: state}}
}

// Subinterface is the name of what a forwarding policy is applied to.
func (p SRLinux) Subinterface(port southbound.Port) string { return p.interfaceName(port) + ".0" }

// SubinterfaceNamed is the inverse of Subinterface.
func (p SRLinux) SubinterfaceNamed(name string) (southbound.Port, bool) {
	base, ok := strings.CutSuffix(name, ".0")
	port, isPort := p.interfaceNamed(base)
	return port, ok && isPort
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
	return newStatusDecoder(statusDecoder{ports: p.Ports, name: p.interfaceName, read: p.operState,
		port: func(g schema.Path) (southbound.Port, bool) {
			if len(g) == 0 || g[0].Name != "interface" {
				return 0, false
			}
			return p.interfaceNamed(g[0].Key("name"))
		}})
}
