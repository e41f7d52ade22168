package probe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
	"lightloom/southbound/lldp"
)

// Neighbors reads the LLDP neighbours of a switch (openconfig-lldp). Ports whose names the openconfig
// profile does not know are left out. IDs number the neighbours of one port, in the order of the
// device's own ids.
func Neighbors(ctx context.Context, c gpb.GNMIClient) ([]lldp.Heard, error) {
	all, err := NamedNeighbors(ctx, c)
	var out []lldp.Heard
	for _, n := range all {
		if n.Port >= 0 {
			out = append(out, n.Heard)
		}
	}
	return out, err
}

// Named is a neighbour at an interface, as the device calls that. Port is -1 where the openconfig profile does not know
// the name.
type Named struct {
	Interface string
	lldp.Heard
}

// NamedNeighbors is Neighbors of all interfaces.
func NamedNeighbors(ctx context.Context, c gpb.GNMIClient) ([]Named, error) {
	leaves, err := getKnown(ctx, c, schema.OpenConfig(),
		[]schema.Path{schema.Path(nil).With("lldp", "interfaces")})
	if err != nil {
		return nil, fmt.Errorf("read neighbours: %w", err)
	}
	type key struct {
		port     int
		name, id string
	}
	at := map[key]*lldp.Heard{}
	var keys []key
	for _, l := range leaves {
		name, id, leaf, ok := neighborLeaf(l.Path)
		if !ok {
			continue
		}
		port := -1
		if n, known := gnmi.PortNamed(name); known {
			port = int(n)
		}
		k := key{port, name, id}
		if at[k] == nil {
			at[k] = &lldp.Heard{Port: port, Silent: -1}
			keys = append(keys, k)
		}
		fill(at[k], leaf, l.Value)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	var out []Named
	for i, k := range keys {
		h := *at[k]
		if h.ID = 1; i > 0 && keys[i-1].name == k.name {
			h.ID = out[len(out)-1].ID + 1
		}
		out = append(out, Named{k.name, h})
	}
	return out, nil
}

// neighborLeaf takes the path of a leaf of a neighbour apart.
func neighborLeaf(p schema.Path) (name, id, leaf string, ok bool) {
	if len(p) != 7 || p[2].Name != "interface" || p[4].Name != "neighbor" || len(p[2].Keys) != 1 ||
		len(p[4].Keys) != 1 {
		return "", "", "", false
	}
	return p[2].Keys[0].Value, p[4].Keys[0].Value, p[6].Name, true
}

func fill(h *lldp.Heard, leaf string, v schema.Value) {
	text := schema.Text(v)
	seconds := func() time.Duration {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > int64(time.Duration(1<<62)/time.Second) {
			return -1
		}
		return time.Duration(n) * time.Second
	}
	switch leaf {
	case "chassis-id":
		h.Said.Chassis = text
	case "chassis-id-type":
		h.Said.ChassisKind = text
	case "port-id":
		h.Said.Port = text
	case "port-id-type":
		h.Said.PortKind = text
	case "system-name":
		h.Said.System = text
	case "port-description":
		h.Said.Description = text
	case "ttl":
		h.Said.TTL = max(seconds(), 0)
	case "age":
		h.Age = max(seconds(), 0)
	case "last-update":
		h.Silent = seconds()
	}
}
