package flowsim

import (
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestCircuitsFollowNoPace: of a pod, host flows over any of its circuits send at their own rates, whatever pace or
// spread their coflow has. On packets they follow that.
func TestCircuitsFollowNoPace(t *testing.T) {
	const ends = 80 * ms // 1 MB at 100 Mbps
	for _, tc := range []struct {
		fabric string
		tag    southbound.Tag
		want   bool // it ends by its own rate
	}{
		{"pod:cubes=2,side=2,spines=1", southbound.TagCircuit, true},
		{"pod:cubes=2,side=2,spines=1", 2, true},
		{"pod:cubes=2,side=2,spines=1", 6, true},
		{"pod:cubes=2,side=2,spines=1", 1, false},
		{"pod:cubes=2,side=2,spines=2", 2, false},
		{"pod:cubes=2,side=2,spines=2", 3, true},
		{"hybrid:racks=2,hosts=2,spines=1", 2, false},
	} {
		for name, held := range map[string]southbound.Rates{
			"pace":   {Pace: []southbound.Pace{{Coflow: 3}}},
			"spread": {Spread: []southbound.Spread{{Coflow: 3}}},
		} {
			spec, err := topo.ParseSpec(tc.fabric + ",nic=100Mbps,eps=100Mbps")
			if err != nil {
				t.Fatal(err)
			}
			f := fabric(t, spec)
			s := simulate(t, f, Options{})
			wire(t, s)
			dst := southbound.HostID(f.HostsPerRack)
			held.Pairs = []southbound.PairRate{{Src: 0, Dst: dst, Tag: tc.tag, Rate: 100 * pathmap.Mbps}}
			start(t, s, 3, row{0, dst, mb, tc.tag})
			rates(t, s, held)
			if got := len(advance(t, s, ends+ends/2)) == 1; got != tc.want {
				t.Errorf("%s, tag %d, %s: has ended: %v, want %v", tc.fabric, tc.tag, name, got, tc.want)
			}
		}
	}
}
