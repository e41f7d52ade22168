package gnmi

import (
	"fmt"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// statusDecoder turns the status of ports into events. It remembers which ports are down.
type statusDecoder struct {
	ports int32
	name  func(southbound.Port) string // of a port, for messages
	down  map[southbound.Port]bool
	told  map[southbound.Port]bool
	other schema.Path // of a status that is of no port of ours
	read  func(schema.Leaf) (port southbound.Port, up, ok bool)
	port  func(gone schema.Path) (southbound.Port, bool)
}

// newStatusDecoder returns a decoder for a device with d.ports ports.
func newStatusDecoder(d statusDecoder) Decoder {
	d.down, d.told = map[southbound.Port]bool{}, map[southbound.Port]bool{}
	return &d
}

// NewDecoder implements Profile.
func (p OpenConfig) NewDecoder() Decoder {
	return newStatusDecoder(statusDecoder{ports: p.Ports, name: InterfaceName, read: operStatus,
		port: func(g schema.Path) (southbound.Port, bool) {
			if len(g) < 2 || g[0].Name != "interfaces" {
				return 0, false
			}
			return PortNamed(g[1].Key("name"))
		}})
}

// Decode implements Decoder. A port that is gone is down.
func (d *statusDecoder) Decode(gone []schema.Path, leaves []schema.Leaf) ([]southbound.DeviceEvent, error) {
	var out []southbound.DeviceEvent
	tell := func(port southbound.Port, up bool) {
		if d.down[port] != up {
			return
		}
		d.down[port] = !up
		kind := southbound.PortDown
		if up {
			kind = southbound.PortUp
		}
		out = append(out, southbound.DeviceEvent{Kind: kind, In: port, Out: southbound.NoPort})
	}
	for _, g := range gone {
		if port, ok := d.port(g); ok && int32(port) < d.ports {
			tell(port, false)
		}
	}
	for _, l := range leaves {
		port, up, ok := d.read(l)
		if !ok || int32(port) >= d.ports {
			if len(l.Path) > 0 && d.other == nil {
				d.other = l.Path
			}
			continue
		}
		d.told[port] = true
		tell(port, up)
	}
	return out, nil
}

// Complete implements Completer. Ports that a device does not have are down. A device that has other
// ports, but none of ours, is another device or has renamed them.
func (d *statusDecoder) Complete() ([]southbound.DeviceEvent, error) {
	var out []southbound.DeviceEvent
	switch {
	case len(d.told) == 0 && d.other == nil:
		return nil, nil // it holds no port
	case len(d.told) == 0:
		return nil, fmt.Errorf("read %q: it is of no port of ours, and no other is: they are %q to %q; has the device "+
			"renumbered its ports?",
			d.other.String(), d.name(0), d.name(southbound.Port(d.ports-1)))
	}
	for port := range southbound.Port(d.ports) {
		if !d.told[port] && !d.down[port] {
			d.down[port] = true
			out = append(out, southbound.DeviceEvent{Kind: southbound.PortDown, In: port, Out: southbound.NoPort})
		}
	}
	return out, nil
}
