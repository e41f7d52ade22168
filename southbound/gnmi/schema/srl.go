package schema

// SRLModule is the name of the SR Linux network-instance model in Capabilities.
const SRLModule = "urn:nokia.com:srlinux:net-inst:network-instance"

// SRLinux returns the native model of SR Linux packet switches: policy forwarding, groups of next hops, static routes
// and interfaces. Configuration and state share their paths.
func SRLinux() *Model {
	const (
		ni    = "/network-instance[name]"
		rule  = ni + "/policy-forwarding/policy[policy-id]/rule[sequence-id]"
		apply = ni + "/policy-forwarding/interface[interface-id]"
		group = ni + "/next-hop-groups/group[name]"
		route = ni + "/static-routes/route[prefix]"
		state = "/interface[name]"
	)
	admin := Enum("enable", "disable")
	return newModel("srl-native", []Module{
		{SRLModule, "Nokia", ""},
		{"urn:nokia.com:srlinux:net-inst:policy-forwarding", "Nokia", ""},
	}, []Row{
		{Path: rule + "/sequence-id", Type: Uint(32)},
		{Path: rule + "/match/ipv4/destination-ip/prefix", Type: Prefix()},
		{Path: rule + "/match/ipv4/source-ip/prefix", Type: Prefix()},
		{Path: rule + "/match/ipv4/dscp-set", Type: ListOf(Uint(8))},
		{Path: rule + "/action/next-hop-group", Type: String()},
		{Path: apply + "/apply-forwarding-policy", Type: String()},
		{Path: group + "/admin-state", Type: admin},
		{Path: group + "/nexthop[index]/ip-address", Type: Address()},
		{Path: group + "/nexthop[index]/admin-state", Type: admin},
		{Path: route + "/next-hop-group", Type: String()},
		{Path: route + "/admin-state", Type: admin},
		{Path: state + "/oper-state", Type: Enum("up", "down", "testing", "unknown", "dormant", "lower-layer-down"), State: true},
	})
}
