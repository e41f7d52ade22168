package ksp

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// newCables returns the graph of len(leaf) switches and of cables, each between two of them.
func newCables(leaf []bool, cables [][2]int32) *Graph {
	to, link := make([][]int32, len(leaf)), make([][]int32, len(leaf))
	for c, cable := range cables {
		for side, n := range cable {
			to[n], link[n] = append(to[n], cable[1-side]), append(link[n], int32(2*c+side))
		}
	}
	id, start := make([]int32, len(leaf)), []int32{0}
	for n := range id {
		id[n], start = int32(n), append(start, start[n]+int32(len(to[n])))
	}
	return NewGraph(id, leaf, start, slices.Concat(to...), slices.Concat(link...))
}

// randomGraph returns a graph of n switches, connected or not, without parallel links unless multi.
func randomGraph(r *rand.Rand, n, cables int, multi bool) *Graph {
	leaf, joined := make([]bool, n), map[[2]int32]bool{}
	for i := range leaf {
		leaf[i] = r.IntN(8) == 0
	}
	var some [][2]int32
	for range cables {
		x, y := int32(r.IntN(n)), int32(r.IntN(n))
		pair := [2]int32{min(x, y), max(x, y)}
		if x == y || joined[pair] && !multi {
			continue
		}
		joined[pair] = true
		some = append(some, [2]int32{x, y})
	}
	return newCables(leaf, some)
}

// TestYenIsWalk compares the two searches, paths and order, on random graphs of all densities.
func TestYenIsWalk(t *testing.T) {
	spents := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := 2 + r.IntN(30)
		g := randomGraph(r, n, r.IntN(3*n), r.IntN(2) == 0)
		m := &Table{Graph: g, K: 1 + r.IntN(12), seed: seed}
		for range 8 {
			a, b := int32(r.IntN(n)), int32(r.IntN(n))
			if a == b {
				continue
			}
			a, b = min(a, b), max(a, b)
			y := yen{g: g, order: orderOf(seed, g.id[a], g.id[b]), source: a, target: b}
			got := y.run(m.K)
			d := NewRow(g.Nodes())
			d.Fill(g, b, nil)
			w := Walk{g: g, dist: d, order: y.order, source: a, target: b, steps: budget}
			st, f := w.begin(nil), path
			for i := range m.K {
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

// TestBlindAlleys builds a lollipop: a dense clique at the source, and one way to the target, so that a
// walk for a second path has exponentially many blind alleys. All forms fall back to Yen and still
// agree.
func TestBlindAlleys(t *testing.T) {
	const clique, tail = 24, 6
	var cables [][2]int32
	for i := range int32(clique) {
		for j := range i {
			cables = append(cables, [2]int32{i, j})
		}
	}
	for i := int32(clique); i < clique+tail; i++ {
		cables = append(cables, [2]int32{i - 1, i})
	}
	g := newCables(make([]bool, clique+tail), cables)
	pair := []int32{clique - 1, clique + tail - 1}
	implicit, packed := NewTable(g, pair, 4, 0), NewTable(g, pair, 4, 0)
	implicit.Measure()
	if err := packed.Pack(2 * len(cables)); err != nil {
		t.Fatal(err)
	}
	// Out of the clique there is one simple path: the tail itself. To see it is the only one takes the
	// whole clique.
	w := implicit.walk(0, 1)
	st, f := w.advance(w.begin(nil))
	if f != path {
		t.Fatalf("first path: %v", f)
	}
	if _, f = w.advance(st); f != spent {
		t.Fatalf("second path: %v, want the budget spent", f)
	}
	for _, m := range []*Table{implicit, packed} {
		if n := m.Paths(0, 1); n != 1 {
			t.Errorf("%d paths, want 1", n)
		}
		if n := m.Shortest(0, 1); n != 1 {
			t.Errorf("%d shortest paths, want 1", n)
		}
		if p, _ := AppendPath(m, []int32(nil), 0, 1, 0); len(p) != tail {
			t.Errorf("path of %d links, want %d", len(p), tail)
		}
	}
}
