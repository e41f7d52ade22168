package physical

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/server"
	"lightloom/emulator/device"
	"lightloom/emulator/switchd/targetd"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

const smallFabric = "hybrid:racks=2,hosts=1,spines=1"

// start runs a target until the test ends, and returns its address.
func start(t *testing.T, c targetd.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Racks, c.Strict = 2, true
	c.Delays = device.Delays{Dark: device.Fixed(time.Millisecond)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- targetd.Run(ctx, l, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// mixedLab starts switches of four kinds, one of them by gRIBI, and writes their inventory: tor0 and the optical switch
// have certificates of their own, tor1 and spine0 those of the run in dir.
func mixedLab(t *testing.T, dir string) (path string) {
	t.Helper()
	if err := inventory.WriteKeys(dir, smallFabric, 1, false); err != nil {
		t.Fatal(err)
	}
	own := func(name string) pki.Identity {
		id, _, err := targetd.Keys(filepath.Join(dir, name), name)
		return must(t, id, err)
	}
	ofRun := func(name string) pki.Identity {
		id, err := inventory.ReadKeys(dir, name)
		return must(t, id, err)
	}
	spine := start(t, targetd.Config{Config: device.Config{Name: "spine0", Ports: 2},
		Profile: "openconfig", GRIBI: true,
		Identity: ofRun("spine0")})
	_, spinePort, err := net.SplitHostPort(spine)
	must(t, spinePort, err)
	text := fmt.Sprintf(`devices:
- name: tor0
  address: %s
  profile: srl-native
  ports: 4 # more than the fabric uses
  tls: {ca: tor0/ca.pem, cert: tor0/client.pem, key: tor0/client.pem, server-name: tor0}
  credentials: {username: env:LAB_USER, password: file:password}
  flags: {controller-backup: true, instance: default}
- {name: tor1, address: "%s", profile: sonic, flags: {controller-backup: true}}
- {name: spine0, address: "%s", gribi: {port: %s}}
- name: ocs
  address: %s
  profile: polatis
  ports: 4
  tls: {ca: ocs/ca.pem, cert: ocs/client.pem, key: ocs/client.pem, server-name: ocs}
`, start(t, targetd.Config{Config: device.Config{Name: "tor0", Ports: 4}, Profile: "srl-native",
		Identity: own("tor0")}),
		start(t, targetd.Config{Config: device.Config{Name: "tor1", Ports: 3}, Profile: "sonic",
			Identity: ofRun("tor1")}),
		spine, spinePort,
		start(t, targetd.Config{Config: device.Config{Name: "ocs", Ports: 4}, Profile: "polatis",
			Identity: own("ocs")}))
	path = filepath.Join(dir, "devices.yaml")
	err = errors.Join(os.WriteFile(path, []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, "password"), []byte("secret\n"), 0o600))
	return must(t, path, err)
}

// TestDialDevices: a controller speaks to each switch with the profile and keys of the inventory.
func TestDialDevices(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	path := mixedLab(t, dir)
	spec, err := topo.ParseSpec(smallFabric)
	f, ferr := topo.New(must(t, spec, err))
	must(t, f, ferr)
	named, err := inventory.Read(path, f)
	must(t, named, err)
	id, err := inventory.ReadKeys(dir, "controller0")
	must(t, id, err)
	charge, err := json.Marshal(server.ReplicaConfig{Devices: named.Devices})
	if must(t, charge, err); strings.Contains(string(charge), "secret") {
		t.Error("the password stands in what replicas are told")
	}
	var c server.ReplicaConfig // as a replica has it
	if err := json.Unmarshal(charge, &c); err != nil {
		t.Fatal(err)
	}
	devices, closeAll := server.DialDevices(f, &c, id, 1)
	defer closeAll()
	tor0, _ := f.Topology.Named("tor0")
	for _, err := range []error{server.CheckDevices(f, &c, id), southbound.Claim(t.Context(), devices[tor0])} {
		if err == nil || !strings.Contains(err.Error(),
			`open device "tor0": username: the environment variable "LAB_USER" is not set`) {
			t.Errorf("without a user: %v", err)
		}
	}
	t.Setenv("LAB_USER", "ada")
	if err := server.CheckDevices(f, &c, id); err != nil {
		t.Fatal(err)
	}
	rule := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: southbound.AnyTag,
		Src: southbound.AnyRack}, Primary: 0,
		Backup: 1}
	for n, d := range devices {
		name := f.Topology.Node(n).Name
		change := &southbound.Change{Rules: []southbound.Rule{rule}}
		if n == f.OCSNode {
			change = &southbound.Change{Connect: []southbound.CrossConnect{{In: 0, Out: 1}}}
		}
		if err := d.Set(t.Context(), change); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := stands(t.Context(), d, change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	closeAll()
	recabled(t, f, c, id, rule)
}

// TestTwoClusters: of two clusters on the same switches that do not know of each other, in the same term, each switch
// obeys one, the same everywhere, whoever came first; a later term of the other takes over.
func TestTwoClusters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	path := mixedLab(t, dir)
	spec, err := topo.ParseSpec(smallFabric)
	f, ferr := topo.New(must(t, spec, err))
	must(t, f, ferr)
	named, err := inventory.Read(path, f)
	must(t, named, err)
	id, err := inventory.ReadKeys(dir, "controller0")
	must(t, id, err)
	t.Setenv("LAB_USER", "ada")
	var first, second server.ReplicaConfig
	first.Devices, first.Cluster = named.Devices, "one"
	second.Devices, second.Cluster = named.Devices, "two"
	if first.ElectionLow(9) > second.ElectionLow(1) {
		first, second = second, first
	}
	dial := func(c *server.ReplicaConfig, term uint64) map[southbound.DeviceID]southbound.Device {
		devices, closeAll := server.DialDevices(f, c, id, term)
		t.Cleanup(closeAll)
		return devices
	}
	loser, winner, later := dial(&first, 1), dial(&second, 1), dial(&first, 2)
	for n := range winner {
		name := f.Topology.Node(n).Name
		for i, step := range []struct {
			by      southbound.Device
			refused bool
		}{{loser[n], false}, {winner[n], false}, {loser[n], true}, {winner[n], false}, {later[n], false},
			{winner[n], true}} {
			err := step.by.Set(t.Context(), &southbound.Change{})
			if errors.Is(err, southbound.ErrNotLeader) != step.refused || err != nil && !step.refused {
				t.Errorf("%s, step %d: %v, to be refused %v", name, i, err, step.refused)
			}
		}
	}
}

// recabled has the cables of the first and the last port of each packet switch change places: with a port map that says
// so the controller sees that the table it has written leads elsewhere now, and mends it.
func recabled(t *testing.T, f *topo.Fabric, c server.ReplicaConfig, by pki.Identity, rule southbound.Rule) {
	t.Helper()
	names := map[string][2]string{"tor0": {"ethernet-1/1", "ethernet-1/4"}, "tor1": {"Ethernet0", "Ethernet8"},
		"spine0": {"Ethernet0", "Ethernet1"}}
	last := map[string]int32{"tor0": 3, "tor1": 2, "spine0": 1}
	for name, own := range names {
		d, err := c.Devices.Find(name)
		moved := *must(t, d, err)
		for i, port := range []int32{0, last[name]} {
			moved.PortMap = append(moved.PortMap, inventory.Port{Port: port, Name: own[1-i],
				NextHop: gnmi.NextHop(southbound.Port(last[name] - port)).String()})
		}
		all, err := c.Devices.Replace(f, moved)
		c.Devices = must(t, all, err)
	}
	devices, closeAll := server.DialDevices(f, &c, by, 2)
	defer closeAll()
	for name := range names {
		n, _ := f.Topology.Named(name)
		seen, err := devices[n].Read(t.Context())
		if err != nil || len(seen.Rules) != 1 || seen.Rules[0].Primary != southbound.Port(last[name]) {
			t.Errorf("%s: the old table is read as %+v, %v", name, seen.Rules, err)
		}
		change := &southbound.Change{Rules: []southbound.Rule{rule}}
		if err := devices[n].Set(t.Context(), change); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := stands(t.Context(), devices[n], change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stands waits until a device reports the one rule or circuit of a change.
func stands(ctx context.Context, d southbound.Device, c *southbound.Change) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		seen, err := d.Read(ctx)
		switch {
		case err != nil:
			return err
		case len(c.Rules) > 0 && len(seen.Rules) == 1 && seen.Rules[0] == c.Rules[0]:
			return nil
		case len(c.Connect) > 0 && len(seen.Connections) == 1 && seen.Connections[0].Status == southbound.Connected &&
			seen.Connections[0].In == c.Connect[0].In && seen.Connections[0].Out == c.Connect[0].Out:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it has %+v", seen)
		case <-tick.C:
		}
	}
}

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
