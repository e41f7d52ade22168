package multihop_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lightloom/controller/multihop"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

func fabric(t testing.TB, text string, seed uint64) (*topo.Fabric, *pathmap.Map) {
	t.Helper()
	spec, err := topo.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(southbound.MaxPaths, seed)
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

// network draws circuits for most ports, and takes a cable away now and then.
func network(t testing.TB, rng *rand.Rand) *multihop.Network {
	racks, ocses, spines := 3+rng.IntN(4), 1+rng.IntN(3), 1+rng.IntN(3)
	f, m := fabric(t, fmt.Sprintf("hybrid:racks=%d,hosts=1,spines=%d,ocses=%d", racks, spines, ocses), rng.Uint64())
	n := &multihop.Network{Fabric: f, Paths: m, Lit: make([]southbound.Port, f.OCSPorts())}
	for plane := range ocses {
		for in, out := range rng.Perm(racks) {
			at := plane*racks + in
			if n.Lit[at] = southbound.Port(plane*racks + out); in == out || rng.IntN(4) == 0 {
				n.Lit[at] = southbound.NoPort
			}
		}
	}
	if rng.IntN(2) == 0 {
		n.Down = make([]bool, len(f.Topology.Links()))
		l := f.Topology.Out(f.ToRNode[rng.IntN(racks)])[1+rng.IntN(spines)]
		n.Down[l], n.Down[pathmap.Reverse(l)] = true, true
	}
	return n
}

// slow lists all paths by trying every row of circuits with every spine, and keeps those that the definition
// allows.
func slow(n *multihop.Network, s, d southbound.RackID) []multihop.Path {
	f, t := n.Fabric, n.Fabric.Topology
	rows := [][]multihop.Circuit{nil}
	var all []multihop.Path
	for range multihop.MaxLegs {
		var longer [][]multihop.Circuit
		for _, row := range rows {
			for in, out := range n.Lit {
				if out != southbound.NoPort {
					longer = append(longer, append(slices.Clone(row), multihop.Circuit{In: southbound.Port(in), Out: out}))
				}
			}
		}
		rows = longer
		for _, row := range rows {
			for spine := range pathmap.NodeID(len(t.Nodes())) + 1 {
				p := multihop.Path{Src: s, Dst: d, Spine: spine - 1, Circuits: row}
				if p.Check(f) == nil && allowed(n, &p) {
					all = append(all, p)
				}
			}
		}
	}
	kind := func(p multihop.Path) int {
		switch last := f.OCSRack(int32(p.Circuits[len(p.Circuits)-1].Out)); {
		case p.Hop(f) > 0:
			return 3
		case p.Spine != pathmap.None:
			return 2
		case last != int32(p.Dst):
			return 1
		}
		return 0
	}
	order := func(p multihop.Path) (at int) { // of its spine in the map
		if p.Spine == pathmap.None {
			return 0
		}
		from, to := int(p.Src), int(f.OCSRack(int32(p.Circuits[p.Hop(f)].In)))
		if k := p.Hop(f); k > 0 {
			from = int(f.OCSRack(int32(p.Circuits[k-1].Out)))
		}
		for i := range n.Paths.Paths(from, to) {
			if t.Link(n.Paths.AppendPath(nil, from, to, i)[0]).To == p.Spine {
				return i
			}
		}
		return 0
	}
	slices.SortStableFunc(all, func(p, q multihop.Path) int {
		return cmp.Or(cmp.Compare(len(p.Racks(f)), len(q.Racks(f))), cmp.Compare(kind(p), kind(q)),
			slices.CompareFunc(p.Circuits, q.Circuits, func(a, b multihop.Circuit) int { return cmp.Compare(a.In, b.In) }),
			cmp.Compare(order(p), order(q)))
	})
	return all[:min(len(all), multihop.MaxPaths)]
}

// allowed reports whether cables are up where a path goes over packets, and that no rack behind its spine has its
// default way over that.
func allowed(n *multihop.Network, p *multihop.Path) bool {
	f, t := n.Fabric, n.Fabric.Topology
	down := func(l pathmap.LinkID) bool { return n.Down != nil && n.Down[l] }
	racks := p.Racks(f)
	if last := p.Circuits[len(p.Circuits)-1].Out; f.OCSRack(int32(last)) != int32(p.Dst) {
		from := racks[len(racks)-2]
		for in, out := range n.Lit {
			if out != southbound.NoPort && f.OCSRack(int32(in)) == int32(from) && f.OCSRack(int32(out)) == int32(p.Dst) {
				return false // packets with the circuit's tag take that
			}
		}
		_, ok := n.First(from, p.Dst)
		return ok
	}
	if p.Spine == pathmap.None {
		return true
	}
	if t.Node(p.Spine).Role != pathmap.Switch {
		return false
	}
	k := p.Hop(f)
	for _, r := range racks[k : k+2] {
		for _, l := range t.Out(f.ToRNode[r]) {
			if t.Link(l).To == p.Spine && down(l) {
				return false
			}
		}
	}
	for _, r := range racks[k+1 : len(racks)-1] {
		if first, ok := n.First(r, p.Dst); !ok || t.Link(first[0]).To == p.Spine {
			return false
		}
	}
	return true
}

// TestBetween: the paths of random networks are those of the slow reference, in its order.
func TestBetween(t *testing.T) {
	found, kinds := 0, map[string]int{}
	for seed := range tries.Of[uint64](40, 2000) {
		n := network(t, rand.New(rand.NewPCG(seed, 94)))
		s, d := southbound.RackID(0), southbound.RackID(1+seed%2)
		got, want := n.Between(s, d), slow(n, s, d)
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, circuits %v: paths\n%v, want\n%v", seed, n.Lit, got, want)
		}
		for i := range got {
			p := &got[i]
			if !n.Stands(p) {
				t.Fatalf("seed %d: %v does not stand", seed, *p)
			}
			links := n.Links(p)
			if at := n.Fabric.Topology.Link(links[0]).From; at != n.Fabric.ToRNode[s] {
				t.Fatalf("seed %d: %v begins at node %d", seed, *p, at)
			}
			for k := range links[1:] {
				a, b := n.Fabric.Topology.Link(links[k]), n.Fabric.Topology.Link(links[k+1])
				if a.To != b.From {
					t.Fatalf("seed %d: %v: a link to %d, then one from %d", seed, *p, a.To, b.From)
				}
			}
			kinds[fmt.Sprint(p.Hop(n.Fabric), len(p.Circuits))]++
		}
		found += len(got)
	}
	t.Logf("%d paths: %v", found, kinds)
	if len(kinds) < 6 {
		t.Errorf("kinds of paths, by circuits before packets and circuits: %v", kinds)
	}
}

