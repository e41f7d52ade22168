package inventory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/pathmap/topo"
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
	const list = `devices:
- {name: tor0, address: "127.0.0.1:1"}
- {name: tor1, address: "unix:/a b", profile: srl-native, flags: {controller-backup: true}}
- {name: spine0, address: "[::1]:3", id: 2}
- {name: ocs, address: "lab:4", profile: polatis, ports: 320}
`
	const devices = "devices:\n  tor0: 127.0.0.1:1\n  tor1: unix:/a b\n  spine0: '[::1]:3'\n  ocs: lab:4\n"
	for _, tt := range []struct{ name, text, want string }{
		{"switches", devices, ""},
		{"hosts too", devices + "hosts:\n  h0-0: /proc/1/ns/net\n  h1-0: /proc/1/ns/net\n", ""},
		{"one host", devices + "hosts:\n  h0-0: /proc/1/ns/net\n", `host "h1-0" of the fabric has no namespace`},
		{"agents", devices + "agents:\n  h0-0: lab0:7470\n  h1-0: unix:/run/a\naddresses:\n  h1-0: 192.0.2.7\n", ""},
		{"one agent", devices + "agents:\n  h0-0: lab0:7470\n", `host "h1-0" of the fabric has no address under agents`},
		{"agents and hosts", devices + "hosts:\n  h0-0: a\n  h1-0: b\nagents:\n  h0-0: a\n  h1-0: b\n",
			"are both named"},
		{"no address", devices + "addresses:\n  h1-0: lab\n", `address "lab" of host "h1-0"`},
		{"foreign address", devices + "addresses:\n  h9-0: 192.0.2.7\n", `devices.yaml:7:9: the fabric has no host "h9-0"`},
		{"foreign host", devices + "hosts:\n  h0-0: a\n  h1-0: b\n  h2-0: c\n", `:9:9: the fabric has no host "h2-0"`},
		{"other OCS", strings.Replace(devices, "ocs", "spine1", 1), `device "spine1": name: ` +
			`the fabric has no such switch: write ocs, which has none yet`},
		{"one name twice", "devices:\n- {name: tor0, address: \"127.0.0.1:1\"}\n- {name: ocs, address: \"lab:4\"}\n" +
			"- {name: ocs, address: \"lab:5\"}\n", `:4:10: device "ocs": name: ` +
			`another device has it: write tor1, which has none yet`},
		{"no OCS", strings.Replace(devices, "  ocs: lab:4\n", "", 1), `switch "ocs" of the fabric has no address`},
		{"foreign switch", devices + "  tor2: lab:5\n", `:6:9: device "tor2": name: the fabric has no such`},
		{"host as switch", devices + "  h0-0: lab:5\n", `device "h0-0": name: the fabric has no such switch`},
		{"place", strings.Replace(devices, "lab:4", "lab", 1), `:5:8: device "ocs": address: "lab" is no host`},
		{"empty", "", "no devices: write them under the key devices"},
		{"word", devices + "routers:\n", "devices.yaml:6:1: "},
		{"list of words", "devices: [a]\n", "devices.yaml:1:"},
		{"too long", strings.Repeat("#", 1<<20+1), "at most"},
		{"list", list, ""},
		{"list and hosts", list + "hosts:\n  h0-0: /proc/1/ns/net\n  h1-0: /proc/1/ns/net\n", ""},
		{"short list", list[:strings.Index(list, "- {name: ocs")], `:2:1: switch "ocs" of the fabric has no address`},
		{"foreign id", strings.Replace(list, "id: 2", "id: 4", 1), "devices.yaml:4:42: "},
		{"few ports", strings.Replace(list, "320", "1", 1), "the fabric uses 2 of this switch: leave it out"},
		{"other racks", strings.Replace(list, "id: 2", "racks: 9", 1), `"spine0": racks: the fabric has 2: leave it out`},
		{"optical ToR", strings.Replace(list, "srl-native", "ocp", 1), "ocp is not for this switch"},
		{"packet OCS", strings.Replace(list, "polatis", "sonic", 1), "sonic is not for this switch"},
		{"unknown profile", strings.Replace(list, "polatis", "polaris", 1), `profile "polaris" is unknown: write one of`},
		{"twice", list + "- {name: ocs, address: 'lab:5'}\n", "devices.yaml:6:10: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "devices.yaml")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := Read(path, f)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want == "":
				if d, err := p.Devices.Find("tor1"); err != nil || d.Address != "unix:/a b" ||
					d.Ports != 3 || d.Racks != 2 {
					t.Errorf("%+v, %v", d, err)
				}
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
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
	f.Add("devices:\n  tor0: a:1\n  tor1: b:1\n  spine0: c:1\n  ocs: d:1\n")
	f.Add("devices:\n- {name: tor0, address: 'a:1'}\n- {name: tor1, address: 'unix:/a'}\nagents: {h0-0: a}\n")
	f.Add("devices: [a]\nhosts: 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "devices.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := Read(path, fabric); err == nil && len(p.Devices) != 4 {
			t.Errorf("%q was taken as %+v", text, p)
		}
	})
}
