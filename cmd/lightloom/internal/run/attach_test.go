package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/pathmap/topo"
	"lightloom/southbound/pki"
)

func smallFabric(t *testing.T) *topo.Fabric {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPlaces reads lists of devices, right and wrong ones.
func TestPlaces(t *testing.T) {
	f := smallFabric(t)
	const devices = "devices:\n  tor0: 127.0.0.1:1\n  tor1: unix:/a b\n  spine0: '[::1]:3'\n  ocs: lab:4\n"
	for _, tt := range []struct{ name, text, want string }{
		{"switches", devices, ""},
		{"hosts too", devices + "hosts:\n  h0-0: /proc/1/ns/net\n  h1-0: /proc/1/ns/net\n", ""},
		{"one host", devices + "hosts:\n  h0-0: /proc/1/ns/net\n", `host "h1-0" of the fabric has no namespace`},
		{"agents", devices + "agents:\n  h0-0: lab0:7470\n  h1-0: unix:/run/a\naddresses:\n  h1-0: 192.0.2.7\n", ""},
		{"one agent", devices + "agents:\n  h0-0: lab0:7470\n", `host "h1-0" of the fabric has no address under agents`},
		{"agents and hosts", devices + "hosts:\n  h0-0: a\n  h1-0: b\nagents:\n  h0-0: a\n  h1-0: b\n", "are both named"},
		{"no address", devices + "addresses:\n  h1-0: lab\n", `address "lab" of host "h1-0"`},
		{"foreign address", devices + "addresses:\n  h9-0: 192.0.2.7\n", "1 addresses are named, of which 0"},
		{"foreign host", devices + "hosts:\n  h0-0: a\n  h1-0: b\n  h2-0: c\n", "3 hosts are named"},
		{"no OCS", strings.Replace(devices, "ocs", "spine1", 1), `switch "ocs" of the fabric has no address`},
		{"foreign switch", devices + "  tor2: lab:5\n", "5 devices"},
		{"empty", "", `switch "tor0" of the fabric has no address`},
		{"word", devices + "routers:\n", "[6:1]"},
		{"list", "devices: [a]\n", "[1:"},
		{"long", strings.Repeat("#", maxPlaces+1), "at most"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "devices.yaml")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := readPlaces(path, f)
			switch {
			case tt.want == "" && (err != nil || p.Devices["tor1"] != "unix:/a b"):
				t.Errorf("%+v, %v", p, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestKeys writes the keys of a fabric and reads them as their owners do; nobody reads another's, and what is there is
// not overwritten.
func TestKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	const fabric = "hybrid:racks=2,hosts=1,spines=1"
	if err := WriteKeys(dir, fabric, 3, false); err != nil {
		t.Fatal(err)
	}
	a := &attached{opt: AttachOptions{Keys: dir}}
	for _, tt := range []struct {
		role pki.Role
		name string
	}{{pki.Switch, "tor1"}, {pki.Switch, "spine0"}, {pki.Switch, "ocs"}, {pki.Controller, "controller2"}, {pki.Agent, agentName}, {pki.Client, "client"}} {
		if _, err := a.identity(tt.role, tt.name); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.identity(pki.Controller, "tor1"); err == nil {
		t.Error("a switch's keys were taken for a controller's")
	}
	if err := WriteKeys(dir, fabric, 3, false); err == nil {
		t.Error("keys were overwritten")
	}
}

// TestClusters: each cluster is told how many there have been, and its election ids are above all of theirs.
func TestClusters(t *testing.T) {
	dir := t.TempDir()
	var last uint64
	for want := range uint64(3) {
		n, err := countCluster(dir)
		if err != nil || n != want {
			t.Fatalf("cluster %d was told %d, %v", want, n, err)
		}
		c := charge{Earlier: n}
		if id := c.electionHigh(1); id <= last {
			t.Errorf("election id %x is not above %x", id, last)
		}
		last = c.electionHigh(1<<48 - 1)
	}
	if err := os.WriteFile(filepath.Join(dir, "clusters"), []byte("99999"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := countCluster(dir); err == nil {
		t.Error("a number beyond all was taken")
	}
}

func FuzzPlaces(f *testing.F) {
	spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1")
	if err != nil {
		f.Fatal(err)
	}
	fabric, err := topo.New(spec)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("devices:\n  tor0: a\n  tor1: b\n  spine0: c\n  ocs: d\n")
	f.Add("devices: [a]\nhosts: 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "devices.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := readPlaces(path, fabric); err == nil && len(p.Devices) != 4 {
			t.Errorf("%q was taken as %+v", text, p)
		}
	})
}
