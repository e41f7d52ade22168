package topo

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap"
)

// degrees returns how many switches have how many links to switches and to hosts.
func degrees(t *pathmap.Topology) map[[2]int]int {
	count := map[[2]int]int{}
	for n, node := range t.Nodes() {
		if node.Role == pathmap.Host {
			continue
		}
		var d [2]int
		for _, l := range t.Out(pathmap.NodeID(n)) {
			if t.Node(t.Link(l).To).Role == pathmap.Host {
				d[1]++
			} else {
				d[0]++
			}
		}
		count[d]++
	}
	return count
}

func equalCounts(a, b map[[2]int]int) bool {
	for k := range a {
		if a[k] != b[k] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestFatTree(t *testing.T) {
	for _, c := range []struct {
		name     string
		k, hosts int
		want     map[[2]int]int // (links to switches, to hosts) → switches
	}{
		{"k=4 full: 8 edges, 8 aggregations, 4 cores", 4, 0, map[[2]int]int{{2, 2}: 8, {4, 0}: 8 + 4}},
		// 10 hosts on 4 edges of 3 (the last with one), in 2 pods; the second has one edge; 9 cores to 2 pods
		{"k=6 pruned to 10", 6, 10, map[[2]int]int{{3, 3}: 3, {3, 1}: 1, {6, 0}: 3, {4, 0}: 3, {2, 0}: 9}},
		{"k=16 full: 1,024 hosts", 16, 1024, map[[2]int]int{{8, 8}: 128, {16, 0}: 128 + 64}},
		{"k=2", 2, 0, map[[2]int]int{{1, 1}: 2, {2, 0}: 2 + 1}},
	} {
		topology, err := FatTree(c.k, c.hosts, pathmap.Gbps)
		if err != nil {
			t.Fatal(err)
		}
		if got := degrees(topology); !equalCounts(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		k, hosts int
		want     string
	}{
		{5, 0, "build fat-tree: k is 5; take an even number from 2 to 160"},
		{4, 17, "build fat-tree: 17 hosts do not fit: k=4 carries 1 to 16"},
		{4, -1, "build fat-tree: -1 hosts do not fit: k=4 carries 1 to 16"},
	} {
		if _, err := FatTree(c.k, c.hosts, pathmap.Gbps); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if topology, err := FatTree(4, 0, 0); err == nil {
		t.Errorf("a rate of zero builds %v", topology)
	}
}

// TestFatTreePaths: k=4 has (k/2)² shortest paths of 4 links between pods, k/2 of 2 links within one.
func TestFatTreePaths(t *testing.T) {
	topology, err := FatTree(4, 0, pathmap.Gbps)
	if err != nil {
		t.Fatal(err)
	}
	m, err := pathmap.Build(topology, ToRs(topology), pathmap.Options{K: 10})
	if err != nil {
		t.Fatal(err)
	}
	for s := range 8 {
		for d := range 8 {
			want := 4
			if s == d {
				want = 1
			} else if s/2 == d/2 {
				want = 2
			}
			if n := m.Shortest(s, d); n != want {
				t.Errorf("edges %d and %d: %d shortest paths, want %d", s, d, n, want)
			}
		}
	}
}

func TestJellyfish(t *testing.T) {
	for _, c := range []struct{ switches, degree, hosts int }{{200, 10, 5}, {30, 4, 1}, {2, 1, 0},
		{5, 4, 2}, {6, 5, 0},
		{4, 2, 1}, {40, 37, 1}} {
		for seed := range uint64(20) {
			topology, err := Jellyfish(c.switches, c.degree, c.hosts, pathmap.Gbps, rand.New(rand.NewPCG(seed, 9)))
			if err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			again, err := Jellyfish(c.switches, c.degree, c.hosts, pathmap.Gbps, rand.New(rand.NewPCG(seed, 9)))
			if err != nil || !slices.Equal(topology.Links(), again.Links()) {
				t.Fatalf("%+v: seed %d builds two graphs", c, seed)
			}
			if got := degrees(topology); got[[2]int{c.degree, c.hosts}] != c.switches {
				t.Errorf("%+v, seed %d: got %v", c, seed, got)
			}
			seen := map[[2]pathmap.NodeID]bool{}
			for _, l := range topology.Links() {
				if pair := [2]pathmap.NodeID{l.From, l.To}; seen[pair] {
					t.Errorf("%+v, seed %d: two cables between %v", c, seed, pair)
				} else {
					seen[pair] = true
				}
			}
			if n := len(ToRs(topology)); n != c.switches {
				t.Errorf("%d racks, want %d", n, c.switches)
			}
		}
	}
	odd, err := Jellyfish(7, 3, 0, pathmap.Gbps, rand.New(rand.NewPCG(1, 9)))
	if err != nil {
		t.Fatal(err)
	}
	if got := degrees(odd); got[[2]int{3, 0}] != 6 || got[[2]int{2, 0}] != 1 {
		t.Errorf("7 switches of 3 links: %v", got)
	}
	for _, c := range []struct {
		switches, degree, hosts int
		want                    string
	}{
		{1, 1, 0, "build Jellyfish: 1 switches; take 2 to 16384"},
		{4, 4, 0, "build Jellyfish: 4 links a switch; take 1 to 3, one fewer than switches"},
		{4, 2, 254, "build Jellyfish: 254 hosts a switch; take 0 to 253"},
		{16384, 300, 0, "build Jellyfish: more than 2097152 cables; take fewer switches, links or hosts"},
		{4, 1, 0, "build Jellyfish: found none that is regular and connected; take more links a switch"},
	} {
		if _, err := Jellyfish(c.switches, c.degree, c.hosts, pathmap.Gbps,
			rand.New(rand.NewPCG(1, 1))); err == nil ||
			err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
