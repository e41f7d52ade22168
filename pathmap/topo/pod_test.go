package topo

import (
	"strings"
	"testing"

	"lightloom/pathmap"
)

// TestPodFabric: a cube is a rack with two ports on each OCS, and a circuit joins an upper face to a lower one of one
// OCS.
func TestPodFabric(t *testing.T) {
	for _, tt := range []struct {
		spec               string
		hosts, ocses, each int
	}{
		{"pod:", 64, 12, 16}, {"pod:cubes=8,side=2", 64, 12, 16}, {"pod:cubes=3,side=4,spines=1", 192, 48, 6},
		{"pod:cubes=3,ports=9", 24, 12, 6},
	} {
		s, err := ParseSpec(strings.TrimSuffix(tt.spec, ":"))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseSpec(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%s is read back as %v: %v", s, again, err)
		}
		f, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		if f.Hosts() != tt.hosts || f.OCSes() != tt.ocses || int(f.Topology.Ports(f.OCSNode)) != tt.each ||
			f.Topology.Node(f.ToRNode[1]).Name != "cube1" {
			t.Errorf("%s: %d hosts, %d OCSes of %d ports", s, f.Hosts(), f.OCSes(), f.Topology.Ports(f.OCSNode))
		}
		checkFaces(t, f)
	}
}

func checkFaces(t *testing.T, f *Fabric) {
	t.Helper()
	for p := range int32(f.OCSPorts()) {
		ocs, at := f.OCSAt(p)
		if back := f.OCSPort(ocs, at); back != p {
			t.Fatalf("port %d is port %d of %d, which is port %d", p, at, ocs, back)
		}
		out := f.Topology.OutPort(ocs, at)
		cube := f.Topology.Link(out).To
		if out == pathmap.None || cube != f.ToRNode[at/2] || f.OCSRack(p) != at/2 ||
			f.Topology.Link(out).ToPort != f.OCSUplink[p] {
			t.Fatalf("port %d of %d leads to %d", at, ocs, cube)
		}
		for q := range int32(f.OCSPorts()) {
			other, to := f.OCSAt(q)
			if got, want := f.SamePlane(p, q), ocs == other && at%2 != to%2; got != want {
				t.Fatalf("a circuit joins %d and %d: %v", p, q, got)
			}
		}
	}
	if got := f.OCSPort(f.OCSNode, int32(2*f.Racks)); got != pathmap.None {
		t.Errorf("a port beyond the faces is port %d", got)
	}
}

func TestPodFace(t *testing.T) {
	f, err := New(Spec{Kind: PodKind, Racks: 3})
	if err != nil {
		t.Fatal(err)
	}
	// OCS 6 is place 1,0 of dimension y, and its port 5 the upper face of cube 2.
	if got := f.Face(f.OCSPort(f.OCSNode+6, 5)); got != "the upper y face of cube2 at 1,0" {
		t.Error(got)
	}
}

func TestPodPicture(t *testing.T) {
	got := Spec{Kind: PodKind, Racks: 8, Layout: Layout{Side: 2}}.Picture()
	for _, want := range []string{"8 cubes of 2×2×2 hosts; 12 OCSes of 16 ports",
		"  ocs0  ocs1        ocs4  ocs5        ocs8  ocs9\n", "  ocs2  ocs3        ocs6  ocs7        ocs10 ocs11\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := (Spec{Kind: Hybrid}).Picture(); got != "" {
		t.Errorf("a hybrid has a picture of faces: %s", got)
	}
}

func TestPodErrors(t *testing.T) {
	for _, tt := range []struct{ spec, says string }{
		{"pod:cubes=8,side=3", "write side=2 or side=4"},
		{"pod:cubes=300", "write 1 to 256"},
		{"pod:cubes=8,ocses=4", "unknown key of a pod"},
		{"pod:cubes=8,ports=12", "8 cubes have 16 faces on each: write ports=16 or more, or cubes=6"},
		{"hybrid:racks=8,side=2", "unknown key of a hybrid"},
		{"pod:cubes=8,ocs@2=1Gbps", "no rates of their own"},
	} {
		if _, err := ParseSpec(tt.spec); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.spec, err)
		}
	}
	for _, tt := range []struct {
		spec Spec
		says string
	}{
		{Spec{Kind: PodKind, Racks: 8, Ports: 4}, "two ports on every OCS"},
		{Spec{Kind: PodKind, OCSes: 4}, "leave ocses and wavelengths out"},
		{Spec{Kind: PodKind, Hosts: 9}, "has 8 hosts, not 9"},
		{Spec{Kind: Hybrid, Layout: Layout{Side: 2}}, "has no cubes"},
	} {
		if err := tt.spec.Check(); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v", tt.spec, err)
		}
	}
}
