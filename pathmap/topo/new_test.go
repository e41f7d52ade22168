package topo

import (
	"fmt"
	"testing"

	"lightloom/pathmap"
)

func build(t *testing.T, text string) *Fabric {
	t.Helper()
	s, err := ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNew(t *testing.T) {
	f := build(t, "hybrid:racks=5,hosts=3,spines=2,eps=1Gbps,ocs=9Gbps,ports=4")
	if n := len(f.Topology.Nodes()); n != 5+2+1+15 {
		t.Errorf("%d nodes, want 23", n)
	}
	// each rack: 3 hosts and 2 spines; 4 OCS ports; both directions
	if n := len(f.Topology.Links()); n != 2*(5*5+4) {
		t.Errorf("%d links, want 58", n)
	}
	checkLink := func(from pathmap.NodeID, port int32, to string, toPort int32, rate pathmap.BitsPerSecond) {
		t.Helper()
		id := f.Topology.OutPort(from, port)
		if id == pathmap.None {
			t.Errorf("port %d of %s is empty", port, f.Topology.Node(from).Name)
			return
		}
		if l := f.Topology.Link(id); f.Topology.Node(l.To).Name != to || l.ToPort != toPort ||
			l.Capacity != rate {
			t.Errorf("port %d of %s goes to port %d of %s at %v; want port %d of %s at %v", port,
				f.Topology.Node(from).Name, l.ToPort, f.Topology.Node(l.To).Name, l.Capacity, toPort, to, rate)
		}
	}
	for r, tor := range f.ToRNode {
		if node := f.Topology.Node(tor); node.Name != fmt.Sprint("tor", r) || node.Role != pathmap.ToR ||
			node.Rack != int32(r) || int(tor) != r {
			t.Errorf("ToR %d is %+v", r, node)
		}
		for i := range 3 {
			checkLink(tor, int32(i), fmt.Sprintf("h%d-%d", r, i), 0, 3*pathmap.Gbps)
		}
		for i := range 2 {
			checkLink(tor, int32(3+i), fmt.Sprint("spine", i), int32(r), pathmap.Gbps)
		}
		if r == 4 {
			if f.OCSUplink[r] != pathmap.None || f.Topology.Ports(tor) != 5 {
				t.Errorf("rack 4 has an OCS port")
			}
			continue
		}
		checkLink(tor, f.OCSUplink[r], "ocs", int32(r), 9*pathmap.Gbps)
	}
	for h, n := range f.HostNode {
		if node := f.Topology.Node(n); node.Role != pathmap.Host || node.Rack != f.RackOf(int32(h)) {
			t.Errorf("host %d is %+v", h, node)
		}
	}
	if ocs := f.Topology.Node(f.OCSNode); !f.HasOCS() || ocs.Role != pathmap.OCS || ocs.Rack != pathmap.None {
		t.Errorf("OCS: %+v", ocs)
	}
}

func TestNewWithoutOCS(t *testing.T) {
	for _, text := range []string{"leafspine", "crossbar:ports=7,rate=1Gbps"} {
		if f := build(t, text); f.HasOCS() || f.OCSUplink != nil || f.OCSNode != pathmap.None {
			t.Errorf("%s has an OCS", text)
		}
	}
	if f := build(t, "crossbar:ports=7,rate=1Gbps,dark=10ms"); !f.HasOCS() || len(f.OCSUplink) != 7 ||
		f.Hosts() != 7 {
		t.Errorf("crossbar: %+v", f)
	}
}

// TestPathMap: between two racks there is one path of two links by each spine, then those by a third
// rack; none by the OCS or a host.
func TestPathMap(t *testing.T) {
	f := build(t, "hybrid:racks=4,hosts=2,spines=3")
	m, err := f.PathMap(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	for s := range f.Racks {
		for d := range f.Racks {
			want := 3
			if s == d {
				want = 1
			}
			if n := m.Shortest(s, d); n != want {
				t.Errorf("racks %d and %d: %d shortest paths, want %d", s, d, n, want)
			}
			for i := range m.Paths(s, d) {
				for _, l := range m.AppendPath(nil, s, d, i) {
					if role := f.Topology.Node(f.Topology.Link(l).To).Role; role != pathmap.ToR &&
						role != pathmap.Switch {
						t.Errorf("path %d of racks %d and %d enters a %v", i, s, d, role)
					}
				}
			}
		}
	}
	// 3 spines; spine, other rack (2), other spine: 3·2·2; with both other racks and all spines: 3!·2
	if n := m.Paths(0, 1); n != 3+12+12 {
		t.Errorf("%d paths between racks 0 and 1, want 27", n)
	}
}
