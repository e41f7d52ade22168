package schema

import (
	"slices"
	"sync"
)

// OpenConfig returns the model of packet switches: policy forwarding (openconfig-policy-forwarding),
// static next hops and groups of them (openconfig-network-instance-static), and interfaces. Every
// config leaf has its twin in state.
func OpenConfig() *Model { return openConfig() }

// openConfig makes the model once: all packet switches of a large fabric have it, on both ends.
var openConfig = sync.OnceValue(func() *Model {
	const (
		ni     = "/network-instances/network-instance[name]"
		policy = ni + "/policy-forwarding/policies/policy[policy-id]"
		rule   = policy + "/rules/rule[sequence-id]"
		apply  = ni + "/policy-forwarding/interfaces/interface[interface-id]"
		group  = ni + "/static/next-hop-groups/next-hop-group[name]"
		hop    = ni + "/static/next-hops/next-hop[index]"
	)
	rows := append(append(interfaceRows(), counterRows()...), queueRows()...)
	rows = append(rows, []Row{
		{Path: "/components/component[name]/state/name", Type: String()},
		{Path: "/components/component[name]/state/oper-status",
			Type: Identity("openconfig-platform-types", "ACTIVE",
				"INACTIVE", "DISABLED")},
		{Path: "/components/component[name]/integrated-circuit/pipeline-counters/drop/state/no-route",
			Type:    Uint(64),
			Counter: true},
	}...)
	rows = append(rows, lldpRows()...)
	rows = append(rows, systemRows()...)
	rows = append(rows, portSettingRows()...)
	rows = append(rows, addressRows()...)
	rows = append(rows, Row{Path: annotation, Type: Note()})
	rows = append(rows, monitoredRows()...)
	addLeaf := func(at, leaf string, t Type) { rows = append(rows, configAndState(at, leaf, t)...) }
	addLeaf(ni, "name", String())
	addLeaf(ni, "type", Identity("openconfig-network-instance-types", "DEFAULT_INSTANCE", "L3VRF"))
	addLeaf(policy, "policy-id", String())
	addLeaf(policy, "type", Enum("PBR_POLICY", "VRF_SELECTION_POLICY"))
	addLeaf(rule, "sequence-id", Uint(32))
	addLeaf(rule+"/ipv4", "source-address", Prefix())
	addLeaf(rule+"/ipv4", "destination-address", Prefix())
	addLeaf(rule+"/ipv4", "dscp-set", ListOf(Uint(8)))
	addLeaf(rule+"/action", "next-hop-group", String())
	addLeaf(apply, "interface-id", String())
	addLeaf(apply, "apply-forwarding-policy", String())
	addLeaf(group, "name", String())
	addLeaf(group+"/next-hops/next-hop[index]", "index", String())
	addLeaf(hop, "index", String())
	addLeaf(hop, "next-hop", Address())
	addLeaf(hop, "preference", Uint(32))
	return newModel("openconfig", []Module{
		{"openconfig-if-ip", "OpenConfig working group", "3.7.0"},
		{"openconfig-interfaces", "OpenConfig working group", "3.7.0"},
		{"openconfig-lldp", "OpenConfig working group", "0.2.1"},
		{"openconfig-metadata", "OpenConfig working group", "0.1.0"},
		{"openconfig-network-instance", "OpenConfig working group", "4.5.0"},
		{"openconfig-network-instance-static", "OpenConfig working group", "0.2.1"},
		{"openconfig-policy-forwarding", "OpenConfig working group", "0.8.0"},
		{"openconfig-platform", "OpenConfig working group", "0.30.0"},
		{"openconfig-qos", "OpenConfig working group", "0.11.2"},
		{"openconfig-system", "OpenConfig working group", "0.17.1"},
	}, rows)
})

// queueRows are the openconfig-qos leaves for what passes a port's queues and for their lengths, in
// bytes. All change all the time, so they are counters, for which no update is sent on each change.
func queueRows() (rows []Row) {
	for _, name := range []string{"max-queue-len", "avg-queue-len", "transmit-octets",
		"transmit-pkts", "dropped-pkts"} {
		rows = append(rows, Row{Path: "/qos/interfaces/interface[interface-id]/output/queues/queue[name]/state/" + name,
			Type: Uint(64), Counter: true})
	}
	return rows
}

