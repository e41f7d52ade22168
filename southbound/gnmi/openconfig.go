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

// OpenConfig is the profile of packet switches. A rule is an entry of one PBR policy, which is applied
// to every port:
//
//   - its sequence-id is given by its match (Sequence), so that a rule with a source comes before one without, and one
//     with a tag before the default of its destination;
//   - destination and source are the racks' /24 prefixes; a tag is the dscp-set of its eight priorities, and AnyTag has
//     no dscp-set;
//   - its action is a next-hop-group: the primary port with preference 1 and, where there is one, the backup with 2;
//   - a next hop names a port by the address of what is at the port's other end (NextHop).
//
// The default of a destination is a PBR rule too, not a static route: one table then holds what is
// tried in which order.
type OpenConfig struct {
	Ports int32
	Racks int32
}

var _ Profile = OpenConfig{}

// The names that the profile chooses.
const (
	Instance         = "DEFAULT"
	ForwardingPolicy = "lightloom"
	pbr              = "PBR_POLICY"
	groupKey         = "next-hop-group"
)

// Preferences of next hops in a group: the smaller one is used while it can be.
const (
	PrimaryPreference = 1
	BackupPreference  = 2
)

// MaxSequenceRacks is how many racks fit in the 32 bits of a sequence-id.
const MaxSequenceRacks = 21844

// tagSlots are the tags and the default.
const tagSlots = southbound.Tags + 1

// Sequence returns the sequence-id of a rule: 1 + (dst·(racks+1) + src)·9 + tag, where "any" is the
// last of its range.
func (p OpenConfig) Sequence(m southbound.Match) uint32 {
	src, tag := uint64(m.Src), uint64(m.Tag)
	if m.Src == southbound.AnyRack {
		src = uint64(p.Racks)
	}
	if m.Tag == southbound.AnyTag {
		tag = southbound.Tags
	}
	return uint32(1 + (uint64(m.Dst)*uint64(p.Racks+1)+src)*tagSlots + tag)
}

// InterfaceName returns the name of a port; PortNamed is its inverse.
func InterfaceName(p southbound.Port) string { return "Ethernet" + strconv.Itoa(int(p)) }

// PortNamed returns the port of an interface name.
func PortNamed(name string) (southbound.Port, bool) { return portSuffix(name, "Ethernet") }

func portSuffix(name, prefix string) (southbound.Port, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.ParseUint(digits, 10, 31)
	return southbound.Port(n), ok && err == nil && strconv.FormatUint(n, 10) == digits
}

// NextHop returns the address of the far end of a port, 169.254.(p>>8).(p&255); NextHopPort is its inverse.
func NextHop(p southbound.Port) netip.Addr {
	return netip.AddrFrom4([4]byte{169, 254, byte(p >> 8), byte(p)})
}

// NextHopPort returns the port of a next hop.
func NextHopPort(a netip.Addr) (southbound.Port, bool) {
	if !a.Is4() {
		return 0, false
	}
	b := a.As4()
	return southbound.Port(b[2])<<8 | southbound.Port(b[3]), b[0] == 169 && b[1] == 254
}

// MaxPorts is how many ports NextHop can name.
const MaxPorts = 1 << 16

// GroupName names the group of a primary and a backup port.
func GroupName(primary, backup southbound.Port) string {
	if backup == southbound.NoPort {
		return hopIndex(primary, PrimaryPreference)
	}
	return hopIndex(primary, PrimaryPreference) + "-" + hopIndex(backup, BackupPreference)
}

func hopIndex(p southbound.Port, preference uint64) string {
	if preference == PrimaryPreference {
		return "p" + strconv.Itoa(int(p))
	}
	return "b" + strconv.Itoa(int(p))
}

// Paths of the profile.
func instancePath() schema.Path {
	return schema.Path{{Name: "network-instances"}}.Entry("network-instance", "name", Instance)
}
func policyPath() schema.Path {
	return instancePath().With("policy-forwarding", "policies").Entry("policy", "policy-id", ForwardingPolicy)
}
func rulePath(seq uint32) schema.Path {
	return policyPath().With("rules").Entry("rule", "sequence-id", strconv.FormatUint(uint64(seq), 10))
}
func groupPath(name string) schema.Path {
	return instancePath().With("static", "next-hop-groups").Entry("next-hop-group", "name", name)
}
func hopPath(index string) schema.Path {
	return instancePath().With("static", "next-hops").Entry("next-hop", "index", index)
}
func applyPath(port southbound.Port) schema.Path {
	return instancePath().With("policy-forwarding", "interfaces").Entry("interface", "interface-id",
		InterfaceName(port))
}

// Name implements Profile.
func (OpenConfig) Name() string { return "openconfig" }

// Model implements Profile.
func (OpenConfig) Model() *schema.Model { return schema.OpenConfig() }

// Check implements Profile.
func (OpenConfig) Check(c *gpb.CapabilityResponse) error {
	return cmp.Or(hasModel(c, "openconfig-policy-forwarding", ""),
		hasModel(c, "openconfig-network-instance-static", ""))
}

