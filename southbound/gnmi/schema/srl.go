package schema

// SRLModule is the name of SR Linux's policy-forwarding model in Capabilities: namespace and module,
// joined by a colon.
const SRLModule = SRLNamespace + ":" + SRLModuleName

// SRLNamespace is that of the model since release 24; before, it was urn:srl_nokia/policy-forwarding.
// SRLModuleName is the name without it.
const (
	SRLNamespace  = "urn:nokia.com:srlinux:acl:policy-forwarding"
	SRLModuleName = "srl_nokia-policy-forwarding"
)

// SRLRules is how many rules a forwarding policy of SR Linux can hold: the range of srl_nokia-common's
// rule-sequence-id is 0 to
// 128.
const SRLRules = 128

// SRLinux returns the native model of SR Linux packet switches: policy forwarding, groups of next hops,
// static routes and interfaces. Configuration and state share their paths.
//
// Names and types are those of the modules srl_nokia-policy-forwarding (revision 2025-03-31),
// srl_nokia-next-hop-groups, srl_nokia-static-routes and srl_nokia-interfaces of
// github.com/nokia/srlinux-yang-models, tag v25.3.1. A rule's next hop is offered by forwarding
// policies of type pbr-policy on platforms with the feature policy-based-forwarding-nh-transport;
// releases before 23.7 match no destination and know no next hop.
func SRLinux() *Model {
	const (
		ni     = "/network-instance[name]"
		policy = ni + "/policy-forwarding/policy[policy-id]"
		rule   = policy + "/rule[sequence-id]"
		apply  = ni + "/policy-forwarding/interface[subinterface]"
		group  = ni + "/next-hop-groups/group[name]"
		route  = ni + "/static-routes/route[prefix]"
		state  = "/interface[name]"
	)
	admin := Enum("enable", "disable")
	return newModel("srl-native", []Module{
		{"urn:srl_nokia/network-instance:srl_nokia-network-instance", "Nokia", "2025-03-31"},
		{SRLModule, "Nokia", "2025-03-31"},
		{"urn:srl_nokia/interfaces:srl_nokia-interfaces", "Nokia", "2025-03-31"},
	}, []Row{
		{Path: policy + "/type", Type: Enum("pbr-policy", "vrf-selection-policy")},
		{Path: rule + "/sequence-id", Type: Uint(32)},
		{Path: rule + "/description", Type: String()},
		{Path: rule + "/match/ipv4/destination-ip/prefix", Type: Prefix()},
		{Path: rule + "/match/ipv4/source-ip/prefix", Type: Prefix()},
		{Path: rule + "/match/ipv4/dscp-set", Type: ListOf(Uint(8))},
		{Path: rule + "/action/next-hop", Type: Address()},
		{Path: apply + "/apply-forwarding-policy", Type: String()},
		{Path: group + "/admin-state", Type: admin},
		{Path: group + "/nexthop[index]/index", Type: Uint(16)},
		{Path: group + "/nexthop[index]/ip-address", Type: Address()},
		{Path: group + "/nexthop[index]/admin-state", Type: admin},
		{Path: route + "/next-hop-group", Type: String()},
		{Path: route + "/admin-state", Type: admin},
		{Path: state + "/admin-state", Type: admin, State: true},
		{Path: state + "/statistics/in-octets", Type: Uint(64), State: true, Counter: true},
		{Path: state + "/statistics/in-packets", Type: Uint(64), State: true, Counter: true},
		{Path: state + "/statistics/out-octets", Type: Uint(64), State: true, Counter: true},
		{Path: state + "/statistics/out-packets", Type: Uint(64), State: true, Counter: true},
		{Path: state + "/statistics/out-discarded-packets", Type: Uint(64), State: true, Counter: true},
		{Path: state + "/oper-state", Type: Enum("up", "down", "testing"), State: true},
	})
}
