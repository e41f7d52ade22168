package cabling_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
)

// TestRacks: racks are added behind those that are there, whose numbers stay, and their uplinks plugged
// in; what is no rack is refused with the reason.
func TestRacks(t *testing.T) {
	f := fabric(t, "hybrid:racks=3,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms")
	rack := []cabling.Rack{{ToR: "tor3", Hosts: []string{"h3-0", "h3-1"}}}
	first, err := cabling.Grow(f, pathmap.Cabling{}, rack)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, err string
		now       pathmap.Cabling
		racks     []cabling.Rack
		plugs     []cabling.Plug
		want      []string
	}{
		{"one", "", pathmap.Cabling{}, rack, []cabling.Plug{{From: "tor3:2", To: "spine0:3", Rate: pathmap.Gbps},
			{From: "tor3:4", To: "ocs:3", Rate: pathmap.Gbps}}, []string{"add rack 3: tor3 with h3-0, h3-1",
			"plug in tor3:2–spine0:3 at 1Gbps", "plug in tor3:4–ocs:3 at 1Gbps"}},
		{"so already", "", first, rack, nil, nil},
		{"another", "", first, []cabling.Rack{{ToR: "leaf-x", Hosts: []string{"hx"}}, rack[0]}, nil,
			[]string{"add rack 4: leaf-x with hx"}},
		{"a founded one", "", first, []cabling.Rack{{ToR: "tor1", Hosts: []string{"h1-0"}}}, nil, nil},
		{"named twice", "tor3 is named twice", pathmap.Cabling{}, append(rack, rack...), nil, nil},
		{"the name of a spine", "spine0 is of role switch here, which does not change", pathmap.Cabling{},
			[]cabling.Rack{{ToR: "spine0", Hosts: []string{"x"}}}, nil, nil},
		{"a host of another rack", `name "h1-0" is empty or used twice`, pathmap.Cabling{},
			[]cabling.Rack{{ToR: "tor3", Hosts: []string{"h1-0"}}}, nil, nil},
		{"a further host", "hosts neither come to a rack nor leave it", first,
			[]cabling.Rack{{ToR: "tor3", Hosts: []string{"h3-0", "h3-1", "h3-2"}}}, nil, nil},
		{"without hosts", "tor3 has 0 hosts: name 1 to", pathmap.Cabling{},
			[]cabling.Rack{{ToR: "tor3"}}, nil, nil},
		{"no name", "letters, digits, hyphens", pathmap.Cabling{},
			[]cabling.Rack{{ToR: "../x", Hosts: []string{"a"}}}, nil,
			nil},
		{"its hosts' cables", "host h3-1 keeps its cable", first, nil,
			[]cabling.Plug{{From: "tor3:1", To: "spine0:5"}}, nil},
		{"an OCS port of another", "ocs:4 is for leaf", first,
			[]cabling.Rack{{ToR: "leaf", Hosts: []string{"x"}}},
			[]cabling.Plug{{From: "tor3:4", To: "ocs:4", Rate: pathmap.Gbps}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next, err := cabling.Grow(f, tt.now, tt.racks)
			if err == nil {
				next, err = cabling.Next(f, next, tt.plugs)
			}
			if tt.err == "" && err != nil || tt.err != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("%v, want %q", err, tt.err)
			}
			if err != nil {
				return
			}
			if got, err := cabling.Differences(f, tt.now, next); err != nil || !cmp.Equal(got, tt.want) {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
			if !next.Follows(tt.now) || tt.want != nil && next.Equal(tt.now) {
				t.Errorf("%v does not follow %v", next, tt.now)
			}
		})
	}
	waves := fabric(t, "hybrid:racks=3,hosts=1,spines=2,wavelengths=2")
	if _, err := cabling.Grow(waves, pathmap.Cabling{}, rack); err == nil ||
		!strings.Contains(err.Error(), "wavelength") {
		t.Errorf("a rack beside several wavelengths: %v", err)
	}
}

// TestRackNumbers: a fabric that has grown keeps every number, and its new racks are reached over any spine.
func TestRackNumbers(t *testing.T) {
	f := fabric(t, "hybrid:racks=3,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms")
	c, err := cabling.Grow(f, pathmap.Cabling{}, []cabling.Rack{{ToR: "a", Hosts: []string{"a0", "a1"}},
		{ToR: "b", Hosts: []string{"b0"}}})
	if err != nil {
		t.Fatal(err)
	}
	if c, err = cabling.Next(f, c, []cabling.Plug{{From: "a:2", To: "spine0:3",
		Rate: pathmap.Gbps}, {From: "a:3",
		To: "spine1:3", Rate: pathmap.Gbps}, {From: "b:1", To: "spine0:4", Rate: pathmap.Gbps}, {From: "b:2",
		To: "spine1:4", Rate: pathmap.Gbps}, {From: "b:3", To: "ocs:4", Rate: pathmap.Gbps}}); err != nil {
		t.Fatal(err)
	}
	g, err := cabling.Apply(f, c)
	if err != nil {
		t.Fatal(err)
	}
	nodes := len(f.Topology.Nodes())
	if !slices.Equal(g.Topology.Nodes()[:nodes], f.Topology.Nodes()) ||
		!slices.Equal(g.HostNode[:f.Hosts()], f.HostNode) ||
		!slices.Equal(g.Topology.Links()[:len(f.Topology.Links())], f.Topology.Links()) || f.Racks != 3 {
		t.Error("a number has become another's")
	}
	if g.Racks != 5 || g.Hosts() != 6 || g.HostsPerRack != 2 ||
		!slices.Equal(g.FirstHost, []int32{0, 1, 2, 3, 5, 6}) ||
		!slices.Equal(g.OCSUplink, []int32{3, 3, 3, pathmap.None, 3}) || g.Transit {
		t.Errorf("%+v", g)
	}
	if rack, i := g.Place(4); rack != 3 || i != 1 || g.HostPort[4] != 1 || g.RackOf(5) != 4 {
		t.Errorf("host 4 is host %d of rack %d", i, rack)
	}
	m, err := g.PathMap(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 4 {
		if n := m.Paths(4, r); n != 2 {
			t.Errorf("%d paths to rack %d", n, r)
		}
	}
}

// FuzzGrow: whatever nodes a damaged log holds are refused, or make a fabric that can be walked.
func FuzzGrow(f *testing.F) {
	of := fabric(f, "hybrid:racks=3,hosts=1,spines=2")
	f.Add("a", uint8(pathmap.ToR), int32(3), "b", uint8(pathmap.Host), int32(3), int32(10), int32(9))
	f.Add("a", uint8(pathmap.OCS), int32(-1), "b", uint8(pathmap.Host), int32(1<<30), int32(9), int32(0))
	f.Fuzz(func(t *testing.T, a string, ra uint8, ka int32, b string, rb uint8, kb, from, to int32) {
		is, err := cabling.Apply(of, pathmap.Cabling{
			Added: []pathmap.Node{{Name: a, Role: pathmap.Role(ra), Rack: ka},
				{Name: b, Role: pathmap.Role(rb), Rack: kb}},
			Plugged: []pathmap.Cable{{From: pathmap.NodeID(from), To: pathmap.NodeID(to), Rate: 1}}})
		if err != nil {
			return
		}
		if _, err := is.PathMap(2, 1); err != nil || is.Racks != 4 || is.Hosts() != 4 || is.OCSPorts() != 4 {
			t.Errorf("%v, %+v", err, is)
		}
	})
}
