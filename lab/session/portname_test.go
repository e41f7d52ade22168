package session

import (
	"errors"
	"strings"
	"testing"

	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// TestPortNamed: ports are named as status and topology print them, and a wrong name says what right
// ones look like.
func TestPortNamed(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=3,hosts=2,spines=1,ports=2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		node string
		port int32
		want string // of the error
	}{
		{"tor0-2", "tor0", 2, ""},
		{"tor0:2", "tor0", 2, ""},
		{"ocs-1", "ocs", 1, ""},
		{"h2-1", "h2-1", 0, ""},
		{"spine0", "", 0, "spine0 has ports 0 to 2: write spine0:0"},
		{"tor0-9", "", 0, "tor0 has ports 0 to 3"},
		{"tor0--1", "", 0, "write NAME:PORT"},
		{"tor7-0", "", 0, "such as tor0:0 to tor0:3"},
		{"", "", 0, "write NAME:PORT"},
		{"h9-9", "", 0, "or the name of a host"},
		{"tor0-99999999999999", "", 0, "write NAME:PORT"},
	} {
		n, p, err := portNamed(f.Topology, c.name)
		switch {
		case c.want == "" && (err != nil || f.Topology.Node(n).Name != c.node || p != c.port):
			t.Errorf("%q is port %d of %v, %v", c.name, p, n, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestCaptureWithoutCable: a capture at a port where no cable is plugged in is refused before anything
// is opened, and the error names ports that have one.
func TestCaptureWithoutCable(t *testing.T) {
	b := pathmap.NewBuilder()
	a := b.Add(pathmap.Node{Name: "tor0", Role: pathmap.ToR})
	c := b.Add(pathmap.Node{Name: "tor1", Role: pathmap.ToR, Rack: 1})
	b.Cable(a, 3, c, 1, pathmap.Gbps, pathmap.Gbps)
	b.Cable(a, 5, c, 4, pathmap.Gbps, pathmap.Gbps)
	d := b.Add(pathmap.Node{Name: "tor2", Role: pathmap.ToR, Rack: 2})
	b.Cable(a, 6, d, 2, pathmap.Gbps, pathmap.Gbps)
	top, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	fabric := &topo.Fabric{Topology: top, Racks: 3, ToRNode: []pathmap.NodeID{a, c, d}}
	s := &keeper{Testbed: &emulated.Testbed{Topo: fabric}}
	for _, tt := range []struct{ port, want string }{
		{"tor0-0", `port "tor0-0": no cable is plugged in there: write one of the 3 that have a cable, such as tor0:3 or ` +
			`tor0:6`},
		{"tor1:2", `port "tor1:2": no cable is plugged in there: write one of the 2 that have a cable, such as tor1:1 or ` +
			`tor1:4`},
		{"tor2-0", `port "tor2-0": no cable is plugged in there: write tor2:2, the one that has a cable`},
		{"tor2-3", `port "tor2-3": tor2 has ports 0 to 2`},
	} {
		res, err := s.serveCapture(t.Context(), nil, captureRequest{Port: tt.port, SnapLen: 64}, nil)
		if res != nil || err == nil || err.Error() != tt.want {
			t.Errorf("%s: %+v, %v, want %q", tt.port, res, err, tt.want)
		}
	}
}

// TestAuditNeedsLight: a fabric without an optical switch has no fibres to audit.
func TestAuditNeedsLight(t *testing.T) {
	spec, err := topo.ParseSpec("leafspine:racks=2,hosts=1,spines=1")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&cablingSite{fabric: f}).survey(t.Context(), auditRequest{}, nil); !errors.Is(err,
		emulated.ErrNoOCS) {
		t.Errorf("%v", err)
	}
}
