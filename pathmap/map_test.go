package pathmap_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"lightloom/pathmap"
	"lightloom/pathmap/pathtest"
)

// TestBrute compares both forms with a list of every path, on random graphs.
func TestBrute(t *testing.T) {
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 1))
		topology, ends := pathtest.Random(r, 8)
		opt := pathmap.Options{K: 1 + r.IntN(12), Seed: seed}
		if r.IntN(2) == 0 {
			opt.Avoid = pathtest.IsOCS(topology)
		}
		opt.Packed = r.IntN(2) == 0
		if cut := r.IntN(4); cut > 0 {
			down := pathtest.Down(r, topology, cut)
			opt.Down = func(l pathmap.LinkID) bool { return down[l] }
		}
		m, err := pathmap.Build(topology, ends, opt)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := pathtest.All(m)
		for s := range ends {
			for d := range ends {
				want := pathtest.Paths(topology, ends, ends[s], ends[d], opt)
				if g := got[s*len(ends)+d]; !slices.EqualFunc(g, want, slices.Equal) {
					t.Fatalf("seed %d, %+v: from end %d to %d: got %v, want %v", seed, opt, s, d, g, want)
				}
				if g, w := m.Shortest(s, d), shortest(want); g != w {
					t.Fatalf("seed %d: from end %d to %d: %d shortest, want %d", seed, s, d, g, w)
				}
			}
		}
	}
}

func shortest(paths [][]pathmap.LinkID) int {
	n := 0
	for n < len(paths) && len(paths[n]) == len(paths[0]) {
		n++
	}
	return n
}

// TestForms compares the forms with each other on graphs too large to list, at any GOMAXPROCS, and
// checks each path.
func TestForms(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 2))
		topology, ends := pathtest.Random(r, 30)
		opt := pathmap.Options{K: 1 + r.IntN(20), Seed: seed, Avoid: pathtest.IsOCS(topology)}
		implicit, err := pathmap.Build(topology, ends, opt)
		if err != nil {
			t.Fatal(err)
		}
		opt.Packed = true
		procs := runtime.GOMAXPROCS(1 + int(seed)%3)
		packed, err := pathmap.Build(topology, ends, opt)
		runtime.GOMAXPROCS(procs)
		if err != nil {
			t.Fatal(err)
		}
		a, b := pathtest.All(implicit), pathtest.All(packed)
		if !slices.EqualFunc(a, b, func(x, y [][]pathmap.LinkID) bool {
			return slices.EqualFunc(x, y,
				slices.Equal)
		}) {
			t.Fatalf("seed %d: implicit and packed differ", seed)
		}
		for i, paths := range a {
			checkPaths(t, topology, ends[i/len(ends)], ends[i%len(ends)], paths)
		}
	}
}

// checkPaths checks that paths lead from s to d, repeat no node, enter no host and no OCS, grow, and differ.
func checkPaths(t *testing.T, topology *pathmap.Topology, s, d pathmap.NodeID, paths [][]pathmap.LinkID) {
	t.Helper()
	seen := map[string]bool{}
	for i, p := range paths {
		if i > 0 && len(p) < len(paths[i-1]) {
			t.Fatalf("path %d from %d to %d is shorter than the one before it", i, s, d)
		}
		at, met := s, map[pathmap.NodeID]bool{s: true}
		for _, l := range p {
			link := topology.Link(l)
			if role := topology.Node(at).Role; link.From != at || met[link.To] || at != s &&
				role == pathmap.Host ||
				role == pathmap.OCS {
				t.Fatalf("path %d from %d to %d: %v is no loopless path", i, s, d, p)
			}
			at = link.To
			met[at] = true
		}
		key := fmt.Sprint(p)
		if at != d || seen[key] {
			t.Fatalf("path %d from %d to %d: %v ends elsewhere or comes twice", i, s, d, p)
		}
		seen[key] = true
	}
}

// TestReverse checks that both directions of a path use the same cables.
func TestReverse(t *testing.T) {
	topology, ends := pathtest.Random(rand.New(rand.NewPCG(3, 3)), 40)
	m, err := pathmap.Build(topology, ends, pathmap.Options{K: 5, Seed: 7, Packed: true})
	if err != nil {
		t.Fatal(err)
	}
	for s := range ends {
		for d := range ends {
			for i := range m.Paths(s, d) {
				there, back := m.AppendPath(nil, s, d, i), m.AppendPath(nil, d, s, i)
				slices.Reverse(back)
				for j := range back {
					if pathmap.Reverse(back[j]) != there[j] {
						t.Fatalf("path %d between ends %d and %d: %v and back %v", i, s, d, there, back)
					}
				}
			}
		}
	}
}

func TestBuildErrors(t *testing.T) {
	b := pathmap.NewBuilder()
	for i := range 3 {
		b.Add(pathmap.Node{Name: fmt.Sprint("n", i), Role: pathmap.ToR})
	}
	topology, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		t    *pathmap.Topology
		ends []pathmap.NodeID
		opt  pathmap.Options
		want string
	}{
		{"no topology", nil, nil, pathmap.Options{K: 1}, "build path map: no topology"},
		{"no k", topology, nil, pathmap.Options{}, "build path map: k is 0; take 1 to 4096"},
		{"large k", topology, nil, pathmap.Options{K: 5000}, "build path map: k is 5000; take 1 to 4096"},
		{"no node", topology, []pathmap.NodeID{3}, pathmap.Options{K: 1},
			"build path map: end 3 is no node: the topology " +
				"has nodes 0 to 2"},
		{"twice", topology, []pathmap.NodeID{1, 1}, pathmap.Options{K: 1}, `build path map: end "n1" is named twice`},
		{"avoided", topology, []pathmap.NodeID{0},
			pathmap.Options{K: 1, Avoid: func(pathmap.NodeID) bool { return true }},
			`build path map: end "n0" is to be avoided`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := pathmap.Build(c.t, c.ends, c.opt); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestDisconnected(t *testing.T) {
	b := pathmap.NewBuilder()
	for i := range 3 {
		b.Add(pathmap.Node{Name: fmt.Sprint("n", i), Role: pathmap.ToR})
	}
	b.Cable(0, 0, 1, 0, 1, 1)
	topology, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, packed := range []bool{false, true} {
		m, err := pathmap.Build(topology, []pathmap.NodeID{0, 2, 1}, pathmap.Options{K: 3, Packed: packed})
		if err != nil {
			t.Fatal(err)
		}
		if a, b, c := m.Paths(0, 1), m.Paths(0, 2), m.Paths(1, 1); a != 0 || b != 1 || c != 1 {
			t.Errorf("packed %v: %d, %d and %d paths, want 0, 1 and 1", packed, a, b, c)
		}
		if got := m.AppendPath(nil, 2, 0, 0); !slices.Equal(got, []pathmap.LinkID{1}) {
			t.Errorf("packed %v: got %v, want [1]", packed, got)
		}
		for _, i := range []int{-1, 1, 9} {
			if !panics(func() { m.AppendPath(nil, 0, 2, i) }) {
				t.Errorf("packed %v: path %d exists", packed, i)
			}
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
