package api

import (
	"slices"
	"testing"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestDescribeFabric: a replica tells its fabric by names: nodes with their racks, hosts, links, and
// what was changed.
func TestDescribeFabric(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 3, Hosts: 2, Spines: 1}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	name := func(n southbound.DeviceID) string { return f.Topology.Node(n).Name }
	got := DescribeFabric(f, "asked", controller.FabricChange{Generation: 4,
		Drained: []southbound.DeviceID{f.ToRNode[1]},
		Removed: []southbound.DeviceID{f.ToRNode[2]}})
	if got.Spec != f.Spec.String() || got.Policy != "asked" || got.Generation != 4 ||
		!slices.Equal(got.Drained, []string{name(f.ToRNode[1])}) ||
		!slices.Equal(got.Removed, []string{name(f.ToRNode[2])}) {
		t.Errorf("%v", got)
	}
	if p := DescribeFabric(f, "asked", controller.FabricChange{Policy: "changed"}).Policy; p != "changed" {
		t.Errorf("policy %q", p)
	}
	var hosts []string
	for _, n := range f.HostNode {
		hosts = append(hosts, name(n))
	}
	if !slices.Equal(got.Hosts, hosts) || len(got.Nodes) != len(f.Topology.Nodes()) || len(got.Links) !=
		len(f.Topology.Links()) {
		t.Errorf("hosts %v of %v, %d nodes, %d links", got.Hosts, hosts, len(got.Nodes), len(got.Links))
	}
	rack := func(n southbound.DeviceID) *apiv1.Node { return got.Nodes[n] }
	for r, tor := range f.ToRNode {
		if x := rack(tor); x.Rack != int32(r) || x.Name != name(tor) ||
			x.Role != f.Topology.Node(tor).Role.String() {
			t.Errorf("rack %d: %v", r, x)
		}
	}
	if x := rack(f.HostNode[3]); x.Rack != 1 {
		t.Errorf("host 3: %v", x)
	}
	if x := rack(f.OCSNode); x.Rack != -1 {
		t.Errorf("the optical switch: %v", x)
	}
	for id, l := range f.Topology.Links() {
		if x := got.Links[id]; x.From != int32(l.From) || x.To != int32(l.To) ||
			x.BitsPerSecond != int64(l.Capacity) ||
			x.Unplugged {
			t.Errorf("link %d: %v, want %v", id, x, l)
		}
	}
}
