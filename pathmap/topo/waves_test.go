package topo

import (
	"reflect"
	"testing"

	"lightloom/pathmap"
)

// TestWavelengths: port r + w·Racks of the OCS goes to rack r, from the w-th of its ToR's last ports;
// racks without a port have none of any wavelength.
func TestWavelengths(t *testing.T) {
	f := build(t, "hybrid:racks=4,hosts=2,spines=3,eps=1Gbps,ocs=10Gbps,ports=3,wavelengths=2,ocs@1=5Gbps")
	if f.OCSPorts() != 8 || f.Spec.NIC != 10*pathmap.Gbps {
		t.Fatalf("%d ports, NIC %v; want 8 and 2·10/2 Gb/s", f.OCSPorts(), f.Spec.NIC)
	}
	for p := range int32(8) {
		r, w := p%4, p/4
		if f.OCSRack(p) != r {
			t.Errorf("port %d goes to rack %d", p, f.OCSRack(p))
		}
		if r == 3 {
			if f.OCSUplink[p] != pathmap.None {
				t.Errorf("rack 3 has port %d", p)
			}
			continue
		}
		l := f.Topology.Link(f.Topology.OutPort(f.ToRNode[r], f.OCSUplink[p]))
		want := 10 * pathmap.Gbps
		if r == 1 {
			want /= 2
		}
		if f.OCSUplink[p] != 2+3+w || l.To != f.OCSNode || l.ToPort != p || l.Capacity != want {
			t.Errorf("port %d: uplink %d, link %+v", p, f.OCSUplink[p], l)
		}
	}
}

// TestOneWavelength: one is what a spec without the key has, to the letter.
func TestOneWavelength(t *testing.T) {
	plain, err := ParseSpec("hybrid:racks=4,hosts=2")
	if err != nil {
		t.Fatal(err)
	}
	one, err := ParseSpec("hybrid:racks=4,wavelengths=1,hosts=2")
	if err != nil || !reflect.DeepEqual(one, plain) || one.String() != plain.String() ||
		one.Wavelengths() != 1 {
		t.Errorf("%+v, %v; want %+v", one, err, plain)
	}
	two, err := ParseSpec("hybrid:racks=4,hosts=2,wavelengths=2")
	if err != nil || two.String() != "hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,wavelengths=2" {
		t.Errorf("%v, %v", two, err)
	}
}
