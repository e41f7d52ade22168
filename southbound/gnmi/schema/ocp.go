package schema

// OCPVersion is the revision of the Open Compute OCS model that this package holds. The model is a strawman: a driver
// refuses a device that speaks another version.
const OCPVersion = "0.8.0"

// OCPModule is the name of that model in Capabilities.
const OCPModule = "ocp-optical-switch"

// OCP returns the model of optical circuit switches: the Open Compute OCS sub-project's, revision 2026-08-28.
func OCP() *Model {
	const (
		conn  = "/connections/port-connection[name]"
		group = "/optical-switch/state/port-groups[name]"
		port  = "/components/component[name]/ocp-ocs-port"
	)
	recovery := Enum("MAINTAIN", "RESTORE", "REMOVE")
	return newModel("ocp", []Module{{OCPModule, "Open Compute Project", OCPVersion}}, []Row{
		{Path: "/optical-switch/config/bidirectional", Type: Bool()},
		{Path: "/optical-switch/config/cold-boot-recovery", Type: recovery},
		{Path: "/optical-switch/state/bidirectional", Type: Bool()},
		{Path: "/optical-switch/state/cold-boot-recovery", Type: recovery},
		{Path: "/optical-switch/state/connection-recovery-capability", Type: ListOf(recovery)},
		{Path: "/optical-switch/state/counters/dropped-packets", Type: Uint(64), Counter: true},
		{Path: group + "/direction", Type: Enum("INPUT-ONLY", "OUTPUT-ONLY", "ANY")},
		{Path: group + "/connection-groups[peer-name]/peer-name", Type: String()},
		{Path: "/connections/last-change-time", Type: Uint(64), State: true},
		{Path: conn + "/config/name", Type: String()},
		{Path: conn + "/config/input-port-name", Type: String()},
		{Path: conn + "/config/output-port-name", Type: String()},
		{Path: conn + "/state/status", Type: Enum("CONNECTED", "PENDING_CONNECTION", "PENDING_DELETION", "FAILED",
			"INVALID")},
		{Path: conn + "/state/status-reason", Type: String()},
		{Path: conn + "/state/last-updated", Type: Uint(64)},
		{Path: port + "/config/enabled", Type: Bool()},
		{Path: port + "/config/alias", Type: String()},
		{Path: port + "/config/description", Type: String()},
		{Path: port + "/state/group", Type: String()},
		{Path: port + "/state/index", Type: Uint(32)},
		{Path: port + "/state/status", Type: Enum("BLOCKED", "TUNING", "TUNED", "FAILED", "UNKNOWN")},
		{Path: port + "/state/input-optical-power", Type: Decimal(2)},
		{Path: port + "/state/output-optical-power", Type: Decimal(2)},
		{Path: port + "/state/connection/peer", Type: String()},
		{Path: port + "/state/connection/connected", Type: Bool()},
	})
}
