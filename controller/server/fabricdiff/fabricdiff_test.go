package fabricdiff_test

import (
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/server/fabricdiff"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/inventory"
)

func founded(t *testing.T) *fabricdiff.Founded {
	t.Helper()
	s, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := inventory.Parse("inv.yaml", []byte("devices: {tor0: \"a:1\", tor1: \"a:2\", spine0: \"a:3\", ocs: "+
		"\"a:4\"}\nagents: {h0-0: \"h:1\", h1-0: \"h:2\"}\n"), f)
	if err != nil {
		t.Fatal(err)
	}
	return &fabricdiff.Founded{Fabric: f, Policy: "fair", Devices: inv.Devices, Agents: inv.Sites(f)}
}

func rack(agent string) *apiv1.FabricDescription {
	return &apiv1.FabricDescription{
		Racks: []*apiv1.Rack{{Tor: "tor2", Hosts: []*apiv1.RackHost{{Name: "h2-0", Agent: agent,
			Address: "192.0.2.7"}}}},
		Links:   []*apiv1.Cable{{From: "tor2:1", To: "spine0:2", BitsPerSecond: 1e9}},
		Devices: []string{"name: tor2\naddress: a:5\nprofile: sonic\n"}, Drained: &apiv1.NodeNames{Names: []string{"h2-0"}}}
}

// TestRack: a rack is described once, with its switch, its cables and the agent of its host; again,
// nothing changes.
func TestRack(t *testing.T) {
	o := founded(t)
	var now controller.FabricChange
	next, err := o.Described(now, rack("h:2"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.Differences(&now, &next)
	want := []string{"drain h2-0", "add rack 2: tor2 with h2-0", "plug in tor2:1–spine0:2 at 1Gbps",
		"tor2 is at a:5, profile sonic"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	sites := o.Sites(&next)
	if len(sites) != 2 || !slices.Equal(sites[1].Hosts, []southbound.HostID{1, 2}) ||
		len(o.Agents[1].Hosts) != 1 ||
		!slices.Equal(sites[1].Addresses, []string{"", "192.0.2.7"}) {
		t.Errorf("%+v", sites)
	}
	again, err := o.Described(next, rack("h:2"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := o.Differences(&next, &again); err != nil || len(got) > 0 {
		t.Errorf("again: %q, %v", got, err)
	}
}

// TestRackRefusals: what is missing or does not fit is told.
func TestRackRefusals(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		edit       func(*fabricdiff.Founded, *apiv1.FabricDescription)
	}{
		{"no record", "racks: tor2 has no record: say under devices",
			func(_ *fabricdiff.Founded, d *apiv1.FabricDescription) {
				d.Devices = nil
			}},
		{"no agent", "it has no agent: name its address under agents",
			func(_ *fabricdiff.Founded, d *apiv1.FabricDescription) {
				d.Racks[0].Hosts[0].Agent = ""
			}},
		{"an agent that is nowhere", "no host:port", func(_ *fabricdiff.Founded, d *apiv1.FabricDescription) {
			d.Racks[0].Hosts[0].Agent = "x"
		}},
		{"no address", "no IPv4 address", func(_ *fabricdiff.Founded, d *apiv1.FabricDescription) {
			d.Racks[0].Hosts[0].Address = "::1"
		}},
		{"no agents at all", "started without agents", func(o *fabricdiff.Founded, _ *apiv1.FabricDescription) {
			o.Agents = nil
		}},
		{"an emulated fabric", "an emulated fabric has those",
			func(o *fabricdiff.Founded, _ *apiv1.FabricDescription) {
				o.Fixed = true
			}},
		{"one agent", "namespaces of the controller's machine",
			func(o *fabricdiff.Founded, _ *apiv1.FabricDescription) {
				o.Alone = true
			}},
		{"the address of another switch", "one device has one name",
			func(_ *fabricdiff.Founded, d *apiv1.FabricDescription) {
				d.Devices = []string{"name: tor2\naddress: a:1\nprofile: sonic\n"}
			}},
		{"a switch's name", "spine0 is of role switch here",
			func(_ *fabricdiff.Founded, d *apiv1.FabricDescription) {
				d.Racks[0].Tor = "spine0"
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, d := founded(t), rack("h:3")
			tt.edit(o, d)
			if _, err := o.Described(controller.FabricChange{}, d); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestTwoOfOneName: two optical switches under one name are refused, and not one taken for the other.
func TestTwoOfOneName(t *testing.T) {
	s, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1,ocses=2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := inventory.Parse("inv.yaml", []byte("devices: {tor0: \"a:1\", tor1: \"a:2\", spine0: \"a:3\", "+
		"ocs0: \"a:4\", ocs1: \"a:5\"}\nagents: {h0-0: \"h:1\", h1-0: \"h:2\"}\n"), f)
	if err != nil {
		t.Fatal(err)
	}
	o := &fabricdiff.Founded{Fabric: f, Policy: "fair", Devices: inv.Devices, Agents: inv.Sites(f)}
	const want = `replace "ocs1": records 1 and 2 are both called so: give each switch one record, by its own name`
	_, err = o.Described(controller.FabricChange{}, &apiv1.FabricDescription{
		Devices: []string{"name: ocs1\naddress: a:6\nprofile: ocp\n", "name: ocs1\naddress: a:7\nprofile: ocp\n"}})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
