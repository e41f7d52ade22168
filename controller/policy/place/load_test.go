package place

import (
	"math"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestLoad: saturation is what port counters say of the racks' links to the packet network, both
// directions, and max-min shares where nothing counts. Links to hosts and to the optical switch, and
// those that are down, are not of it.
func TestLoad(t *testing.T) {
	f := allocatorFabric(t, 2, 4)
	view := func() *controller.View {
		return &controller.View{Fabric: f, Links: make([]controller.LinkRate, len(f.Topology.Links())),
			Down: make([]bool, len(f.Topology.Links()))}
	}
	up := uplinks(view())
	count := func(v *controller.View, l pathmap.LinkID, share float64) {
		v.Links[l] = controller.LinkRate{Span: 1,
			Rate: pathmap.BitsPerSecond(share * float64(f.Topology.Link(l).Capacity))}
	}
	for _, tc := range []struct {
		name string
		set  func(v *controller.View)
		want float64
	}{
		{"nothing counts and nothing flows", func(*controller.View) {}, 0},
		{"every uplink full", func(v *controller.View) {
			for _, links := range up {
				for _, l := range links {
					count(v, l, 1)
					count(v, pathmap.Reverse(l), 1)
				}
			}
		}, 1},
		{"one direction of one rack at half", func(v *controller.View) {
			for _, l := range up[0] {
				count(v, l, 0.5)
			}
		}, 0.125},
		{"other links", func(v *controller.View) {
			for l := range v.Links {
				count(v, pathmap.LinkID(l), 0.9)
			}
			for _, links := range up {
				for _, l := range links {
					count(v, l, 0.2)
					count(v, pathmap.Reverse(l), 0.2)
				}
			}
		}, 0.2},
		{"a rack's links down", func(v *controller.View) {
			for _, l := range up[1] {
				v.Down[l] = true
			}
			for _, l := range up[0] {
				count(v, l, 0.8)
				count(v, pathmap.Reverse(l), 0.8)
			}
		}, 0.8},
		{"max-min of a flow from rack to rack", func(v *controller.View) {
			v.Coflows = []controller.CoflowView{{Started: true, Src: []southbound.HostID{0},
				Dst:   []southbound.HostID{2},
				Ended: []bool{false}}}
		}, 0.5},
		{"a flow within a rack", func(v *controller.View) {
			v.Coflows = []controller.CoflowView{{Started: true, Src: []southbound.HostID{0},
				Dst:   []southbound.HostID{1},
				Ended: []bool{false}}}
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := view()
			if tc.set(v); math.Abs(Load(v)-tc.want) > 1e-6 {
				t.Errorf("load %v, want %v", Load(v), tc.want)
			}
		})
	}
}
