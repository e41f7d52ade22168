package survey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lightloom/controller/audit"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/lldp"
)

// Expected is the planned cabling of a fabric: for each port of each optical switch, the port of the
// switch behind it.
func Expected(f *topo.Fabric) audit.Map {
	var ends []audit.End
	for ocs := range pathmap.NodeID(f.OCSes()) {
		for p := range f.Topology.Ports(f.OCSNode + ocs) {
			ends = append(ends, endBehind(f, f.OCSNode+ocs, p))
		}
	}
	return audit.Map{In: ends, Out: slices.Clone(ends)}
}

// endBehind returns what is planned to be behind a port of an optical switch.
func endBehind(f *topo.Fabric, ocs pathmap.NodeID, port int32) audit.End {
	id := f.Topology.OutPort(ocs, port)
	if id == pathmap.None {
		return audit.End{}
	}
	l := f.Topology.Link(id)
	return audit.End{Chassis: f.Topology.Node(l.To).Name, Port: gnmi.InterfaceName(southbound.Port(l.ToPort))}
}

// EndNames says what the ends of a fabric are called in findings: of a pod also by their faces. nil for others.
func EndNames(f *topo.Fabric) func(audit.End) string {
	if !f.Spec.Pod() {
		return nil
	}
	faces := map[audit.End]string{}
	for p := range int32(f.OCSPorts()) {
		ocs, own := f.OCSAt(p)
		faces[endBehind(f, ocs, own)] = f.Face(p)
	}
	return func(e audit.End) string {
		if face, ok := faces[e]; ok {
			return fmt.Sprintf("%v (%s)", e, face)
		}
		return e.String()
	}
}

// Neighbors returns the neighbours that one switch hears.
type Neighbors func(ctx context.Context) ([]lldp.Heard, error)

// Ears makes the Hear of a Site from the switches behind the optical one. names and ask have equal length.
func Ears(names []string, ask []Neighbors) func(context.Context, time.Duration) ([]audit.Heard,
	[]string, error) {
	return func(ctx context.Context, since time.Duration) (heard []audit.Heard, notes []string, err error) {
		began := time.Now()
		for i, name := range names {
			age := since + time.Since(began) // of the circuits when this switch is asked
			all, err := ask[i](ctx)
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			if err != nil {
				notes = append(notes, fmt.Sprintf("switch %s cannot be asked, so that its fibres count as dead: %v", name, err))
				continue
			}
			for _, h := range all {
				fresh, err := h.Within(age)
				if err != nil {
					return nil, nil, fmt.Errorf("switch %s: %w: wait longer with --settle, or announce with a "+
						"shorter time to live", name, err)
				}
				if fresh {
					heard = append(heard, audit.Heard{At: audit.End{Chassis: name,
						Port: gnmi.InterfaceName(southbound.Port(h.Port))},
						From: audit.End{Chassis: h.Said.Chassis, Port: h.Said.Port}})
				}
			}
		}
		return heard, notes, nil
	}
}