// TestLine: three racks in a line have one path from end to end over both circuits, and none back.
func TestLine(t *testing.T) {
	f, m := fabric(t, "hybrid:racks=3,hosts=1,spines=1", 1)
	n := &multihop.Network{Fabric: f, Paths: m, Lit: []southbound.Port{1, 2, southbound.NoPort}}
	want := []multihop.Path{{Src: 0, Dst: 2, Spine: pathmap.None,
		Circuits: []multihop.Circuit{{In: 0, Out: 1}, {In: 1, Out: 2}}}}
	if got := n.Between(0, 2); !reflect.DeepEqual(got, want) {
		t.Errorf("paths %v, want %v", got, want)
	}
	if got := n.Between(2, 0); len(got) > 0 { // with one spine, packets first could come back to it
		t.Errorf("paths back: %v", got)
	}
	n.Lit[0] = southbound.NoPort
	if got := n.Between(0, 2); len(got) > 0 || n.Stands(&want[0]) {
		t.Errorf("without a circuit: %v", got)
	}
}

// TestCheck: what is no path says why.
func TestCheck(t *testing.T) {
	f, _ := fabric(t, "hybrid:racks=5,hosts=1,spines=2,ocses=2", 1)
	spine := f.Topology.Link(f.Topology.Out(f.ToRNode[0])[1]).To
	const none = pathmap.NodeID(pathmap.None)
	path := func(src, dst southbound.RackID, spine pathmap.NodeID, circuits ...multihop.Circuit) multihop.Path {
		return multihop.Path{Src: src, Dst: dst, Spine: spine, Circuits: circuits}
	}
	type c = multihop.Circuit
	for _, tc := range []struct {
		path multihop.Path
		want string
	}{
		{path(0, 0, none), "take two racks of 0 to 4"},
		{path(0, 5, none), "take two racks of 0 to 4"},
		{path(0, 2, none), "it has no circuit"},
		{path(0, 2, none, c{In: 0, Out: 10}), "no such ports"},
		{path(0, 2, none, c{In: -1, Out: 1}), "no such ports"},
		{path(0, 2, none, c{In: 0, Out: 2}), "it has 1 legs"},
		{path(0, 2, none, c{In: 0, Out: 1}, c{In: 3, Out: 2}), "the next circuit begins at rack 3"},
		{path(0, 2, none, c{In: 0, Out: 1}, c{In: 1, Out: 0}, c{In: 5, Out: 7}), "meets a rack twice"},
		{path(0, 2, none, c{In: 1, Out: 2}), "packets are at rack 0, and the next circuit begins at rack 1"},
		{path(0, 2, spine, c{In: 1, Out: 3}), "packets before a circuit and behind the last"},
		{path(0, 2, none, c{In: 0, Out: 1}, c{In: 1, Out: 3}, c{In: 3, Out: 4}), "it has 4 legs"},
		{path(0, 2, f.ToRNode[3], c{In: 1, Out: 2}), "is no spine"},
		{path(0, 2, f.OCSNode, c{In: 1, Out: 2}), "is no spine"},
		{path(0, 2, -2, c{In: 1, Out: 2}), "node -2 is no spine"},
		{path(0, 2, 1000, c{In: 1, Out: 2}), "node 1000 is no spine"},
		{path(0, 2, spine, c{In: 1, Out: 2}), ""},
	} {
		err := tc.path.Check(f)
		if got := fmt.Sprint(err); tc.want == "" && err != nil || !strings.Contains(got, tc.want) && tc.want != "" {
			t.Errorf("%v: %v, want %q", tc.path, err, tc.want)
		}
	}
}
