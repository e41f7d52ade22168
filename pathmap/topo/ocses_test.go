package topo

import (
	"fmt"
	"testing"

	"lightloom/pathmap"
)

// TestParallelOCSes: each OCS is a switch of its own name with a port for each rack and wavelength; the fabric
// numbers the ports of all, those of the first OCS first, and translates both ways.
func TestParallelOCSes(t *testing.T) {
	for _, text := range []string{
		"hybrid:racks=5,hosts=2,spines=3,eps=1Gbps,ocs=10Gbps,dark=10ms,ports=4,ocses=3",
		"hybrid:racks=5,hosts=2,spines=3,eps=1Gbps,ocs=10Gbps,dark=10ms,ports=4,wavelengths=2,ocses=3",
		"crossbar:ports=5,rate=1Gbps,dark=10ms,ocses=4",
	} {
		f := build(t, text)
		if f.Spec.String() != text {
			t.Errorf("%s is written %s", text, f.Spec)
		}
		planes, waves, ocses := int32(f.Spec.Planes()), int32(f.Spec.Wavelengths()), int32(f.OCSes())
		if planes != waves*ocses || f.OCSPorts() != f.Racks*int(planes) {
			t.Fatalf("%s: %d planes of %d OCSes, %d ports", text, planes, ocses, f.OCSPorts())
		}
		for p := range int32(f.OCSPorts()) {
			r, plane := p%5, p/5
			ocs, port := f.OCSAt(p)
			want := fmt.Sprintf("ocs%d", plane/waves)
			if name := f.Topology.Node(ocs).Name; name != want || port != r+plane%waves*5 || !f.IsOCS(ocs) {
				t.Errorf("%s: port %d is %s:%d, want %s:%d", text, p, name, port, want, r+plane%waves*5)
			}
			if back := f.OCSPort(ocs, port); back != p || f.OCSRack(p) != r {
				t.Errorf("%s: port %d is %d again, of rack %d", text, p, back, f.OCSRack(p))
			}
			if int(r) >= f.Spec.Ports {
				if f.OCSUplink[p] != pathmap.None {
					t.Errorf("%s: rack %d has port %d", text, r, p)
				}
				continue
			}
			l := f.Topology.Link(f.Topology.OutPort(f.ToRNode[r], f.OCSUplink[p]))
			if l.To != ocs || l.ToPort != port || f.OCSUplink[p] != int32(f.HostsPerRack+f.Spec.Spines)+plane {
				t.Errorf("%s: port %d: uplink %d, link %+v", text, p, f.OCSUplink[p], l)
			}
		}
	}
}

// TestPortsOfOneOCSOnly: a port that an OCS does not have is none of the fabric's, and so none of another OCS;
// a circuit joins ports of one plane.
func TestPortsOfOneOCSOnly(t *testing.T) {
	f := build(t, "hybrid:racks=4,wavelengths=2,ocses=2")
	for _, p := range []int32{-1, 8, 9, 100} {
		if got := f.OCSPort(f.OCSNode, p); got != pathmap.None {
			t.Errorf("port %d of the first OCS is port %d", p, got)
		}
	}
	if f.IsOCS(f.OCSNode-1) || f.IsOCS(f.OCSNode+2) || f.IsOCS(pathmap.None) {
		t.Error("other nodes are OCSes")
	}
	for _, tc := range []struct {
		a, b int32
		want bool
	}{{0, 3, true}, {3, 4, false}, {4, 7, true}, {7, 8, false}, {0, 8, false}, {12, 15, true}} {
		if f.SamePlane(tc.a, tc.b) != tc.want {
			t.Errorf("ports %d and %d are of one plane: %v", tc.a, tc.b, !tc.want)
		}
	}
}

// TestOneOCS: one is what a spec without the key has, and its ports keep their numbers.
func TestOneOCS(t *testing.T) {
	f := build(t, "hybrid:racks=4,hosts=2,ocses=1")
	if plain := build(t, "hybrid:racks=4,hosts=2"); f.Spec.String() != plain.Spec.String() {
		t.Errorf("%s, want %s", f.Spec, plain.Spec)
	}
	if ocs, p := f.OCSAt(3); ocs != f.OCSNode || p != 3 || f.OCSPort(ocs, 77) != 77 || f.Topology.Node(ocs).Name != "ocs" {
		t.Errorf("port 3 is %v:%d", ocs, p)
	}
	if leaf := build(t, "leafspine:racks=4"); leaf.OCSes() != 0 || leaf.IsOCS(pathmap.None) {
		t.Errorf("a leaf-spine has %d OCSes", leaf.OCSes())
	}
}
