package pathmap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/pathtest"
)

// hubs returns a few hubs that all leaves hang on, and some cables between leaves, which make circles odd; ends are some
// of all nodes.
func hubs(t *testing.T, r *rand.Rand, hubs, leaves, extra int) (*pathmap.Topology, []pathmap.NodeID) {
	t.Helper()
	b := pathmap.NewBuilder()
	n := hubs + leaves
	for i := range n {
		b.Add(pathmap.Node{Name: fmt.Sprint("n", i), Role: pathmap.ToR, Rack: pathmap.None})
	}
	port := make([]int32, n)
	cable := func(x, y int) {
		b.Cable(pathmap.NodeID(x), port[x], pathmap.NodeID(y), port[y], pathmap.Gbps, pathmap.Gbps)
		port[x]++
		port[y]++
	}
	for _, l := range r.Perm(leaves) {
		for h := range hubs {
			cable(h, hubs+l)
		}
	}
	for range extra {
		x := r.IntN(n)
		cable(x, (x+1+r.IntN(n-1))%n) // at times a second one between the same two
	}
	topology, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var ends []pathmap.NodeID
	for _, e := range r.Perm(n)[:7] {
		ends = append(ends, pathmap.NodeID(e))
	}
	return topology, append(ends, 0)
}

// TestWide compares the forms where nodes have about as many links as are looked at as a whole, and where they have more.
func TestWide(t *testing.T) {
	for _, leaves := range []int{1, 62, 63, 64, 65, 126, 127, 128, 129, 131, 200} {
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, uint64(leaves)))
			topology, ends := hubs(t, r, 6+r.IntN(3), leaves, r.IntN(4))
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
			a, b := all(implicit), all(packed)
			for i := range a {
				if !slices.EqualFunc(a[i], b[i], slices.Equal) {
					t.Fatalf("%d leaves, seed %d, end %d to %d: implicit %v, packed %v", leaves, seed, i/len(ends), i%len(ends), a[i], b[i])
				}
				checkPaths(t, topology, ends[i/len(ends)], ends[i%len(ends)], a[i])
			}
		}
	}
}

// TestWideRepair follows such networks as their links fail and come back, and compares with a rebuild.
func TestWideRepair(t *testing.T) {
	for _, leaves := range []int{64, 127, 128, 129, 140} {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, uint64(leaves)))
			topology, ends := hubs(t, r, 3, leaves, r.IntN(4))
			slices.Sort(ends)
			ends = slices.Compact(ends)
			live, err := pathmap.Follow(topology, ends, pathmap.Options{K: 1 + r.IntN(20), Seed: seed, Packed: true})
			if err != nil {
				t.Fatal(err)
			}
			var failed []pathmap.LinkID
			for range 20 {
				var did string
				if i := len(failed) - 1; i >= 0 && r.IntN(3) == 0 {
					live.HealLink(failed[i])
					did, failed = fmt.Sprint("heal ", failed[i]), failed[:i]
				} else {
					l := pathmap.LinkID(r.IntN(len(topology.Links())))
					live.FailLink(l)
					did, failed = fmt.Sprint("fail ", l), append(failed, l)
				}
				live.Settle()
				want, err := pathmap.Build(topology, ends, live.Options())
				if err != nil {
					t.Fatal(err)
				}
				if a, b := all(live.Map()), all(want); !slices.EqualFunc(a, b, func(x, y [][]pathmap.LinkID) bool { return slices.EqualFunc(x, y, slices.Equal) }) {
					t.Fatalf("%d leaves, seed %d, %s: repaired %v, rebuilt %v", leaves, seed, did, a, b)
				}
			}
		}
	}
}

// TestLookupTakesNoMemory looks paths up on an implicit map.
func TestLookupTakesNoMemory(t *testing.T) {
	topology, ends := hubs(t, rand.New(rand.NewPCG(1, 1)), 8, 140, 2)
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