// monitoredRows are leaves that monitors subscribe to at any switch, and which ours has nothing to say
// of: its ports are no hardware, and it has neither LACP nor kinds of packets. A subscription to them
// is no error, and tells nothing.
func monitoredRows() []Row {
	rows := []Row{
		{Path: interfacePath + "/state/hardware-port", Type: String()},
		{Path: interfacePath + "/state/physical-channel", Type: ListOf(Uint(16))},
		{Path: interfacePath + "/state/transceiver", Type: String()},
		{Path: interfacePath + "/state/id", Type: Uint(32)},
		{Path: interfacePath + "/state/forwarding-viable", Type: Bool()},
		{Path: interfacePath + "/ethernet/state/mac-address", Type: String()},
		{Path: interfacePath + "/ethernet/state/port-speed",
			Type: Identity("openconfig-if-ethernet", "SPEED_100MB",
				"SPEED_1GB", "SPEED_10GB", "SPEED_25GB", "SPEED_40GB", "SPEED_100GB", "SPEED_400GB", "SPEED_UNKNOWN")},
		{Path: "/components/component[name]/state/parent", Type: String()},
		{Path: "/components/component[name]/integrated-circuit/state/node-id", Type: Uint(64)},
		{Path: "/lacp/interfaces/interface[name]/members/member[interface]/state/interface", Type: String()},
	}
	for _, name := range []string{"in-unicast-pkts", "in-broadcast-pkts", "in-multicast-pkts",
		"in-discards", "in-errors",
		"in-fcs-errors", "out-unicast-pkts", "out-broadcast-pkts", "out-multicast-pkts", "out-errors"} {
		rows = append(rows, Row{Path: interfacePath + "/state/counters/" + name, Type: Uint(64), Counter: true})
	}
	return rows
}

// counterRows are what openconfig-interfaces counts at a port.
func counterRows() (rows []Row) {
	for _, name := range []string{"in-octets", "in-pkts", "out-octets", "out-pkts", "out-discards"} {
		rows = append(rows, Row{Path: interfacePath + "/state/counters/" + name, Type: Uint(64), Counter: true})
	}
	return rows
}

// systemRows are what openconfig-system says of a switch as a whole. Times are nanoseconds since 1970;
// what a clock shows changes all the time.
func systemRows() []Row {
	rows := []Row{
		{Path: "/system/state/boot-time", Type: Uint(64)},
		{Path: "/system/state/current-datetime", Type: DateTime(), Counter: true},
	}
	for _, leaf := range []string{"hostname", "domain-name", "login-banner", "motd-banner"} {
		rows = append(rows, Row{Path: "/system/config/" + leaf, Type: String()},
			Row{Path: "/system/state/" + leaf,
				Type: String()})
	}
	return rows
}

// portSettingRows are what openconfig-interfaces lets one set at a port, and what then holds.
func portSettingRows() []Row {
	rows := []Row{{Path: interfacePath + "/config/name", Type: String()}} // its state is with the port's others
	return slices.Concat(rows, configAndState(interfacePath, "description", String()),
		configAndState(interfacePath, "enabled", Bool()),
		configAndState(interfacePath, "type", Identity("iana-if-type", "ethernetCsmacd")))
}

// annotation is what OpenConfig's clients write beside a whole configuration, to know it again: JSON
// metadata of its root (RFC 7952, openconfig-metadata). It is of no data model.
const annotation = "/@/openconfig-metadata:protobuf-metadata"

// addressRows are the addresses of a port, which openconfig-if-ip keeps at its subinterface.
func addressRows() (rows []Row) {
	const sub = interfacePath + "/subinterfaces/subinterface[index]"
	rows = slices.Concat(configAndState(sub, "index", Uint(32)), configAndState(sub, "enabled", Bool()),
		configAndState(sub, "description", String()))
	for _, x := range []struct {
		at      string
		address Type
	}{{sub + "/ipv4", Address()}, {sub + "/ipv6", Address6()}} {
		rows = append(rows, slices.Concat(configAndState(x.at, "enabled", Bool()),
			configAndState(x.at+"/addresses/address[ip]", "ip", x.address),
			configAndState(x.at+"/addresses/address[ip]", "prefix-length", Uint(8)))...)
	}
	return rows
}

// configAndState are a leaf that is configured, and the state of what then holds.
func configAndState(at, leaf string, t Type) []Row {
	return []Row{{Path: at + "/config/" + leaf, Type: t}, {Path: at + "/state/" + leaf, Type: t}}
}

// interfacePath is where a port is.
const interfacePath = "/interfaces/interface[name]"

// interfaceRows are what openconfig-interfaces says of a port's state.
func interfaceRows() []Row {
	return []Row{
		{Path: interfacePath + "/state/name", Type: String()},
		{Path: interfacePath + "/state/admin-status", Type: Enum("UP", "DOWN", "TESTING")},
		{Path: interfacePath + "/state/oper-status",
			Type: Enum("UP", "DOWN", "TESTING", "UNKNOWN", "DORMANT", "NOT_PRESENT",
				"LOWER_LAYER_DOWN")},
		{Path: interfacePath + "/state/last-change", Type: Uint(64)},
	}
}
