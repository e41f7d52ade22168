package pathmap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomGraph returns a graph of n switches, connected or not, without parallel links unless multi.
func randomGraph(t *testing.T, r *rand.Rand, n, cables int, multi bool) *graph {
	t.Helper()
	b := NewBuilder()
	ends := make([]NodeID, n)
	for i := range ends {
		role := ToR
		if r.IntN(8) == 0 {
			role = Host
		}
		ends[i] = b.Add(Node{Name: fmt.Sprint(i), Role: role})
	}
	ports, joined := make([]int32, n), map[[2]int]bool{}
	for range cables {
		x, y := r.IntN(n), r.IntN(n)
		pair := [2]int{min(x, y), max(x, y)}
		if x == y || joined[pair] && !multi {
			continue
		}
		joined[pair] = true
		b.Cable(NodeID(x), ports[x], NodeID(y), ports[y], 1, 1)
		ports[x]++
		ports[y]++
	}
	topology, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGraph(topology, ends, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestYenIsWalk compares the two searches, paths and order, on random graphs of all densities.
func TestYenIsWalk(t *testing.T) {
	spents := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := 2 + r.IntN(30)
		g := randomGraph(t, r, n, r.IntN(3*n), r.IntN(2) == 0)
		m := &Map{g: g, k: 1 + r.IntN(12), seed: seed}
		for range 8 {
			a, b := int32(r.IntN(n)), int32(r.IntN(n))
			if a == b {
				continue
			}
			a, b = min(a, b), max(a, b)
			y := yen{g: g, order: orderOf(seed, g.id[a], g.id[b]), source: a, target: b}
			got := y.run(m.k)
			d := newRow(g.nodes())
			d.fill(g, b, nil)
			w := walk{g: g, dist: d, order: y.order, source: a, target: b, steps: budget}
			st, f := w.begin(nil), path
			for i := range m.k {
				st, f = w.advance(st)
				if f == spent {
					spents++
					break
				}
				if (f == end) != (i >= len(got)) {
					t.Fatalf("seed %d: walk finds path %d: %v; Yen finds %d paths", seed, i, f == path, len(got))
				}
				if f == end {
					break
				}
				if !slices.EqualFunc(got[i].via, st, func(e int32, f frame) bool { return e == f.via }) {
					t.Fatalf("seed %d: path %d of %d-%d: walk and Yen differ", seed, i, a, b)
				}
			}
		}
	}
	t.Logf("%d walks spent their budget", spents)
}

// TestBlindAlleys builds a lollipop: a dense clique at the source, and one way to the target, so that a walk for a
// second path has exponentially many blind alleys. All forms fall back to Yen and still agree.
func TestBlindAlleys(t *testing.T) {
	b := NewBuilder()
	const clique, tail = 24, 6
	ends := make([]NodeID, clique+tail)
	for i := range ends {
		ends[i] = b.Add(Node{Name: fmt.Sprint(i), Role: ToR})
	}
	for i := range clique {
		for j := range i {
			b.Cable(NodeID(i), int32(j), NodeID(j), int32(i), 1, 1)
		}
	}
	for i := clique; i < len(ends); i++ {
		b.Cable(NodeID(i-1), 100, NodeID(i), 0, 1, 1)
	}
	topology, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	pair := []NodeID{ends[clique-1], ends[len(ends)-1]}
	implicit, err := Build(topology, pair, Options{K: 4})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Build(topology, pair, Options{K: 4, Packed: true})
	if err != nil {
		t.Fatal(err)
	}
	// Out of the clique there is one simple path: the tail itself. To see it is the only one takes the whole clique.
	w := implicit.walk(0, 1)
	st, f := w.advance(w.begin(nil))
	if f != path {
		t.Fatalf("first path: %v", f)
	}
	if _, f = w.advance(st); f != spent {
		t.Fatalf("second path: %v, want the budget spent", f)
	}
	for _, m := range []*Map{implicit, packed} {
		if n := m.Paths(0, 1); n != 1 {
			t.Errorf("%d paths, want 1", n)
		}
		if n := m.Shortest(1, 0); n != 1 {
			t.Errorf("%d shortest paths, want 1", n)
		}
		if p := m.AppendPath(nil, 1, 0, 0); len(p) != tail {
			t.Errorf("path of %d links, want %d", len(p), tail)
		}
	}
}
