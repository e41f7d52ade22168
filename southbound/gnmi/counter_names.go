package gnmi

import (
	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// CounterNames are the names that a model has for what passes a port.
type CounterNames struct {
	InOctets, InPkts, OutOctets, OutPkts, OutDiscards string
}

// put puts the counter of that name into what into gives for the port; false for any other leaf.
func (n CounterNames) put(name string, v schema.Value, port southbound.Port,
	into func(southbound.Port) *southbound.PortCounters) bool {
	count, ok := v.(uint64)
	switch {
	case !ok:
		return false
	case name == n.InOctets:
		into(port).InOctets = count
	case name == n.OutOctets:
		into(port).OutOctets = count
	case name == n.OutDiscards:
		into(port).OutDiscards = count
	default:
		return false
	}
	return true
}

var (
	_ Counts = OpenConfig{}
	_ Counts = OpenConfigPlain{}
	_ Counts = SRLinux{}
	_ Counts = SONiC{}
)

// OpenConfigCounters are the names of openconfig-interfaces.
func OpenConfigCounters() CounterNames {
	return CounterNames{InOctets: "in-octets", InPkts: "in-pkts", OutOctets: "out-octets", OutPkts: "out-pkts",
		OutDiscards: "out-discards"}
}

// CounterPaths implements Counts.
func (OpenConfig) CounterPaths() []schema.Path {
	return []schema.Path{schema.Path{{Name: "interfaces"}}.Entry("interface", "name", schema.Any).
		With("state", "counters")}
}

// Count implements Counts.
func (p OpenConfig) Count(l schema.Leaf, into func(southbound.Port) *southbound.PortCounters) bool {
	if len(l.Path) != 5 || l.Path[1].Name != "interface" || l.Path[2].Name != "state" ||
		l.Path[3].Name != "counters" {
		return false
	}
	port, ok := PortNamed(l.Path[1].Key("name"))
	return ok && int32(port) < p.Ports && OpenConfigCounters().put(l.Path[4].Name, l.Value, port, into)
}

// CounterPaths implements Counts.
func (OpenConfigPlain) CounterPaths() []schema.Path { return OpenConfig{}.CounterPaths() }

// Count implements Counts.
func (p OpenConfigPlain) Count(l schema.Leaf, into func(southbound.Port) *southbound.PortCounters) bool {
	return OpenConfig{Ports: p.Ports}.Count(l, into)
}

// SRLinuxCounters are the names of srl_nokia-interfaces.
func SRLinuxCounters() CounterNames {
	return CounterNames{InOctets: "in-octets", InPkts: "in-packets", OutOctets: "out-octets",
		OutPkts:     "out-packets",
		OutDiscards: "out-discarded-packets"}
}

// StatisticsPath is where a port's counters are.
func (p SRLinux) StatisticsPath(port southbound.Port) schema.Path {
	return schema.Path(nil).Entry("interface", "name", p.interfaceName(port)).With("statistics")
}

// CounterPaths implements Counts.
func (SRLinux) CounterPaths() []schema.Path {
	return []schema.Path{schema.Path(nil).Entry("interface", "name", schema.Any).With("statistics")}
}

// Count implements Counts.
func (p SRLinux) Count(l schema.Leaf, into func(southbound.Port) *southbound.PortCounters) bool {
	if len(l.Path) != 3 || l.Path[0].Name != "interface" || l.Path[1].Name != "statistics" {
		return false
	}
	port, ok := p.interfaceNamed(l.Path[0].Key("name"))
	return ok && SRLinuxCounters().put(l.Path[2].Name, l.Value, port, into)
}

// SONiCCounters are the names that the switch abstraction interface (SAI) has for a port's counters.
func SONiCCounters() CounterNames {
	return CounterNames{InOctets: "SAI_PORT_STAT_IF_IN_OCTETS", InPkts: "SAI_PORT_STAT_IF_IN_UCAST_PKTS",
		OutOctets: "SAI_PORT_STAT_IF_OUT_OCTETS",
		OutPkts:   "SAI_PORT_STAT_IF_OUT_UCAST_PKTS", OutDiscards: "SAI_PORT_STAT_IF_OUT_DISCARDS"}
}

func portCounters() schema.Path { return database("COUNTERS_DB", "COUNTERS") }

// StatisticsPath is where a port's counters are: the database has them by object id, and the telemetry
// server takes the port's name for it (virtual_db.go of github.com/sonic-net/sonic-gnmi).
func (p SONiC) StatisticsPath(port southbound.Port) schema.Path {
	return row(portCounters(), p.portName(port))
}

// CounterPaths implements Counts: each port for itself, for the whole table would bring queues and
// buffers too.
func (p SONiC) CounterPaths() []schema.Path {
	out := make([]schema.Path, p.Ports)
	for i := range out {
		out[i] = p.StatisticsPath(southbound.Port(i))
	}
	return out
}

// Count implements Counts.
func (p SONiC) Count(l schema.Leaf, into func(southbound.Port) *southbound.PortCounters) bool {
	key, field, ok := cell(portCounters(), l.Path)
	if !ok {
		return false
	}
	port, ok := p.PortNamed(key)
	return ok && SONiCCounters().put(field, l.Value, port, into)
}
