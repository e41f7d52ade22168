package rollout_test

import (
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestDefaultPorts: at a ToR a packet without a known tag leaves by the port of path 0, which need not be the lowest
// that leads down; elsewhere by the lowest.
func TestDefaultPorts(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=6,hosts=1,spines=4", 4)
	m, err := f.PathMap(4, 1)
	if err != nil {
		t.Fatal(err)
	}
	deflt := func(d southbound.DeviceID, dst int) southbound.Port {
		for _, r := range b.Rules(d, dark(f.Racks)) {
			if r.Dst == southbound.RackID(dst) && r.Tag == southbound.AnyTag && r.Src == southbound.AnyRack {
				return r.Primary
			}
		}
		return southbound.NoPort
	}
	higher := 0
	for s := range f.Racks {
		for d := range f.Racks {
			if s == d {
				continue
			}
			var first []southbound.Port
			for i := range m.Paths(s, d) {
				first = append(first, southbound.Port(f.Topology.Link(m.AppendPath(nil, s, d, i)[0]).FromPort))
			}
			if got := deflt(f.ToRNode[s], d); got != first[0] {
				t.Errorf("rack %d to %d: the default is port %d, paths leave by %v", s, d, got, first)
			}
			if first[0] > slices.Min(first) {
				higher++
			}
		}
	}
	if higher == 0 {
		t.Error("every path 0 leaves by the lowest port: the fabric tells nothing")
	}
	for n, node := range f.Topology.Nodes() {
		for d := range f.Racks {
			if node.Role != pathmap.Switch {
				continue
			}
			want := southbound.NoPort
			for _, l := range f.Topology.Out(pathmap.NodeID(n)) {
				if p := southbound.Port(f.Topology.Link(l).FromPort); f.Topology.Link(l).To == f.ToRNode[d] &&
					(want == southbound.NoPort || p < want) {
					want = p
				}
			}
			if got := deflt(southbound.DeviceID(n), d); got != want {
				t.Errorf("%s to rack %d: the default is port %d, want %d", node.Name, d, got, want)
			}
		}
	}
}
