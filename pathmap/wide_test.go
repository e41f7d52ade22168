package pathmap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/pathtest"
	"lightloom/pathmap/tries"
)

// TestWide compares the forms where nodes have about as many links as are looked at as a whole, and
// where they have more.
func TestWide(t *testing.T) {
	for _, leaves := range []int{1, 62, 63, 64, 65, 127, 128, 129, 191, 193, 254, 255, 256, 257, 259, 300} {
		for seed := range tries.Of[uint64](5, 12) {
			r := rand.New(rand.NewPCG(seed, uint64(leaves)))
			topology, ends := pathtest.Hubs(r, 6+r.IntN(3), leaves, r.IntN(4))
			slices.Sort(ends)
			ends = slices.Compact(ends)
			opt := pathmap.Options{K: 1 + r.IntN(40), Seed: seed}
			if r.IntN(2) == 0 {
				down := pathtest.Down(r, topology, 1+r.IntN(3*leaves))
				opt.Down = func(l pathmap.LinkID) bool { return down[l] }
			}
			implicit, err := pathmap.Build(topology, ends, opt)
			if err != nil {
				t.Fatal(err)
			}
			opt.Packed = true
			packed, err := pathmap.Build(topology, ends, opt)
			if err != nil {
				t.Fatal(err)
			}
			a, b := pathtest.All(implicit), pathtest.All(packed)
			for i := range a {
				if !slices.EqualFunc(a[i], b[i], slices.Equal) {
					t.Fatalf("%d leaves, seed %d, end %d to %d: implicit %v, packed %v", leaves, seed,
						i/len(ends), i%len(ends), a[i],
						b[i])
				}
				checkPaths(t, topology, ends[i/len(ends)], ends[i%len(ends)], a[i])
			}
		}
	}
}

// TestLookupTakesNoMemory looks paths up on an implicit map.
func TestLookupTakesNoMemory(t *testing.T) {
	topology, ends := pathtest.Hubs(rand.New(rand.NewPCG(1, 1)), 8, 140, 2)
	slices.Sort(ends)
	m, err := pathmap.Build(topology, slices.Compact(ends), pathmap.Options{K: 10, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]pathmap.LinkID, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		for s := range m.Ends() {
			for i := range m.Paths(0, s) {
				buf = m.AppendPath(buf[:0], 0, s, i)
			}
		}
	}); n != 0 {
		t.Errorf("looking up takes memory %v times", n)
	}
}
