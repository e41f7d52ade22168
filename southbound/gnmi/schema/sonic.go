package schema

// SONiCOrigin is the origin of paths into SONiC's databases.
const SONiCOrigin = "sonic-db"

// SONiCModule is the name of SONiC's database model in Capabilities.
const SONiCModule = "sonic-db"

// OCSTables are the names in SONiC's databases that differ between the published variants of its
// optical circuit switch support.
type OCSTables struct {
	Ports, Connects         string // of the configuration
	Override                string // the field of a port's configuration that blocks it
	PortState, ConnectState string // of the state
	PortStatus              string // the field of a port's state
	// Status is the field of a cross-connect's state; Sides are those of its two ends, in a variant that
	// has no status of the whole.
	Status string
	Sides  [2]string
	// Factory is the table of what circuits lost when the switch was made: a row is a cross-connect, a frequency in THz
	// and a temperature in °C, as "1A-2B|193.100|25.00".
	Factory string
}

// ForkOCSTables are the names of the fork github.com/sonic-molex/sonic-buildimage, sonic-ocs.yang.
func ForkOCSTables() OCSTables {
	return OCSTables{Ports: "OCS_PORT", Connects: "OCS_CROSS_CONNECT", Override: "config_status",
		PortState: "OCS_PORT_TABLE", ConnectState: "OCS_CROSS_CONNECT_TABLE", PortStatus: "oper_status", Status: "status",
		Factory: "OCS_FACTORY_INSERTION_LOSS_TABLE"}
}

// HLDOCSTables are the names of the community's design document, github.com/sonic-net/SONiC
// doc/ocs/ocs_hld.md 0.5.
func HLDOCSTables() OCSTables {
	return OCSTables{Ports: "OCS_PORT", Connects: "OCS_CROSS_CONNECT", Override: "state",
		PortState:    "OCS_PORT",
		ConnectState: "OCS_CROSS_CONNECT", PortStatus: "status", Sides: [2]string{"a_side_status",
			"b_side_status"}, Factory: "OCS_FACTORY_INSERTION_LOSS"}
}

// SONiCOCS returns the model of optical circuit switches that run SONiC: the tables of its databases.
// Every value of theirs is a string; an insertion loss that was not measured is "N/A".
func SONiCOCS(t OCSTables) *Model {
	const config, state = "/CONFIG_DB/localhost/", "/STATE_DB/localhost/"
	ports, connect := state+t.PortState+"{key}/", state+t.ConnectState+"{key}/"
	rows := []Row{
		{Path: config + t.Ports + "{key}/label", Type: String()},
		{Path: config + t.Connects + "{key}/a_side", Type: String()},
		{Path: config + t.Connects + "{key}/b_side", Type: String()},
		{Path: ports + "connector_type", Type: String(), State: true},
		{Path: ports + "connector_pin", Type: String(), State: true},
		{Path: ports + "target_simplex_port_id", Type: String(), State: true},
		{Path: state + t.Factory + "{key}/loss_dB", Type: String(), State: true},
		{Path: state + t.Factory + "{key}/accuracy_dB", Type: String(), State: true},
	}
	name := "sonic-ocs"
	if t.Status != "" {
		rows = append(rows, Row{Path: config + t.Ports + "{key}/" + t.Override,
			Type: Enum("powered_off", "normal",
				"force_blocked")},
			Row{Path: ports + t.PortStatus, Type: Enum("powered_off", "blocked", "tuning", "connected",
				"failed"), State: true},
			Row{Path: connect + t.Status, Type: Enum("disabled", "enabled", "invalid"), State: true},
			Row{Path: connect + "physical_path", Type: Loose(), State: true},
			Row{Path: connect + "insertion_loss_dB", Type: String(), State: true})
	} else {
		name = "sonic-ocs-hld"
		status := Enum("blocked", "tuning", "tuned", "failed")
		rows = append(rows, Row{Path: config + t.Ports + "{key}/" + t.Override,
			Type: Enum("normal", "force_blocked")},
			Row{Path: ports + t.PortStatus, Type: status, State: true},
			Row{Path: connect + "a_side", Type: String(), State: true},
			Row{Path: connect + "b_side", Type: String(), State: true},
			Row{Path: connect + t.Sides[0], Type: status, State: true},
			Row{Path: connect + t.Sides[1], Type: status, State: true})
	}
	modules := []Module{{SONiCModule, "SONiC", "0.1.0"}, {"sonic-ocs", "SONiC", "2024-11-21"}}
	return withOrigin(newModel(name, modules, rows), SONiCOrigin)
}

// SONiC returns the model of packet switches that run SONiC: access control lists that redirect, static
// routes, and the state of ports.
//
// Counters of ports are those of SAI, under the ports' names. Tables, keys and fields are those of
// sonic-acl.yang.j2 and sonic-static-route.yang of github.com/sonic-net/ sonic-buildimage, but for two
// that its module sonic-acl does not have and orchagent/aclorch.cpp of sonic-swss reads:
// REDIRECT_ACTION, and a DSCP with a mask ("7/7"), where the module has a plain number. A device that
// holds what it is sent against that module refuses both, and needs a module that was extended.
func SONiC() *Model {
	const config, state = "/CONFIG_DB/localhost/", "/STATE_DB/localhost/"
	const rule = config + "ACL_RULE{key}/"
	rows := []Row{ // types are loose: rows of others are read too, whatever they hold
		{Path: config + "ACL_TABLE{key}/policy_desc", Type: String()},
		{Path: config + "ACL_TABLE{key}/type", Type: String()},
		{Path: config + "ACL_TABLE{key}/stage", Type: String()},
		{Path: config + "ACL_TABLE{key}/ports", Type: ListOf(String())},
		{Path: config + "ACL_TABLE{key}/*", Type: Loose()},
		{Path: rule + "PRIORITY", Type: Uint(64)},
		{Path: rule + "REDIRECT_ACTION", Type: String()},
		{Path: rule + "PACKET_ACTION", Type: String()},
		{Path: rule + "SRC_IP", Type: String()},
		{Path: rule + "DST_IP", Type: String()},
		{Path: rule + "DSCP", Type: String()},
		{Path: rule + "*", Type: Loose()},
		{Path: config + "STATIC_ROUTE{key}/nexthop", Type: String()},
		{Path: config + "STATIC_ROUTE{key}/distance", Type: String()},
		{Path: state + "PORT_TABLE{key}/netdev_oper_status", Type: Enum("up", "down"), State: true},
	}
	for _, name := range []string{"IN_OCTETS", "IN_UCAST_PKTS", "OUT_OCTETS", "OUT_UCAST_PKTS",
		"OUT_DISCARDS"} {
		rows = append(rows, Row{Path: "/COUNTERS_DB/localhost/COUNTERS{key}/SAI_PORT_STAT_IF_" + name,
			Type:  Uint(64),
			State: true, Counter: true})
	}
	return withOrigin(newModel("sonic", []Module{{SONiCModule, "SONiC", "0.1.0"}}, rows), SONiCOrigin)
}

// withOrigin gives every path of a model an origin.
func withOrigin(m *Model, origin string) *Model {
	m.Origins = map[string]string{}
	for _, top := range m.Root.Order {
		m.Origins[top] = origin
	}
	return m
}
