package live_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/live"
	"lightloom/pathmap/pathtest"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
)

// users lists by brute force which pairs have a link on one of their paths.
func users(m *pathmap.Map, l pathmap.LinkID) []pathmap.Pair {
	pairs := []pathmap.Pair{}
	for a := range m.Ends() {
		for b := a + 1; b < m.Ends(); b++ {
			for i := range m.Paths(a, b) {
				p := m.AppendPath(nil, a, b, i)
				if slices.Contains(p, l) || slices.Contains(p, pathmap.Reverse(l)) {
					pairs = append(pairs, pathmap.Pair{A: int32(a), B: int32(b)})
					break
				}
			}
		}
	}
	return pairs
}

// differ lists by brute force which pairs have other paths in one map than in the other.
func differ(before, after [][][]pathmap.LinkID, ends int) []pathmap.Pair {
	pairs := []pathmap.Pair{}
	for a := range ends {
		for b := a + 1; b < ends; b++ {
			if !reflect.DeepEqual(before[a*ends+b], after[a*ends+b]) {
				pairs = append(pairs, pathmap.Pair{A: int32(a), B: int32(b)})
			}
		}
	}
	return pairs
}

// step makes a random change to the network, and returns its description.
func step(r *rand.Rand, t *pathmap.Topology, followed *live.Paths) (string, []pathmap.Pair) {
	n := pathmap.NodeID(r.IntN(len(t.Nodes())))
	if len(t.Links()) == 0 || r.IntN(4) == 0 {
		if r.IntN(2) == 0 {
			return fmt.Sprint("fail node ", n), followed.FailNode(n)
		}
		return fmt.Sprint("heal node ", n), followed.HealNode(n)
	}
	l := pathmap.LinkID(r.IntN(len(t.Links())))
	switch r.IntN(6) {
	case 0, 1:
		return fmt.Sprint("fail link ", l), followed.FailLink(l)
	case 2, 3:
		return fmt.Sprint("heal link ", l), followed.HealLink(l)
	}
	c := pathmap.BitsPerSecond(r.IntN(3))
	pairs, err := followed.SetCapacity(l, c)
	if err != nil {
		panic(err)
	}
	return fmt.Sprint("set link ", l, " to ", c), pairs
}

// TestRepair follows random networks through random sequences, and compares with a rebuild after each
// step: every path, in its order, the index, the reported pairs, and that maps returned before stay
// unchanged.
func TestRepair(t *testing.T) {
	seeds := tries.Of[uint64](300, 2000)
	changed := 0
	worth := live.SetWorth(0)
	t.Cleanup(func() { live.SetWorth(worth) })
	for seed := range seeds {
		live.SetWorth(worth * int64(seed%2)) // the index is lists, or sets
		r := rand.New(rand.NewPCG(seed, 11))
		topology, ends := pathtest.Random(r, 4+r.IntN(12))
		opt := pathmap.Options{K: 1 + r.IntN(8), Seed: seed, Packed: r.IntN(4) > 0}
		if r.IntN(2) == 0 {
			opt.Avoid = pathtest.IsOCS(topology)
		}
		down := pathtest.Down(r, topology, r.IntN(3))
		opt.Down = func(l pathmap.LinkID) bool { return down[l] }
		followed, err := live.Follow(topology, ends, opt)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		did := []string{"begin"}
		for n := range 8 {
			old := followed.Map()
			before := pathtest.All(old)
			what, pairs := step(r, topology, followed)
			did = append(did, what)
			want, err := pathmap.Build(topology, ends, followed.Options())
			if err != nil {
				t.Fatal(err)
			}
			after := pathtest.All(want)
			touched, at := pairs, followed.Map()
			if got := pathtest.All(at); !reflect.DeepEqual(got, after) {
				t.Fatalf("seed %d, %v: touched %v, rebuilt %v", seed, did, got, after)
			}
			settled := r.IntN(3) > 0
			if settled { // else the next change, or a question about users, settles
				pairs = followed.Settle()
				if got := pathtest.All(followed.Map()); !reflect.DeepEqual(got, after) {
					t.Fatalf("seed %d, %v: settled %v, rebuilt %v", seed, did, got, after)
				}
				if !reflect.DeepEqual(pathtest.All(at), after) {
					t.Fatalf("seed %d, %v: settling changed the map before it", seed, did)
				}
			}
			if !reflect.DeepEqual(pathtest.All(old), before) {
				t.Fatalf("seed %d, %v: a repair changed the map before it", seed, did)
			}
			if !opt.Packed {
				if pairs != nil {
					t.Fatalf("seed %d: an implicit map tells of pairs", seed)
				}
				continue
			}
			diff := differ(before, after, len(ends))
			for _, p := range diff {
				if !slices.Contains(touched, p) {
					t.Fatalf("seed %d, %v: %v changed, and only %v were touched", seed, did, p, touched)
				}
			}
			if settled && !slices.Equal(pairs, diff) {
				t.Fatalf("seed %d, %v: says %v changed, want %v", seed, did, pairs, diff)
			}
			changed += len(pairs)
			for l := r.IntN(2); l < len(topology.Links()) && (l < 2 || n == 7); l += 2 {
				if got, want := followed.Users(pathmap.LinkID(l)), users(want,
					pathmap.LinkID(l)); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %v: link %d is used by %v, want %v", seed, did, l, got, want)
				}
			}
		}
	}
	t.Logf("%d pairs changed", changed)
}

