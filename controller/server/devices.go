package server

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

var (
	_ southbound.Device   = (*gnmi.Lazy)(nil)
	_ southbound.Counting = (*gnmi.Lazy)(nil)
)

// DialDevices returns a connection to every switch by its record, with the election id of a term. It
// reads the secrets and certificates that a record names only when it dials the switch: if they are
// missing, the switch counts as not answering. CheckDevices reads them at once.
func DialDevices(f *topo.Fabric, c *ReplicaConfig, by pki.Credentials,
	term uint64) (devices map[southbound.DeviceID]southbound.Device, closeAll func()) {
	out := map[southbound.DeviceID]southbound.Device{}
	lines := dialDevices(func() *topo.Fabric { return f }, c,
		func() inventory.Devices { return c.Devices }, by,
		gnmi.Election{High: c.ElectionHigh(term), Low: c.ElectionLow(1)})
	for id, l := range lines {
		out[id] = l
	}
	return out, func() {
		for _, l := range lines {
			l.Close()
		}
	}
}

// dialDevices returns a line to every switch of a fabric, by its record, both as they are when the
// switch is dialled.
func dialDevices(f func() *topo.Fabric, c *ReplicaConfig, now func() inventory.Devices, by pki.Credentials,
	election gnmi.Election) map[southbound.DeviceID]*gnmi.Lazy {
	lines := map[southbound.DeviceID]*gnmi.Lazy{}
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, node := range f().Topology.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		id, changes := southbound.DeviceID(i), new(gnmi.Changes)
		lines[id] = gnmi.NewLazy(func(ctx context.Context) (gnmi.Line, error) {
			return now().Dial(ctx, f(), id, by, os.Getenv, func(cfg *gnmi.Config) {
				cfg.Start, cfg.Timeout, cfg.Turns, cfg.Changes = c.Epoch, dialWithin, turns, changes
				cfg.Election = func() gnmi.Election { return election }
			})
		}, func() time.Duration { return now().SetWithin(node.Name) })
	}
	return lines
}

// Bounds of a dial, and of how long a device that is to replace another may take to show what it is:
// less than a client waits for an answer.
const (
	dialWithin = 5 * time.Second
	lookWithin = 3 * time.Second
)

// checkSwitch returns why a switch cannot be node n of a fabric, or nil: it does not answer or misfits, or
// lacks ports that the fabric uses. It changes nothing there.
func checkSwitch(ctx context.Context, f *topo.Fabric, all inventory.Devices, n southbound.DeviceID,
	by pki.Credentials) error {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	name := f.Topology.Node(n).Name
	fail := func(err error) error {
		return fmt.Errorf("%s: %w: mend its record under devices, or the device, and apply again", name, err)
	}
	line, err := all.Dial(ctx, f, n, by, os.Getenv, func(c *gnmi.Config) { c.Timeout = lookWithin })
	if err != nil {
		return fail(err)
	}
	defer line.Close()
	if _, err := line.Read(ctx); err != nil {
		return fail(fmt.Errorf("read it: %w", err))
	}
	s, ok := line.(interface{ Profile() gnmi.Profile })
	if !ok { // by RESTCONF, which has told its pairs
		return nil
	}
	c, err := all.Config(f, n, by, os.Getenv)
	if err != nil {
		return fail(err)
	}
	conn, err := gnmi.Connect(c)
	if err != nil {
		return fail(err)
	}
	defer conn.Close()
	has, err := probe.Ports(ctx, conn, s.Profile())
	if uses := f.Topology.Ports(n); err == nil && has > 0 && has < uses {
		err = fmt.Errorf("it has %d ports, and the fabric uses port %d of %s", has, uses-1, name)
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// CheckDevices returns what is wrong with the secrets and certificates that records of switches name,
// or nil.
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