func hasModel(c *gpb.CapabilityResponse, name, version string) error {
	i := slices.IndexFunc(c.GetSupportedModels(), func(m *gpb.ModelData) bool { return m.GetName() == name })
	switch {
	case i < 0:
		return fmt.Errorf("check capabilities: the device has no model %q: %w", name, southbound.ErrUnsupported)
	case version != "" && c.SupportedModels[i].GetVersion() != version:
		return fmt.Errorf("check capabilities: the device speaks %s %q, this driver %q: %w",
			name, c.SupportedModels[i].GetVersion(), version, southbound.ErrUnsupported)
	}
	return nil
}

// ConfigPaths implements Profile: a writer of rules needs to know nothing.
func (OpenConfig) ConfigPaths() []schema.Path { return nil }

// BaseLeaves are the configuration that rules stand on: the forwarding policy, its application to every
// port, and the next hops.
func (p OpenConfig) BaseLeaves() []schema.Leaf {
	out := []schema.Leaf{
		{Path: policyPath().With("config", "policy-id"), Value: ForwardingPolicy},
		{Path: policyPath().With("config", "type"), Value: pbr},
	}
	for i := range southbound.Port(p.Ports) {
		out = append(out,
			schema.Leaf{Path: applyPath(i).With("config", "interface-id"), Value: InterfaceName(i)},
			schema.Leaf{Path: applyPath(i).With("config", "apply-forwarding-policy"), Value: ForwardingPolicy})
		for _, pref := range []uint64{PrimaryPreference, BackupPreference} {
			at := hopPath(hopIndex(i, pref)).With("config")
			out = append(out,
				schema.Leaf{Path: at.With("index"), Value: hopIndex(i, pref)},
				schema.Leaf{Path: at.With("next-hop"), Value: NextHop(i).String()},
				schema.Leaf{Path: at.With("preference"), Value: pref})
		}
	}
	return out
}

// GroupLeaves are the configuration of one next-hop-group.
func (OpenConfig) GroupLeaves(primary, backup southbound.Port) []schema.Leaf {
	at := groupPath(GroupName(primary, backup))
	out := []schema.Leaf{{Path: at.With("config", "name"), Value: GroupName(primary, backup)}}
	hops := []string{hopIndex(primary, PrimaryPreference)}
	if backup != southbound.NoPort {
		hops = append(hops, hopIndex(backup, BackupPreference))
	}
	for _, h := range hops {
		out = append(out, schema.Leaf{Path: at.With("next-hops").Entry("next-hop", "index",
			h).With("config", "index"),
			Value: h})
	}
	return out
}

// RuleLeaves are the configuration of one rule; with state they are what a device says of it.
func (p OpenConfig) RuleLeaves(r southbound.Rule, state bool) []schema.Leaf {
	seq := p.Sequence(r.Match)
	return RuleLeavesAt(rulePath(seq), seq, GroupName(r.Primary, r.Backup), r.Match, state)
}

// RuleLeavesAt are the leaves of a rule that has another place or another group.
func RuleLeavesAt(at schema.Path, seq uint32, group string, m southbound.Match, state bool) []schema.Leaf {
	where := "config"
	if state {
		where = "state"
	}
	const leaves, below = 5, 3
	out := make([]schema.Leaf, 0, leaves)
	room := make(schema.Path, 0, leaves*(len(at)+below)) // of all paths: a table has thousands
	add := func(v schema.Value, names ...string) {
		from := len(room)
		room = append(room, at...)
		for _, n := range names {
			room = append(room, schema.Elem{Name: n})
		}
		out = append(out, schema.Leaf{Path: slices.Clip(room[from:]), Value: v})
	}
	add(uint64(seq), where, "sequence-id")
	if m.Src != southbound.AnyRack {
		add(southbound.RackPrefix(m.Src).String(), "ipv4", where, "source-address")
	}
	add(southbound.RackPrefix(m.Dst).String(), "ipv4", where, "destination-address")
	if m.Tag != southbound.AnyTag {
		add(dscpSet(m.Tag), "ipv4", where, "dscp-set")
	}
	add(group, "action", where, groupKey)
	return out
}

// priorities are how many DSCPs carry one tag.
const priorities = 8

// dscpSet is the DSCPs that carry one of these tags.
func dscpSet(tags ...southbound.Tag) []schema.Value {
	out := make([]schema.Value, 0, priorities*len(tags))
	for _, t := range tags {
		for prio := range uint64(priorities) {
			out = append(out, prio<<3|uint64(t))
		}
	}
	return out
}

// TagOfDSCPs returns the tag of a dscp-set; false unless it is a tag's eight DSCPs, in any order.
func TagOfDSCPs(set []schema.Value) (southbound.Tag, bool) {
	tags, ok := tagsOfDSCPs(set)
	if !ok || len(tags) != 1 {
		return 0, false
	}
	return tags[0], true
}

// tagsOfDSCPs returns the tags of a dscp-set, sorted; false unless it is the eight DSCPs of each, in
// any order.
func tagsOfDSCPs(set []schema.Value) (tags []southbound.Tag, ok bool) {
	var seen [priorities * southbound.Tags]bool
	for _, v := range set {
		d, isNumber := v.(uint64)
		if !isNumber || d >= uint64(len(seen)) || seen[d] {
			return nil, false
		}
		seen[d] = true
	}
	for t := range southbound.Tag(southbound.Tags) {
		n := 0
		for prio := range priorities {
			if seen[prio<<3|int(t)] {
				n++
			}
		}
		switch n {
		case 0:
		case priorities:
			tags = append(tags, t)
		default:
			return nil, false
		}
	}
	return tags, len(tags) > 0
}
