package probe

import (
	"context"
	"fmt"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// PortCounters are what has passed a port, of layer 2.
type PortCounters struct {
	InOctets, OutOctets, OutDiscards uint64
	Queue                            *Queue // nil: the switch does not tell
}

// Queue is how full the queues of a port were seen since the switch counts, in bytes: the fullest of them.
type Queue struct {
	Most, Mean uint64
}

// Counters are what a packet switch has counted (openconfig-interfaces, openconfig-platform and
// openconfig-qos).
type Counters struct {
	Ports   map[southbound.Port]PortCounters
	NoRoute uint64 // packets that met a dark or unmatched port
}

// ReadCounters reads the counters of a packet switch of a profile; nil means openconfig. A switch that
// has none gives none, and only those of OpenConfig's models tell of queues.
func ReadCounters(ctx context.Context, c gpb.GNMIClient, p gnmi.Profile) (Counters, error) {
	out := Counters{Ports: map[southbound.Port]PortCounters{}}
	switch p.(type) {
	case nil, gnmi.OpenConfig, gnmi.OpenConfigPlain:
	default:
		return out, out.readNative(ctx, c, p)
	}
	leaves, err := getKnown(ctx, c, schema.OpenConfig(), []schema.Path{schema.Path(nil).With("interfaces"),
		schema.Path(nil).With("components")})
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
	return out, readQueues(ctx, c, out.Ports)
}

// readNative reads the counters of a vendor's own model.
func (o Counters) readNative(ctx context.Context, c gpb.GNMIClient, p gnmi.Profile) error {
	counts, ok := p.(gnmi.Counts)
	if !ok {
		return nil
	}
	leaves, err := getKnown(ctx, c, p.Model(), counts.CounterPaths())
	if err != nil {
		return fmt.Errorf("read counters: %w", err)
	}
	ports := map[southbound.Port]*southbound.PortCounters{}
	for _, l := range leaves {
		counts.Count(l, func(port southbound.Port) *southbound.PortCounters {
			if ports[port] == nil {
				ports[port] = &southbound.PortCounters{}
			}
			return ports[port]
		})
	}
	for port, n := range ports {
		o.Ports[port] = PortCounters{InOctets: n.InOctets, OutOctets: n.OutOctets, OutDiscards: n.OutDiscards}
	}
	return nil
}

// readQueues adds how full queues were. A switch that does not know the path, or has nothing there,
// does not tell.
func readQueues(ctx context.Context, c gpb.GNMIClient, ports map[southbound.Port]PortCounters) error {
	leaves, err := getKnown(ctx, c, schema.OpenConfig(),
		[]schema.Path{schema.Path(nil).With("qos", "interfaces")})
	switch status.Code(err) {
	case codes.OK:
	case codes.NotFound, codes.InvalidArgument, codes.Unimplemented:
		return nil
	default:
		return fmt.Errorf("read queues: %w", err)
	}
	for _, l := range leaves {
		n, ok := l.Value.(uint64)
		if !ok || len(l.Path) != 8 || l.Path[5].Name != "queue" {
			continue
		}
		port, ok := gnmi.PortNamed(l.Path[2].Key("interface-id"))
		if !ok {
			continue
		}
		p, name := ports[port], l.Path[7].Name
		if name != "max-queue-len" && name != "avg-queue-len" {
			continue // what has passed it
		}
		if p.Queue == nil {
			p.Queue = &Queue{}
			ports[port] = p
		}
		if name == "max-queue-len" {
			p.Queue.Most = max(p.Queue.Most, n)
		} else {
			p.Queue.Mean = max(p.Queue.Mean, n)
		}
	}
	return nil
}
