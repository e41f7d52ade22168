package pathmap_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/pathtest"
	"lightloom/pathmap/topo"
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

// step does something to the network at random, and says what.
func step(r *rand.Rand, t *pathmap.Topology, live *pathmap.Live) (string, []pathmap.Pair) {
	n := pathmap.NodeID(r.IntN(len(t.Nodes())))
	if len(t.Links()) == 0 || r.IntN(4) == 0 {
		if r.IntN(2) == 0 {
			return fmt.Sprint("fail node ", n), live.FailNode(n)
		}
		return fmt.Sprint("heal node ", n), live.HealNode(n)
	}
	l := pathmap.LinkID(r.IntN(len(t.Links())))
	switch r.IntN(6) {
	case 0, 1:
		return fmt.Sprint("fail link ", l), live.FailLink(l)
	case 2, 3:
		return fmt.Sprint("heal link ", l), live.HealLink(l)
	}
	c := pathmap.BitsPerSecond(r.IntN(3))
	pairs, err := live.SetCapacity(l, c)
	if err != nil {
		panic(err)
	}
	return fmt.Sprint("set link ", l, " to ", c), pairs
}

// TestRepair follows random networks through random sequences, and compares with a rebuild after each step: every path,
// in its order, the index, the pairs said to have changed, and that maps given out before stay as they were.
func TestRepair(t *testing.T) {
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 300
	}
	changed := 0
	worth := pathmap.SetWorth(0)
	t.Cleanup(func() { pathmap.SetWorth(worth) })
	for seed := range seeds {
		pathmap.SetWorth(worth * int64(seed%2)) // the index is lists, or sets
		r := rand.New(rand.NewPCG(seed, 11))
		topology, ends := pathtest.Random(r, 4+r.IntN(12))
		opt := pathmap.Options{K: 1 + r.IntN(8), Seed: seed, Packed: r.IntN(4) > 0}
		if r.IntN(2) == 0 {
			opt.Avoid = isOCS(topology)
		}
		down := pathtest.Down(r, topology, r.IntN(3))
		opt.Down = func(l pathmap.LinkID) bool { return down[l] }
		live, err := pathmap.Follow(topology, ends, opt)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		did := []string{"begin"}
		for n := range 8 {
			old := live.Map()
			before := all(old)
			what, pairs := step(r, topology, live)
			did = append(did, what)
			want, err := pathmap.Build(topology, ends, live.Options())
			if err != nil {
				t.Fatal(err)
			}
			after := all(want)
			touched, at := pairs, live.Map()
			if got := all(at); !reflect.DeepEqual(got, after) {
				t.Fatalf("seed %d, %v: touched %v, rebuilt %v", seed, did, got, after)
			}
			settled := r.IntN(3) > 0
			if settled { // else the next change, or a question about users, settles
				pairs = live.Settle()
				if got := all(live.Map()); !reflect.DeepEqual(got, after) {
					t.Fatalf("seed %d, %v: settled %v, rebuilt %v", seed, did, got, after)
				}
				if !reflect.DeepEqual(all(at), after) {
					t.Fatalf("seed %d, %v: settling changed the map before it", seed, did)
				}
			}
			if !reflect.DeepEqual(all(old), before) {
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
				if got, want := live.Users(pathmap.LinkID(l)), users(want, pathmap.LinkID(l)); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %v: link %d is used by %v, want %v", seed, did, l, got, want)
				}
			}
		}
	}
	t.Logf("%d pairs changed", changed)
}

