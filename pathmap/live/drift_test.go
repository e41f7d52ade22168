package live

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/internal/ksp"
	"lightloom/pathmap/tries"
)

// TestDrift fails and heals links of rings with chords, trees among them, and compares every row with
// one filled anew: where few distances change, where many do, and where nodes are cut off.
func TestDrift(t *testing.T) {
	few, many, off := 0, 0, 0
	for seed := range tries.Of[uint64](60, 150) {
		r := rand.New(rand.NewPCG(seed, 31))
		n := 5 + r.IntN(90)
		b := pathmap.NewBuilder()
		ends, ports := make([]pathmap.NodeID, n), make([]int32, n)
		for i := range ends {
			role := pathmap.ToR
			if r.IntN(12) == 0 {
				role = pathmap.Host
			}
			ends[i] = b.Add(pathmap.Node{Name: fmt.Sprint(i), Role: role})
		}
		cable := func(x, y int) {
			b.Cable(pathmap.NodeID(x), ports[x], pathmap.NodeID(y), ports[y], 1, 1)
			ports[x]++
			ports[y]++
		}
		for i := r.IntN(2); i < n; i++ { // a ring, or a line
			cable(i, (i+n-1)%n)
		}
		for range r.IntN(n) {
			if x, y := r.IntN(n), r.IntN(n); x != y {
				cable(x, y)
			}
		}
		topology, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		v, err := Follow(topology, ends, pathmap.Options{K: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for step := range 40 {
			before := v.m.Dist
			if l := pathmap.LinkID(r.IntN(len(topology.Links()))); r.IntN(5) > 1 {
				v.FailLink(l)
			} else {
				v.HealLink(l)
			}
			for target, got := range v.m.Dist {
				want := ksp.NewRow(v.m.Graph.Nodes())
				want.Fill(v.m.Graph, v.m.Node[target], nil)
				moved := 0
				for n := range int32(v.m.Graph.Nodes()) {
					if got.Code(n) != want.Code(n) {
						t.Fatalf("seed %d, step %d, target %d: node %d has %d, filled anew %d", seed, step,
							target, n, got.Code(n),
							want.Code(n))
					}
					if got.Code(n) != before[target].Code(n) {
						moved++
					}
					if got.Code(n) == ksp.Unreached && before[target].Code(n) != ksp.Unreached {
						off++
					}
				}
				switch {
				case moved > driftNodes:
					many++
				case moved > 0:
					few++
				}
			}
		}
	}
	t.Logf("%d rows in which few distances changed, %d in which many did; %d nodes cut off", few, many, off)
	if few == 0 || many == 0 || off == 0 {
		t.Error("a kind of change has not been tried")
	}
}
