package server

import (
	"context"
	"os"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/pki"
)

var (
	_ southbound.Device   = (*gnmi.Lazy)(nil)
	_ southbound.Counting = (*gnmi.Lazy)(nil)
)

// DialDevices returns a connection to every switch by its record, with the election id of a term. It reads the secrets
// and certificates that a record names only when it dials the switch: if they are missing, the switch counts as not
// answering. CheckDevices reads them at once. wrap, if not nil, wraps each connection.
func DialDevices(f *topo.Fabric, c *ReplicaConfig, by pki.Credentials, term uint64,
	wrap func(name string, d southbound.Device) southbound.Device) (devices map[southbound.DeviceID]southbound.Device,
	closeAll func()) {
	out := map[southbound.DeviceID]southbound.Device{}
	var lines []*gnmi.Lazy
	for i, node := range f.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		id := southbound.DeviceID(i)
		l := gnmi.NewLazy(func(ctx context.Context) (gnmi.Line, error) {
			return c.Devices.Dial(ctx, f, id, by, os.Getenv, func(cfg *gnmi.Config) {
				cfg.Start, cfg.Timeout = c.Epoch, 5*time.Second
				cfg.Election = func() gnmi.Election { return gnmi.Election{High: c.ElectionHigh(term), Low: 1} }
			})
		}, c.Devices.SetWithin(node.Name))
		lines = append(lines, l)
		out[id] = l
		if wrap != nil {
			out[id] = wrap(node.Name, l)
		}
	}
	return out, func() {
		for _, l := range lines {
			l.Close()
		}
	}
}

// CheckDevices returns what is wrong with the secrets and certificates that records of switches name, or nil.
func CheckDevices(f *topo.Fabric, c *ReplicaConfig, by pki.Credentials) error {
	for i, node := range f.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		if _, err := c.Devices.Config(f, southbound.DeviceID(i), by, os.Getenv); err != nil {
			return err
		}
	}
	return nil
}
