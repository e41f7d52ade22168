package schema

// OCPVersion is the version of the Open Compute OCS model that this package holds, and OCPRevision its
// date. The model is a strawman: a driver refuses a device that speaks another version. Devices name
// either.
const (
	OCPVersion  = "0.8.0"
	OCPRevision = "2026-08-28"
)

// Names of that model's modules in Capabilities.
const (
	OCPModule            = "ocp-ocs-optical-switch"
	OCPConnectionsModule = "ocp-ocs-optical-switch-connections"
	OCPPortModule        = "ocp-ocs-optical-switch-port"
)

// OCP returns the model of optical circuit switches: the Open Compute OCS sub-project's. A test holds
// it against what is published.
func OCP() *Model {
	const (
		conn   = "/connections/port-connection[name]"
		group  = "/optical-switch/state/port-groups[name]"
		port   = "/components/component[name]/ocp-ocs-port"
		author = "Open Compute Project"
	)
	recovery := Enum("MAINTAIN", "RESTORE", "REMOVE")
	rows := []Row{
		{Path: "/optical-switch/config/bidirectional", Type: Bool()},
		{Path: "/optical-switch/config/cold-boot-recovery", Type: recovery},
		{Path: "/optical-switch/state/bidirectional", Type: Bool()},
		{Path: "/optical-switch/state/cold-boot-recovery", Type: recovery},
		{Path: "/optical-switch/state/connection-recovery-capability", Type: recovery},
		{Path: group + "/direction", Type: Enum("INPUT-ONLY", "OUTPUT-ONLY", "ANY")},
		{Path: group + "/connection-groups[peer-name]/peer-name", Type: String()},
		{Path: "/connections/last-change-time", Type: DateTime(), State: true},
		{Path: conn + "/state/status", Type: Enum("CONNECTED", "PENDING_CONNECTION",
			"PENDING_DELETION", "FAILED",
			"INVALID")},
		{Path: conn + "/state/status-reason", Type: String()},
		{Path: conn + "/state/last-updated", Type: DateTime()},
		{Path: port + "/state/group", Type: String()},
		{Path: port + "/state/index", Type: Uint(32)},
		{Path: port + "/state/status", Type: Enum("BLOCKED", "FAILED", "TUNING", "TUNED", "UNKNOWN")},
		{Path: port + "/state/input-optical-power", Type: Decimal(2)},
		{Path: port + "/state/output-optical-power", Type: Decimal(2)},
		{Path: port + "/state/connection/peer", Type: String()},
		{Path: port + "/state/connection/connected", Type: Bool()},
	}
	for _, where := range []string{"/config/", "/state/"} {
		for _, leaf := range []string{"name", "input-port-name", "output-port-name"} {
			rows = append(rows, Row{Path: conn + where + leaf, Type: String()})
		}
		rows = append(rows, Row{Path: port + where + "enabled", Type: Bool()},
			Row{Path: port + where + "alias", Type: String()}, Row{Path: port + where + "description",
				Type: String()})
	}
	for _, of := range []string{"/state/connection/counters/", "/state/counters/"} {
		for _, leaf := range []string{"correctable-error-count", "total-error-count"} {
			rows = append(rows, Row{Path: port + of + leaf, Type: Uint(64), Counter: true})
		}
	}
	return newModel("ocp", []Module{{OCPModule, author, OCPVersion},
		{OCPConnectionsModule, author, OCPVersion},
		{OCPPortModule, author, OCPVersion}}, rows)
}
