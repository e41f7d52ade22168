package schema

// lldpRows are the leaves for a switch's neighbours (openconfig-lldp). Times that change all the time
// are sampled.
func lldpRows() []Row {
	const (
		port = "/lldp/interfaces/interface[name]"
		n    = port + "/neighbors/neighbor[id]/state"
	)
	return []Row{
		{Path: port + "/state/name", Type: String()},
		{Path: n + "/id", Type: String()},
		{Path: n + "/chassis-id", Type: String()},
		{Path: n + "/chassis-id-type", Type: Enum("CHASSIS_COMPONENT", "INTERFACE_ALIAS",
			"PORT_COMPONENT", "MAC_ADDRESS",
			"NETWORK_ADDRESS", "INTERFACE_NAME", "LOCAL")},
		{Path: n + "/port-id", Type: String()},
		{Path: n + "/port-id-type", Type: Enum("INTERFACE_ALIAS", "PORT_COMPONENT", "MAC_ADDRESS",
			"NETWORK_ADDRESS",
			"INTERFACE_NAME", "AGENT_CIRCUIT_ID", "LOCAL")},
		{Path: n + "/port-description", Type: String()},
		{Path: n + "/system-name", Type: String()},
		{Path: n + "/ttl", Type: Uint(16)},
		{Path: n + "/age", Type: Uint(64), Counter: true},
		{Path: n + "/last-update", Type: Int(64), Counter: true},
	}
}