// TestRepairSamples follows the fabrics of the field: rows are long enough for fans, and for patches to be written whole.
func TestRepairSamples(t *testing.T) {
	for name, topology := range samples(t) {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(12, 12))
			ends := topo.ToRs(topology)
			live, err := pathmap.Follow(topology, ends, pathmap.Options{K: 10, Seed: 3, Packed: true})
			if err != nil {
				t.Fatal(err)
			}
			steps := 30
			if testing.Short() {
				steps = 8
			}
			for range steps {
				what, _ := step(r, topology, live)
				want, err := pathmap.Build(topology, ends, live.Options())
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(all(live.Map()), all(want)) {
					t.Fatalf("%s: repaired and rebuilt differ", what)
				}
			}
			rest := func(l pathmap.LinkID) { live.HealLink(l); live.SetCapacity(l, pathmap.Gbps) }
			for l := range topology.Links() {
				rest(pathmap.LinkID(l))
			}
			for n := range topology.Nodes() {
				live.HealNode(pathmap.NodeID(n))
			}
			want, err := pathmap.Build(topology, ends, pathmap.Options{K: 10, Seed: 3, Packed: true})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(all(live.Map()), all(want)) {
				t.Error("with everything back, the map is not what it was")
			}
			if got, most := live.Map().Bytes(), 2*want.Bytes(); got > most {
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
	live, err := pathmap.Follow(topology, []pathmap.NodeID{2, 0}, pathmap.Options{K: 3, Packed: true})
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
		{"heal what is up", func() []pathmap.Pair { return live.HealLink(0) }, nil, 2},
		{"fail a link by its other direction", func() []pathmap.Pair { return live.FailLink(1) }, the, 1},
		{"fail it again", func() []pathmap.Pair { return live.FailLink(0) }, nil, 1},
		{"fail the node behind it", func() []pathmap.Pair { return live.FailNode(1) }, nil, 1},
		{"heal the node", func() []pathmap.Pair { return live.HealNode(1) }, nil, 1},
		{"heal the link", func() []pathmap.Pair { return live.HealLink(0) }, the, 2},
		{"fail the node", func() []pathmap.Pair { return live.FailNode(1) }, the, 1},
		{"fail an end", func() []pathmap.Pair { return live.FailNode(2) }, the, 0},
		{"heal the node, not the end", func() []pathmap.Pair { return live.HealNode(1) }, nil, 0},
		{"heal the end", func() []pathmap.Pair { return live.HealNode(2) }, the, 2},
		{"no capacity", func() []pathmap.Pair { p, _ := live.SetCapacity(5, 0); return p }, the, 1},
		{"some capacity", func() []pathmap.Pair { p, _ := live.SetCapacity(5, 1); return p }, the, 2},
		{"more capacity", func() []pathmap.Pair { p, _ := live.SetCapacity(5, 7); return p }, nil, 2},
	} {
		c.do()
		if got := live.Settle(); !slices.Equal(got, c.want) || live.Map().Paths(0, 1) != c.paths {
			t.Errorf("%s: changed %v, want %v; %d paths, want %d", c.what, got, c.want, live.Map().Paths(0, 1), c.paths)
		}
	}
	if got := live.Bandwidth().Capacity(5); got != 7 || live.Down(5) {
		t.Errorf("link 5 carries %v, down %v", got, live.Down(5))
	}
	if _, err := live.SetCapacity(2, -1); err == nil || err.Error() != "set capacity of link 2: -1bps is below zero: write 0 for a link that is down" {
		t.Error(err)
	}
	if _, err := pathmap.Follow(topology, nil, pathmap.Options{}); err == nil {
		t.Error("k of zero is followed")
	}
}

func TestBandwidth(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 3, Spines: 2, EPS: 4 * pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := pathmap.NewBandwidth(f.Topology)
	ab, ac := m.AppendPath(nil, 0, 1, 0), m.AppendPath(nil, 0, 2, 0)
	if left, ok := b.Least(ab); left != 4*pathmap.Gbps || !ok {
		t.Errorf("an idle path has %v, %v", left, ok)
	}
	if err := b.Take(ab, 3*pathmap.Gbps); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("take 2Gbps: link %d has 1Gbps left of 4Gbps", ab[0])
	if err := b.Take(ab, 2*pathmap.Gbps); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	shared := cmp.Compare(ab[0], ac[0]) == 0
	if left, _ := b.Least(ac); shared != (left == pathmap.Gbps) {
		t.Errorf("shared %v: %v left", shared, left)
	}
	if back := pathmap.Reverse(ab[0]); b.Available(back) != 4*pathmap.Gbps {
		t.Error("the other direction was taken too")
	}
	b.Give(ab, 3*pathmap.Gbps)
	if left, _ := b.Least(ab); left != 4*pathmap.Gbps {
		t.Errorf("%v left after all is given back", left)
	}
	if !panics(func() { b.Give(ab, 1) }) {
		t.Error("what was not taken is given back")
	}
	if _, ok := b.Least(nil); ok {
		t.Error("an empty path has a least link")
	}
	if err := b.Take(ab, -1); err == nil {
		t.Error("a rate below zero is taken")
	}
}
