package rollout_test

import (
	"math/rand/v2"
	"testing"

	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestAvoid takes links of the packet network away at random: as long as every two racks share a spine,
// every packet of every tag arrives without one of them, and without help of a backup. With all links
// back the tables are the first.
func TestAvoid(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=5,hosts=1,spines=4", 4)
	_, fresh := fabric(t, "hybrid:racks=5,hosts=1,spines=4", 4)
	top := f.Topology
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		down := make([]bool, len(top.Links()))
		up := make([][4]bool, f.Racks)
		for l, link := range top.Links() {
			if top.Node(link.From).Role != pathmap.ToR || top.Node(link.To).Role != pathmap.Switch {
				continue
			}
			spine := int(link.To) - f.Racks
			if up[link.From][spine] = r.IntN(4) > 0; !up[link.From][spine] {
				down[l], down[pathmap.Reverse(pathmap.LinkID(l))] = true, true
			}
		}
		if !joined(up) {
			continue
		}
		b.Avoid(func(l pathmap.LinkID) bool { return down[l] })
		x := tables(f, b, dark(f.Racks))
		for i := range x.Rules {
			for j := range x.Rules[i] {
				x.Rules[i][j].Backup = southbound.NoPort
			}
		}
		x.Dark = down
		// Tag 7 is the circuit's; without one it takes the default as any other does.
		if err := rollout.Check(x); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	b.Avoid(nil)
	for _, d := range b.Devices() {
		if c := rollout.Diff(fresh.Rules(d, dark(f.Racks)), b.Rules(d, dark(f.Racks))); !c.Empty() {
			t.Errorf("device %d: after all links are back its table differs by %+v", d, c)
		}
	}
}

// joined reports whether every two racks share a spine.
func joined(up [][4]bool) bool {
	for a := range up {
		for b := range up {
			shared := false
			for s := range up[a] {
				shared = shared || up[a][s] && up[b][s]
			}
			if !shared {
				return false
			}
		}
	}
	return true
}
