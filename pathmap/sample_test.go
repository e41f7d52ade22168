package pathmap_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/pathtest"
	"lightloom/pathmap/topo"
)

// TestGonum compares the lengths of paths with those of another's Yen, on pairs of each topology.
func TestGonum(t *testing.T) {
	const k = 10
	for name, topology := range pathtest.Samples() {
		t.Run(name, func(t *testing.T) {
			tors := topo.ToRs(topology)
			m, err := pathmap.Build(topology, tors, pathmap.Options{K: k, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			g := asGonum(topology)
			r := rand.New(rand.NewPCG(6, 6))
			for range 12 {
				s, d := r.IntN(len(tors)), r.IntN(len(tors))
				if s == d {
					continue
				}
				want := yen(g, k, tors[s], tors[d])
				if n := m.Paths(s, d); n != len(want) {
					t.Fatalf("ends %d and %d: %d paths, want %d", s, d, n, len(want))
				}
				for i := range want {
					if got := len(m.AppendPath(nil, s, d, i)); got != len(want[i])-1 {
						t.Errorf("ends %d and %d: path %d has %d links, want %d", s, d, i, got, len(want[i])-1)
					}
				}
			}
		})
	}
}

// TestSampleForms compares the forms on each topology: packing looks at a few links where a lookup
// looks at all.
func TestSampleForms(t *testing.T) {
	for name, topology := range pathtest.Samples() {
		for _, k := range []int{1, 4, 11} {
			implicit, err := pathmap.Build(topology, topo.ToRs(topology), pathmap.Options{K: k, Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			packed, err := pathmap.Build(topology, topo.ToRs(topology),
				pathmap.Options{K: k, Seed: 7, Packed: true})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(pathtest.All(implicit), pathtest.All(packed)) {
				t.Errorf("%s, k=%d: implicit and packed differ", name, k)
			}
		}
	}
}

// TestSpread: the first paths of all pairs use a fat-tree's links evenly. Ties in the order of ports
// would put 960 pairs on one of the 1,024 links from aggregation to core; by chance alone, 15 on
// average, the most is about 30.
func TestSpread(t *testing.T) {
	topology, err := topo.FatTree(16, 0, pathmap.Gbps)
	if err != nil {
		t.Fatal(err)
	}
	tors := topo.ToRs(topology)
	m, err := pathmap.Build(topology, tors, pathmap.Options{K: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	load := make([]int, len(topology.Links()))
	most := 0
	var buf []pathmap.LinkID
	for s := range tors {
		for d := range tors {
			buf = m.AppendPath(buf[:0], s, d, 0)
			if len(buf) != 4 {
				continue
			}
			for _, l := range buf[1:3] {
				load[l]++
				most = max(most, load[l])
			}
		}
	}
	t.Logf("the busiest link between aggregation and core carries %d pairs", most)
	if most > 40 {
		t.Errorf("the busiest link carries %d pairs", most)
	}
}

// TestNoAllocation: a lookup allocates nothing, in either form.
func TestNoAllocation(t *testing.T) {
	topology, err := topo.FatTree(8, 0, pathmap.Gbps)
	if err != nil {
		t.Fatal(err)
	}
	for _, packed := range []bool{false, true} {
		m, err := pathmap.Build(topology, topo.ToRs(topology), pathmap.Options{K: 10, Packed: packed})
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]pathmap.LinkID, 0, 16)
		n := testing.AllocsPerRun(50, func() {
			for d := range m.Ends() {
				buf = m.AppendPath(buf[:0], 3, d, m.Paths(3, d)-1)
			}
		})
		if n != 0 {
			t.Errorf("packed %v: %v allocations", packed, n)
		}
	}
}
