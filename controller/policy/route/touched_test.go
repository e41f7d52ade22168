package route

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestTouchedIsWhatPathsSay: the index from links to pairs of racks finds for every set of links that
// came or went the host flows that looking at all paths finds, on all kinds of fabrics.
func TestTouchedIsWhatPathsSay(t *testing.T) {
	for _, text := range []string{"leafspine:racks=6,hosts=1,spines=3", "fattree:k=4",
		"jellyfish:switches=14,degree=4,hosts=14", "hybrid:racks=5,hosts=2,spines=2,dark=10ms"} {
		spec, err := topo.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec.WithDefaults())
		if err != nil {
			t.Fatal(err)
		}
		index, err := f.Follow(f.Spec.PathsKept(), 3)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[bool]int{}
		for seed := range uint64(500) {
			rng := rand.New(rand.NewPCG(seed, 1))
			v := &controller.View{Fabric: f, Paths: index.Map()}
			v.Changed = make([]bool, len(f.Topology.Links()))
			touched := []pathmap.Pair{}
			for range rng.IntN(3) {
				l := pathmap.LinkID(rng.IntN(len(v.Changed)))
				v.Changed[l], v.Changed[pathmap.Reverse(l)] = true, true
				touched = append(touched, index.Users(l)...)
			}
			slices.SortFunc(touched, pathmap.ComparePairs)
			slow := newFinder(v)
			indexed := *v
			indexed.Touched = slices.Compact(touched)
			fast := newFinder(&indexed)
			for a := range southbound.RackID(f.Racks) {
				for b := range southbound.RackID(f.Racks) {
					if a == b {
						continue
					}
					want := slow.changed(a, b)
					seen[want]++
					if fast.changed(a, b) != want {
						t.Fatalf("%s, seed %d: racks %d and %d have a path over a changed link: the index says %v, the paths %v", text,
							seed, a, b, !want, want)
					}
				}
			}
		}
		if seen[true] == 0 || seen[false] == 0 {
			t.Errorf("%s: answers %v: the test has hardly looked", text, seen)
		}
	}
}