// TestRepairSamples follows the fabrics of the field: rows are long enough for fans, and for patches to
// be written whole.
func TestRepairSamples(t *testing.T) {
	for name, topology := range pathtest.Samples() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(12, 12))
			ends := topo.ToRs(topology)
			followed, err := live.Follow(topology, ends, pathmap.Options{K: 10, Seed: 3, Packed: true})
			if err != nil {
				t.Fatal(err)
			}
			for range tries.Of(8, 30) {
				what, _ := step(r, topology, followed)
				want, err := pathmap.Build(topology, ends, followed.Options())
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(pathtest.All(followed.Map()), pathtest.All(want)) {
					t.Fatalf("%s: repaired and rebuilt differ", what)
				}
			}
			rest := func(l pathmap.LinkID) { followed.HealLink(l); followed.SetCapacity(l, pathmap.Gbps) }
			for l := range topology.Links() {
				rest(pathmap.LinkID(l))
			}
			for n := range topology.Nodes() {
				followed.HealNode(pathmap.NodeID(n))
			}
			want, err := pathmap.Build(topology, ends, pathmap.Options{K: 10, Seed: 3, Packed: true})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(pathtest.All(followed.Map()), pathtest.All(want)) {
				t.Error("with everything back, the map is not what it was")
			}
			if got, most := followed.Map().Bytes(), 2*want.Bytes(); got > most {
				t.Errorf("repairs have grown the map to %d bytes, from %d", got, want.Bytes())
			}
		})
	}
}

