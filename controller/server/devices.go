package server

import (
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

// DialDevices makes a line to every switch as its record says, with the election id of a term. It reads the secrets and
// certificates that records name. wrap, where it is not nil, is put around each.
func DialDevices(f *topo.Fabric, c *ReplicaConfig, by pki.Identity, term uint64,
	wrap func(name string, d southbound.Device) southbound.Device) (devices map[southbound.DeviceID]southbound.Device,
	closeAll func(), err error) {
	out := map[southbound.DeviceID]southbound.Device{}
	var lines []*gnmi.Lazy
	for i, node := range f.Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		id := southbound.DeviceID(i)
		cfg, err := c.Devices.Config(f, id, by, os.Getenv)
		if err != nil {
			return nil, nil, err
		}
		cfg.Start, cfg.Timeout = c.Epoch, 5*time.Second
		cfg.Election = func() gnmi.Election { return gnmi.Election{High: c.ElectionHigh(term), Low: 1} }
		l := gnmi.NewLazy(cfg)
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
	}, nil
}
