package topo

import (
	"fmt"
	"strings"
	"testing"

	"lightloom/pathmap"
)

// TestRails: each rack has one cable, to the OCS of its rail, and numbers translate both ways.
func TestRails(t *testing.T) {
	const text = "hybrid:racks=12,hosts=2,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms,rails=4"
	f := build(t, text)
	if f.Spec.String() != text || f.OCSes() != 4 || f.Spec.NIC != 5*pathmap.Gbps {
		t.Errorf("%s is written %s, with %d OCSes and NICs of %v", text, f.Spec, f.OCSes(), f.Spec.NIC)
	}
	cables := 0
	for p := range int32(f.OCSPorts()) {
		ocs, port := f.OCSAt(p)
		rack, rail := p%12, p/12
		if rack%4 != rail {
			if f.OCSUplink[p] != pathmap.None || port != pathmap.None {
				t.Errorf("rack %d has port %d on rail %d", rack, port, rail)
			}
			continue
		}
		cables++
		l := f.Topology.Link(f.Topology.OutPort(f.ToRNode[rack], f.OCSUplink[p]))
		if l.To != ocs || l.ToPort != port || port != rack/4 || f.Topology.Node(ocs).Name != fmt.Sprintf("ocs%d", rail) {
			t.Errorf("port %d: %s:%d, cable %+v", p, f.Topology.Node(ocs).Name, port, l)
		}
		if back := f.OCSPort(ocs, port); back != p || f.OCSRack(p) != rack {
			t.Errorf("port %d is %d again, of rack %d", p, back, f.OCSRack(p))
		}
	}
	if cables != 12 || f.OCSPort(f.OCSNode, 3) != pathmap.None || f.Topology.Ports(f.OCSNode) != 3 {
		t.Errorf("%d cables, %d ports of the first OCS", cables, f.Topology.Ports(f.OCSNode))
	}
	if f.Spec.CircuitMayJoin(0, 1) || !f.Spec.CircuitMayJoin(1, 9) {
		t.Error("circuits join racks of one rail alone")
	}
	for _, part := range []string{"3 units of 2 servers, each with 4 NICs, one a rail", "ocs0     ocs1     ocs2     ocs3",
		"unit 2   tor8     tor9     tor10    tor11"} {
		if !strings.Contains(f.Spec.Picture(), part) {
			t.Errorf("the picture lacks %q:\n%s", part, f.Spec.Picture())
		}
	}
	if s := f.Spec.WithoutOCS(true); s.Check() != nil || s.EPS != 11*pathmap.Gbps {
		t.Errorf("without its OCSes: %v, %v", s, s.Check())
	}
}

// TestRailErrors: what makes no rails is refused with the nearest that works.
func TestRailErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"hybrid:racks=10,rails=4", "rails: 10 racks are no whole units of 4 rails: write racks=12"},
		{"hybrid:racks=8,rails=1", "rails: 1 is out of range: write 2 to 16"},
		{"hybrid:racks=8,rails=4,ocses=2", "leave ocses and wavelengths out"},
		{"hybrid:racks=8,rails=4,ports=4", "the OCS of a rail has a port for each of its racks: leave ports out"},
		{"hybrid:racks=8,rails=4,ports@1=4", "the OCS of a rail has a port for each of its racks: leave ports out"},
		{"leafspine:racks=8,rails=4", "unknown key of a leafspine"},
	} {
		if _, err := ParseSpec(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	if err := (Spec{Kind: LeafSpine, Layout: Layout{Rails: 2}}).Check(); err == nil {
		t.Error("a leaf-spine has rails")
	}
}