func TestLiveStates(t *testing.T) {
	b := pathmap.NewBuilder()
	for i := range 3 {
		b.Add(pathmap.Node{Name: fmt.Sprint("n", i), Role: pathmap.ToR})
	}
	b.Cable(0, 0, 1, 0, pathmap.Gbps, pathmap.Gbps) // 0, 1
	b.Cable(1, 1, 2, 0, pathmap.Gbps, pathmap.Gbps) // 2, 3
	b.Cable(0, 1, 2, 1, pathmap.Gbps, pathmap.Gbps) // 4, 5
	topology, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	followed, err := live.Follow(topology, []pathmap.NodeID{2, 0}, pathmap.Options{K: 3, Packed: true})
	if err != nil {
		t.Fatal(err)
	}
	the := []pathmap.Pair{{A: 0, B: 1}}
	for _, c := range []struct {
		what  string
		do    func() []pathmap.Pair
		want  []pathmap.Pair
		paths int
	}{
		{"heal what is up", func() []pathmap.Pair { return followed.HealLink(0) }, nil, 2},
		{"fail a link by its other direction", func() []pathmap.Pair { return followed.FailLink(1) }, the, 1},
		{"fail it again", func() []pathmap.Pair { return followed.FailLink(0) }, nil, 1},
		{"fail the node behind it", func() []pathmap.Pair { return followed.FailNode(1) }, nil, 1},
		{"heal the node", func() []pathmap.Pair { return followed.HealNode(1) }, nil, 1},
		{"heal the link", func() []pathmap.Pair { return followed.HealLink(0) }, the, 2},
		{"fail the node", func() []pathmap.Pair { return followed.FailNode(1) }, the, 1},
		{"fail an end", func() []pathmap.Pair { return followed.FailNode(2) }, the, 0},
		{"heal the node, not the end", func() []pathmap.Pair { return followed.HealNode(1) }, nil, 0},
		{"heal the end", func() []pathmap.Pair { return followed.HealNode(2) }, the, 2},
		{"no capacity", func() []pathmap.Pair { p, _ := followed.SetCapacity(5, 0); return p }, the, 1},
		{"some capacity", func() []pathmap.Pair { p, _ := followed.SetCapacity(5, 1); return p }, the, 2},
		{"more capacity", func() []pathmap.Pair { p, _ := followed.SetCapacity(5, 7); return p }, nil, 2},
	} {
		c.do()
		if got := followed.Settle(); !slices.Equal(got, c.want) || followed.Map().Paths(0, 1) != c.paths {
			t.Errorf("%s: changed %v, want %v; %d paths, want %d", c.what, got, c.want,
				followed.Map().Paths(0, 1), c.paths)
		}
	}
	if got := followed.Bandwidth().Capacity(5); got != 7 || followed.Down(5) {
		t.Errorf("link 5 carries %v, down %v", got, followed.Down(5))
	}
	if _, err := followed.SetCapacity(2, -1); err == nil ||
		err.Error() != "set capacity of link 2: -1bps is below zero: "+
			"write 0 for a link that is down" {
		t.Error(err)
	}
	if _, err := live.Follow(topology, nil, pathmap.Options{}); err == nil {
		t.Error("k of zero is followed")
	}
}

// TestWideRepair follows such networks as their links fail and come back, and compares with a rebuild.
func TestWideRepair(t *testing.T) {
	for _, leaves := range []int{64, 127, 128, 129, 140} {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, uint64(leaves)))
			topology, ends := pathtest.Hubs(r, 3, leaves, r.IntN(4))
			slices.Sort(ends)
			ends = slices.Compact(ends)
			followed, err := live.Follow(topology, ends,
				pathmap.Options{K: 1 + r.IntN(20), Seed: seed, Packed: true})
			if err != nil {
				t.Fatal(err)
			}
			var failed []pathmap.LinkID
			for range 20 {
				var did string
				if i := len(failed) - 1; i >= 0 && r.IntN(3) == 0 {
					followed.HealLink(failed[i])
					did, failed = fmt.Sprint("heal ", failed[i]), failed[:i]
				} else {
					l := pathmap.LinkID(r.IntN(len(topology.Links())))
					followed.FailLink(l)
					did, failed = fmt.Sprint("fail ", l), append(failed, l)
				}
				followed.Settle()
				want, err := pathmap.Build(topology, ends, followed.Options())
				if err != nil {
					t.Fatal(err)
				}
				if a, b := pathtest.All(followed.Map()), pathtest.All(want); !reflect.DeepEqual(a, b) {
					t.Fatalf("%d leaves, seed %d, %s: repaired %v, rebuilt %v", leaves, seed, did, a, b)
				}
			}
		}
	}
}
