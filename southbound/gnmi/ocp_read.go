package gnmi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// statuses are the model's words for ours.
var statuses = [...]southbound.Status{southbound.PendingConnection, southbound.Connected,
	southbound.PendingDeletion,
	southbound.Failed, southbound.Invalid}

func statusNamed(v schema.Value) (southbound.Status, bool) {
	for _, s := range statuses {
		if s.String() == v {
			return s, true
		}
	}
	return 0, false
}

// Seen implements Profile.
func (p OCP) Seen(state []schema.Leaf) (southbound.Seen, error) {
	d := &circuitDecoder{ports: p.Ports, names: map[string]pair{}}
	d.learn(state)
	var seen southbound.Seen
	for _, l := range state {
		name, where, leaf, ok := connectionLeaf(l.Path)
		if !ok || where != "state" || leaf != "status" {
			continue
		}
		h, err := d.pairOf(name)
		if err != nil {
			return southbound.Seen{}, err
		}
		s, _ := statusNamed(l.Value)
		seen.Connections = append(seen.Connections, southbound.Connection{In: h.in, Out: h.out, Status: s})
	}
	slices.SortFunc(seen.Connections, func(a, b southbound.Connection) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out), cmp.Compare(a.Status, b.Status))
	})
	return seen, nil
}

// circuitDecoder remembers which ends a name stands for, and which connections stand.
type circuitDecoder struct {
	ports int32
	names map[string]pair
	stand map[string]bool
}

// NewDecoder implements Profile.
func (p OCP) NewDecoder() Decoder {
	return &circuitDecoder{ports: p.Ports, names: map[string]pair{}, stand: map[string]bool{}}
}

// learn takes in which ports connections have. Where state and configuration differ, the state is what
// stands.
func (d *circuitDecoder) learn(leaves []schema.Leaf) {
	for _, where := range []string{"config", "state"} {
		maps.Copy(d.names, portsIn(leaves, where))
	}
}

func (d *circuitDecoder) pairOf(name string) (pair, error) {
	h, ok := d.names[name]
	if !ok {
		h.in, h.out, ok = ConnectionNamed(name)
	}
	if !ok {
		return pair{}, fmt.Errorf("read port-connection %q: its ports are not known", name)
	}
	return h, known(h, d.ports, "port-connection", name)
}

// Decode implements Decoder. A connection whose state is gone is disconnected.
func (d *circuitDecoder) Decode(gone []schema.Path, leaves []schema.Leaf) ([]southbound.DeviceEvent, error) {
	d.learn(leaves)
	var out []southbound.DeviceEvent
	tell := func(name string, s southbound.Status) error {
		p, err := d.pairOf(name)
		if err != nil {
			return err
		}
		out = append(out, southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: p.in,
			Out: p.out, Status: s})
		return nil
	}
	for _, g := range gone {
		for _, name := range d.standing(g) {
			delete(d.stand, name)
			if err := tell(name, southbound.Disconnected); err != nil {
				return nil, err
			}
			delete(d.names, name)
		}
	}
	for _, l := range leaves {
		name, where, leaf, ok := connectionLeaf(l.Path)
		if !ok || where != "state" || leaf != "status" {
			continue
		}
		s, ok := statusNamed(l.Value)
		if !ok {
			return nil, fmt.Errorf("read port-connection %q: status %v is unknown", name, l.Value)
		}
		d.stand[name] = true
		if err := tell(name, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// known finds ports beyond those that the profile was made for: the device is another one, or counts
// them otherwise now.
func known(h pair, ports int32, what, name string) error {
	if int32(h.in) >= ports || int32(h.out) >= ports {
		return fmt.Errorf("read %s %q: it is from input %d to output %d, and ports are 0 to %d here: has the device "+
			"renumbered its ports?", what, name, h.in, h.out, ports-1)
	}
	return nil
}

// standing returns the connections whose status lies at or under a deleted path, sorted.
func (d *circuitDecoder) standing(gone schema.Path) []string {
	var out []string
	for name := range d.stand {
		if gone.Match(ConnectionPath(name).With("state", "status")) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
