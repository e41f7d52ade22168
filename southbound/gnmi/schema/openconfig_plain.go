package schema

// OpenConfigPlain returns the part of OpenConfig that switches without
// openconfig-network-instance-static have: policy forwarding to next hops, static routes, and
// interfaces. An interop test holds it, and OpenConfig, against the schema that another project has
// generated from the published modules. Paths carry their origin: a switch may know several.
func OpenConfigPlain() *Model {
	const (
		ni     = "/network-instances/network-instance[name]"
		policy = ni + "/policy-forwarding/policies/policy[policy-id]"
		rule   = policy + "/rules/rule[sequence-id]"
		apply  = ni + "/policy-forwarding/interfaces/interface[interface-id]"
		proto  = ni + "/protocols/protocol[identifier][name]"
		static = proto + "/static-routes/static[prefix]"
		hop    = static + "/next-hops/next-hop[index]"
	)
	rows := append(interfaceRows(), counterRows()...)
	twin := func(at, leaf string, t Type) {
		rows = append(rows, Row{Path: at + "/config/" + leaf, Type: t},
			Row{Path: at + "/state/" + leaf, Type: t})
	}
	twin(policy, "policy-id", String())
	twin(policy, "type", Enum("PBR_POLICY", "VRF_SELECTION_POLICY"))
	twin(rule, "sequence-id", Uint(32))
	twin(rule+"/ipv4", "source-address", Prefix())
	twin(rule+"/ipv4", "destination-address", Prefix())
	twin(rule+"/ipv4", "dscp-set", ListOf(Uint(8)))
	twin(rule+"/action", "next-hop", Address())
	twin(apply, "interface-id", String())
	twin(apply, "apply-forwarding-policy", String())
	twin(proto, "identifier", Identity("openconfig-policy-types", "STATIC"))
	twin(proto, "name", String())
	twin(static, "prefix", Prefix())
	twin(hop, "index", String())
	twin(hop, "next-hop", Address())
	return withOrigin(newModel("openconfig-plain", []Module{
		{"openconfig-interfaces", "OpenConfig working group", ""},
		{"openconfig-local-routing", "OpenConfig working group", ""},
		{"openconfig-network-instance", "OpenConfig working group", ""},
		{"openconfig-policy-forwarding", "OpenConfig working group", ""},
	}, rows), "openconfig")
}
