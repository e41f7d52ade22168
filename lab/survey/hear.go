package survey

import (
	"context"
	"fmt"
	"time"

	"lightloom/controller/audit"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/lldp"
)

// Expected is the planned cabling of a fabric: for each port of its optical switch, the port of the
// switch behind it.
func Expected(f *topo.Fabric) audit.Map {
	t := f.Topology
	m := audit.NewMap(int(t.Ports(f.OCSNode)))
	for p := range m.In {
		if l := t.OutPort(f.OCSNode, int32(p)); l != pathmap.None {
			e := audit.End{Chassis: t.Node(t.Link(l).To).Name,
				Port: gnmi.InterfaceName(southbound.Port(t.Link(l).ToPort))}
			m.In[p], m.Out[p] = e, e
		}
	}
	return m
}

// Neighbors returns the neighbours that one switch hears.
type Neighbors func(ctx context.Context) ([]lldp.Heard, error)

// Ears makes the Hear of a Site from the switches behind the optical one. names and ask have equal length.
func Ears(names []string, ask []Neighbors) func(context.Context, time.Duration) ([]audit.Heard,
	[]string, error) {
	return func(ctx context.Context, since time.Duration) (heard []audit.Heard, notes []string, err error) {
		for i, name := range names {
			all, err := ask[i](ctx)
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			if err != nil {
				notes = append(notes, fmt.Sprintf("switch %s cannot be asked, so that its fibres count as dead: %v", name, err))
				continue
			}
			for _, h := range all {
				fresh, err := h.Within(since)
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
