package probe

import (
	"context"
	"fmt"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// PortCounters are what has passed a port, of layer 2.
type PortCounters struct {
	InOctets, OutOctets, OutDiscards uint64
}

// Counters are what a packet switch has counted (openconfig-interfaces and openconfig-platform).
type Counters struct {
	Ports   map[southbound.Port]PortCounters
	NoRoute uint64 // packets that met a dark or unmatched port
}

// ReadCounters reads the counters of a packet switch. A switch that has none gives none.
func ReadCounters(ctx context.Context, c gpb.GNMIClient) (Counters, error) {
	out := Counters{Ports: map[southbound.Port]PortCounters{}}
	leaves, err := Get(ctx, c, schema.OpenConfig(), []schema.Path{schema.Path(nil).With("interfaces"), schema.Path(nil).With("components")})
	if err != nil {
		return out, fmt.Errorf("read counters: %w", err)
	}
	for _, l := range leaves {
		n, ok := l.Value.(uint64)
		if !ok {
			continue
		}
		last := l.Path[len(l.Path)-1].Name
		if last == "no-route" {
			out.NoRoute += n
		}
		if len(l.Path) != 5 || l.Path[3].Name != "counters" || len(l.Path[1].Keys) != 1 {
			continue
		}
		port, ok := gnmi.PortNamed(l.Path[1].Keys[0].Value)
		if !ok {
			continue
		}
		p := out.Ports[port]
		switch last {
		case "in-octets":
			p.InOctets = n
		case "out-octets":
			p.OutOctets = n
		case "out-discards":
			p.OutDiscards = n
		}
		out.Ports[port] = p
	}
	return out, nil
}
