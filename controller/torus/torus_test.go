package torus

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"lightloom/pathmap/tries"
)

func newPod(t testing.TB, x, y, z int) *Pod { return podOf(t, 4, x, y, z) }

func podOf(t testing.TB, side, x, y, z int) *Pod {
	t.Helper()
	p, err := New(side, x, y, z)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseShape(t *testing.T) {
	for _, text := range []string{"4x4x8", "1x1x1", "4x4x8_twisted", "8x16x16_twisted", "16x8x16_twisted"} {
		if s, err := ParseShape(text); err != nil || s.String() != text {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, tt := range []struct {
		text, why, near string
		side            int
	}{
		{"4x4", "2 sides", "4x4x4", 4},
		{"4x4x0", `side "0"`, "4x4x4", 4},
		{"4x4x04", `side "04"`, "4x4x4", 4},
		{"4x4x99999999999", "side", "4x4x4", 4},
		{"4x4x12_twisted", "k×k×2k", "4x4x8_twisted, or 4x4x12 without a twist", 4},
		{"2x2x4_twisted", "k×k×2k", "4x4x8_twisted, or 2x2x4 without a twist", 4},
		{"4x4x4_twisted", "k×k×2k", "4x4x8_twisted, or 4x4x4 without a twist", 4},
		{"2x2x3_twisted", "multiple of 2", "2x2x4_twisted, or 2x2x3 without a twist", 2},
	} {
		s, err := ParseShape(tt.text)
		if err == nil {
			err = s.Check(tt.side)
		}
		var shape *ShapeError
		if !errors.As(err, &shape) || !strings.Contains(err.Error(), tt.why) || shape.Nearest != tt.near {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}

func FuzzParseShape(f *testing.F) {
	for _, text := range []string{"4x4x8", "4x4x8_twisted", "4x4x12_twisted", "1×1×1", "-4x4x4", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseShape(text)
		if err != nil {
			return
		}
		if again, err := ParseShape(s.String()); err != nil || again != s {
			t.Errorf("%q is %v, which is %v: %v", text, s, again, err)
		}
	})
}

func TestPodCheck(t *testing.T) {
	p := newPod(t, 2, 2, 2)
	for _, tt := range []struct{ shape, near string }{
		{"4x4x36", "4x4x32"}, {"8x8x12", "8x8x8"}, {"16x16x16", "8x16x4"}, {"1x32x32", "1x8x16"},
		{"8x8x16_twisted", "8x8x8"},
	} {
		s, err := ParseShape(tt.shape)
		if err != nil {
			t.Fatal(err)
		}
		var shape *ShapeError
		if err := p.Check(s); !errors.As(err, &shape) || !p.holds(mustShape(t, shape.Nearest).Sides) {
			t.Errorf("%s: %v", tt.shape, err)
		}
	}
	if err := p.Check(Box(8, 8, 8)); err != nil {
		t.Error(err)
	}
}

func mustShape(t testing.TB, text string) Shape {
	t.Helper()
	s, err := ParseShape(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFirstFitReference compares with a search node by node.
func TestFirstFitReference(t *testing.T) {
	for seed := range uint64(tries.Of(100, 3000)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := podOf(t, 2+2*rng.IntN(2), 1+rng.IntN(3), 1+rng.IntN(3), 1+rng.IntN(3))
		for c := range p.taken {
			if rng.IntN(3) > 0 {
				p.taken[c] = rng.Uint64() & rng.Uint64() & rng.Uint64() & p.whole
			}
			p.away[c] = rng.IntN(10) == 0
		}
		s := Box(1+rng.IntN(6), 1+rng.IntN(6), 1+rng.IntN(6))
		got, want := FirstFit(p, s), slowFirstFit(p, s)
		if (got == nil) != (want == nil) {
			t.Fatalf("seed %d: %v, and %v by nodes", seed, got, want)
		}
		if got == nil {
			continue
		}
		nodes := map[int]uint64{}
		for _, q := range got.Parts {
			nodes[q.Cube] |= q.Nodes
		}
		for c, m := range want {
			if nodes[c] != m {
				t.Fatalf("seed %d: cube %d has %#x, and %#x by nodes", seed, c, nodes[c], m)
			}
		}
		if nodesOf(got.Parts) != s.Nodes() {
			t.Fatalf("seed %d: %d nodes for %s", seed, nodesOf(got.Parts), s)
		}
	}
}

// slowFirstFit returns the nodes by cube.
func slowFirstFit(p *Pod, s Shape) map[int]uint64 {
	side := [3]int{p.side * p.dims[0], p.side * p.dims[1], p.side * p.dims[2]}
	for _, box := range permutations(s.Sides) {
		if box[0] > side[0] || box[1] > side[1] || box[2] > side[2] {
			continue
		}
		for o := range side[0] * side[1] * side[2] {
			at := [3]int{o / side[2] / side[1], o / side[2] % side[1], o % side[2]}
			nodes, free := map[int]uint64{}, true
			for n := range box[0] * box[1] * box[2] {
				x := (at[0] + n/box[2]/box[1]) % side[0]
				y := (at[1] + n/box[2]%box[1]) % side[1]
				z := (at[2] + n%box[2]) % side[2]
				cube := (x/p.side*p.dims[1]+y/p.side)*p.dims[2] + z/p.side
				bit := uint64(1) << (16*(x%p.side) + 4*(y%p.side) + z%p.side)
				free = free && p.Free(cube)&bit != 0
				nodes[cube] |= bit
			}
			if free {
				return nodes
			}
		}
	}
	return nil
}

// TestRulesKeepToFreeNodes fills pods with every rule: what is taken was free, and is as many nodes as asked for.
func TestRulesKeepToFreeNodes(t *testing.T) {
	for seed := range uint64(tries.Of(8, 300)) {
		for _, rule := range Rules() {
			rng := rand.New(rand.NewPCG(seed, 4))
			p := podOf(t, 2+2*int(seed%2), 3, 3, 3)
			for range 60 {
				s := Box(1+rng.IntN(8), 1+rng.IntN(8), 1+rng.IntN(8))
				if rng.IntN(2) == 0 {
					s = Box(1, 1, 1+rng.IntN(12))
				}
				place := rule.Place(p, s)
				if place == nil {
					continue
				}
				if nodesOf(place.Parts) != s.Nodes() {
					t.Fatalf("%s, seed %d: %d nodes for %s", rule.Name, seed, nodesOf(place.Parts), s)
				}
				p.Take(place.Parts) // which panics at a node that is taken
			}
		}
	}
}

// TestFoldsKeepNeighbours: every fold has each node once, and neighbours stay neighbours.
func TestFoldsKeepNeighbours(t *testing.T) {
	count := 0
	for _, sides := range [][3]int{{1, 4, 16}, {16, 1, 8}, {1, 8, 8}, {2, 4, 8}, {2, 8, 6}, {4, 2, 16}, {1, 2, 8},
		{6, 10, 1}, {2, 2, 4}, {1, 12, 16}} {
		for _, f := range folds(sides) {
			count++
			seen := map[[3]int]bool{}
			each(sides, func(n [3]int) {
				at := f.at(n)
				if seen[at] || at[0] >= f.box[0] || at[1] >= f.box[1] || at[2] >= f.box[2] {
					t.Fatalf("%v to %v: node %v is at %v", sides, f.box, n, at)
				}
				seen[at] = true
				for d := range 3 {
					next := n
					if next[d]++; next[d] == sides[d] {
						if next[d] = 0; sides[d]%LargestSide != 0 {
							continue
						}
					}
					if !adjacent(at, f.at(next), f.box) {
						t.Fatalf("%v to %v: %v and %v are neighbours, and %v and %v are not", sides, f.box, n, next, at,
							f.at(next))
					}
				}
			})
		}
	}
	if count < 15 {
		t.Errorf("%d folds", count)
	}
}

func each(sides [3]int, do func(n [3]int)) {
	for x := range sides[0] {
		for y := range sides[1] {
			for z := range sides[2] {
				do([3]int{x, y, z})
			}
		}
	}
}

func adjacent(a, b, box [3]int) bool {
	off := 0
	for d := range a {
		n := max(a[d]-b[d], b[d]-a[d])
		if box[d]%LargestSide == 0 {
			n = min(n, box[d]-n)
		}
		off += n
	}
	return off == 1
}

// TestFoldOfSheet: RFold puts a sheet of 4×16 into one cube, and re-wiring needs four.
func TestFoldOfSheet(t *testing.T) {
	p := newPod(t, 2, 2, 2)
	if f := RFold(p, Box(1, 4, 16)); f == nil || len(f.Parts) != 1 {
		t.Errorf("folded: %+v", f)
	}
	if r := Reconfigure(p, Box(1, 4, 16)); r == nil || len(r.Parts) != 4 {
		t.Errorf("re-wired: %+v", r)
	}
}

// TestBestFitFolds: with one cube left of which a fold has need, and others used in part, the fold is found.
func TestBestFitFolds(t *testing.T) {
	p := newPod(t, 2, 2, 2)
	if got := BestFit(p, Box(1, 4, 16)); len(got.Parts) != 1 {
		t.Errorf("a sheet of 64 nodes takes %d cubes", len(got.Parts))
	}
}

// TestLine: two nodes go to the emptiest used cube, on a face.
func TestLine(t *testing.T) {
	p := newPod(t, 1, 1, 3)
	p.taken[0], p.taken[1] = p.whole>>8, 0xff
	got := RFold(p, Box(1, 1, 2))
	// Of cube 1 node 2,0,0 (bit 32) ... is free from bit 8 on: node 0,2,0 on the lower z face, and its neighbour along z
	// on the upper one, since a ring closes.
	if got == nil || len(got.Parts) != 1 || got.Parts[0].Cube != 1 || bits.OnesCount64(got.Parts[0].Nodes) != 2 {
		t.Errorf("%+v", got)
	}
	if got := RFold(p, Box(1, 1, 70)); got == nil || nodesOf(got.Parts) != 70 || got.Parts[0].Cube != 2 {
		t.Errorf("70 nodes: %+v", got) // all of the free cube, and a path in the emptiest used one
	}
}

// TestBestFitKeepsCubesWhole: small slices share a cube, where Reconfigure takes the first one with room.
func TestBestFitKeepsCubesWhole(t *testing.T) {
	p := newPod(t, 2, 2, 2)
	p.taken[5] = mask([3]int{}, [3]int{2, 4, 4})
	if got := BestFit(p, Box(2, 4, 4)); got.Parts[0].Cube != 5 {
		t.Errorf("best-fit takes cube %d", got.Parts[0].Cube)
	}
	if got := Reconfigure(p, Box(2, 4, 4)); got.Parts[0].Cube != 0 {
		t.Errorf("re-wiring takes cube %d", got.Parts[0].Cube)
	}
}

func TestExplain(t *testing.T) {
	p := newPod(t, 1, 1, 3)
	var there []Named
	for i, s := range []Shape{Box(4, 4, 4), Box(4, 4, 4), Box(2, 4, 4)} {
		place := BestFit(p, s)
		p.Take(place.Parts)
		there = append(there, Named{string(rune('a' + i)), place})
	}
	for _, tt := range []struct {
		shape  Shape
		end    string
		fewest bool
	}{{Box(2, 4, 4), "", true}, {Box(4, 4, 4), "c", true}, {Box(4, 4, 8), "a c", true}, {Box(4, 4, 12), "a b c", false}} {
		needs, ok := WhatMustEnd(p, there, tt.shape, Rules()[3])
		if got := strings.Join(needs.End, " "); !ok || got != tt.end || needs.Fewest != tt.fewest {
			t.Errorf("%s: %q, %v, %v", tt.shape, got, needs.Fewest, ok)
		}
	}
	p.SetAway(0, true)
	if _, ok := WhatMustEnd(p, there, Box(4, 4, 12), Rules()[3]); ok {
		t.Error("it fits with a cube away")
	}
}

// TestDefragment: two half cubes become one, by moving the smaller slice.
func TestDefragment(t *testing.T) {
	p := newPod(t, 1, 1, 2)
	a := Reconfigure(p, Box(2, 4, 4))
	p.Take(a.Parts)
	full := Reconfigure(p, Box(4, 4, 4))
	p.Take(full.Parts)
	p.Give(full.Parts)
	b := p.named(Box(4, 4, 4), []int{1})
	b = (&Placement{Shape: Box(2, 2, 4), Box: [3]int{2, 2, 4}, Grid: [3]int{1, 1, 1}, Side: 4,
		Pieces: []Piece{{Cube: b.Pieces[0].Cube, Size: [3]int{2, 2, 4}}}}).inBox()
	p.Take(b.Parts)
	d := Defragment(p, []Named{{"a", a}, {"b", b}}, Box(4, 4, 4), Rules()[3])
	if d == nil || len(d.Moves) != 1 || d.Moves[0].Name != "b" || d.Nodes != 16 || d.Bound != 16 ||
		d.Place.Parts[0].Cube != 1 {
		t.Fatalf("%+v", d)
	}
	p.Give(b.Parts)
	p.Take(d.Moves[0].To.Parts)
	p.Take(d.Place.Parts) // which panics at a node that is taken
	if Defragment(p, nil, Box(4, 4, 8), Rules()[3]) != nil {
		t.Error("moves make nodes")
	}
}
