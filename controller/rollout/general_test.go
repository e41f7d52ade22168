package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/pathmap/cabling/cablingtest"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// general returns a fat-tree, a Jellyfish, a random file or a hybrid of few racks, at times with cables
// moved.
func general(t testing.TB, seed uint64) (*topo.Fabric, *pathmap.Map, *rollout.Base) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 11))
	s := topo.Spec{Kind: topo.FatTreeKind, K: 4, Servers: 1 + r.IntN(16), Paths: 1 + r.IntN(10)}
	switch r.IntN(3) {
	case 0:
		s = topo.Spec{Kind: topo.JellyfishKind, Switches: 5 + r.IntN(6), Degree: 3,
			Servers: 1 + r.IntN(12), Seed: seed + 1,
			Paths: 1 + r.IntN(10)}
	case 1:
		s = topo.Spec{Kind: topo.FileKind, File: "random.yaml", Text: randomGraph(r), Paths: 1 + r.IntN(10)}
	}
	again := rand.New(rand.NewPCG(seed, 15))
	if again.IntN(4) == 0 {
		s = topo.Spec{Kind: topo.Hybrid, Racks: 2 + again.IntN(5), Spines: 1 + again.IntN(4), Hosts: 1}
	}
	f, err := topo.New(s)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, s.Text)
	}
	if again.IntN(3) == 0 {
		f = cablingtest.Recabled(f, again, func(x *topo.Fabric) bool { return controller.Parts(x, nil) == 1 })
	}
	m, err := f.PathMap(f.Spec.PathsKept(), seed)
	if err != nil {
		t.Fatal(err)
	}
	return f, m, rollout.NewBase(f, m)
}

// randomGraph writes a connected graph of a few switches, some with hosts, with parallel links and
// perhaps an OCS.
func randomGraph(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("kind: topology\nnodes:\n")
	n := 3 + r.IntN(6)
	for i := range n {
		fmt.Fprintf(&b, "  - {name: x%d, role: switch}\n", i)
	}
	hosts := 2 + r.IntN(6)
	for i := range hosts {
		fmt.Fprintf(&b, "  - {name: host%d, role: host}\n", i)
	}
	optical := r.IntN(2) == 0
	if optical {
		b.WriteString("  - {name: mirrors, role: ocs}\n")
	}
	b.WriteString("links:\n")
	with := map[int]bool{}
	for i := range hosts {
		at := r.IntN(n)
		with[at] = true
		fmt.Fprintf(&b, "  - {ends: [host%d, x%d], capacity: 1Gbps}\n", i, at)
	}
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "  - {ends: [x%d, x%d], capacity: 1Gbps}\n", i, r.IntN(i))
	}
	for range r.IntN(2 * n) {
		if x, y := r.IntN(n), r.IntN(n); x != y {
			fmt.Fprintf(&b, "  - {ends: [x%d, x%d], capacity: 2Gbps}\n", x, y)
		}
	}
	for i := range n {
		if optical && with[i] {
			fmt.Fprintf(&b, "  - {ends: [mirrors, x%d], capacity: 4Gbps}\n", i)
		}
	}
	return b.String()
}

// TestGeneralPaths: on any fabric, tag PathTag(i) takes path i of its racks link by link, the default
// path 0, and every other tag arrives.
func TestGeneralPaths(t *testing.T) {
	for seed := range uint64(600) {
		f, m, b := general(t, seed)
		x := tables(f, b, dark(f.Racks))
		if err := rollout.Check(x); err != nil {
			t.Fatalf("seed %d, %s: %v", seed, f.Spec, err)
		}
		for s := range f.Racks {
			for d := range f.Racks {
				for i := range m.Paths(s, d) {
					if s == d {
						continue
					}
					want := m.AppendPath(nil, s, d, i)
					got, err := x.Walk(southbound.RackID(s), southbound.RackID(d), southbound.PathTag(i))
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("seed %d, %s: rack %d to %d by path %d: %v, %v; want %v", seed, f.Spec, s, d,
							i, got, err, want)
					}
					if i == 0 {
						if got, _ = x.Walk(southbound.RackID(s), southbound.RackID(d),
							southbound.TagDefault); !slices.Equal(got, want) {
							t.Fatalf("seed %d, %s: rack %d to %d by default: %v, want %v", seed, f.Spec, s, d, got, want)
						}
					}
				}
			}
		}
	}
}

// cables takes some links between packet switches down, both ways.
func cables(f *topo.Fabric, r *rand.Rand, most int) []bool {
	down := make([]bool, len(f.Topology.Links()))
	for range r.IntN(most + 1) {
		l := 2 * r.IntN(len(down)/2)
		from, to := f.Topology.Node(f.Topology.Link(pathmap.LinkID(l)).From).Role,
			f.Topology.Node(f.Topology.Link(pathmap.LinkID(l)).To).Role
		if from != pathmap.Host && to != pathmap.Host && from != pathmap.OCS && to != pathmap.OCS {
			down[l], down[l+1] = true, true
		}
	}
	return down
}

// TestGeneralAvoid: with links down that the tables know of, every packet between racks that are still
// joined arrives, without help of a backup; a path that is whole is followed.
func TestGeneralAvoid(t *testing.T) {
	for seed := range tries.Of[uint64](400, 1500) {
		f, m, b := general(t, seed)
		r := rand.New(rand.NewPCG(seed, 12))
		down := cables(f, r, 5)
		b.Avoid(func(l pathmap.LinkID) bool { return down[l] })
		x := tables(f, b, dark(f.Racks))
		for i := range x.Rules {
			for j := range x.Rules[i] {
				x.Rules[i][j].Backup = southbound.NoPort
			}
		}
		x.Dark = down
		for s := range southbound.RackID(f.Racks) {
			reach := reached(f, down, f.ToRNode[s])
			for d := range southbound.RackID(f.Racks) {
				for tag := range southbound.PathTag(f.Spec.PathsKept()-1) + 2 {
					if s == d || !reach[f.ToRNode[d]] {
						continue
					}
					got, err := x.Walk(s, d, tag)
					if err != nil {
						t.Fatalf("seed %d, %s: %v", seed, f.Spec, err)
					}
					i, ok := tag.Path()
					if !ok || i >= m.Paths(int(s), int(d)) {
						continue
					}
					want := m.AppendPath(nil, int(s), int(d), i)
					if !slices.ContainsFunc(want, func(l pathmap.LinkID) bool { return down[l] }) &&
						!slices.Equal(got, want) {
						t.Fatalf("seed %d, %s: rack %d to %d by path %d: %v, want %v", seed, f.Spec, s, d, i, got, want)
					}
				}
			}
		}
	}
}

// reached returns which nodes can be reached over packet switches that let others' packets pass.
func reached(f *topo.Fabric, down []bool, from pathmap.NodeID) []bool {
	seen := make([]bool, len(f.Topology.Nodes()))
	seen[from] = true
	for queue := []pathmap.NodeID{from}; len(queue) > 0; queue = queue[1:] {
		for _, l := range f.Topology.Out(queue[0]) {
			to := f.Topology.Link(l).To
			if role := f.Topology.Node(to).Role; !seen[to] && !down[l] &&
				(role == pathmap.Switch || role == pathmap.ToR) {
				if seen[to] = true; f.Transit || role == pathmap.Switch {
					queue = append(queue, to)
				}
			}
		}
	}
	return seen
}

// TestGeneralBackups: whatever ports go dark that the tables do not know of, beside links that they do
// know of, no packet goes round in circles; and of packets that meet a single dark port, many are
// saved.
func TestGeneralBackups(t *testing.T) {
	saved, lost := 0, 0
	for seed := range tries.Of[uint64](400, 1500) {
		f, _, b := general(t, seed)
		r := rand.New(rand.NewPCG(seed, 13))
		known, unknown := cables(f, r, 2), cables(f, r, 1+int(seed%6))
		b.Avoid(func(l pathmap.LinkID) bool { return known[l] })
		x := tables(f, b, dark(f.Racks))
		x.Dark = make([]bool, len(known))
		for l := range known {
			x.Dark[l] = known[l] || unknown[l]
		}
		for s := range southbound.RackID(f.Racks) {
			for d := range southbound.RackID(f.Racks) {
				for tag := range southbound.PathTag(f.Spec.PathsKept()-1) + 2 {
					if s == d {
						continue
					}
					_, err := x.Walk(s, d, tag)
					switch {
					case err != nil && strings.Contains(err.Error(), "loop"):
						t.Fatalf("seed %d, %s: %v", seed, f.Spec, err)
					case err != nil:
						lost++
					default:
						saved++
					}
				}
			}
		}
	}
	t.Logf("%d walks arrive, %d do not", saved, lost)
}

// TestGeneralReturns: with all links back the tables are the first.
func TestGeneralReturns(t *testing.T) {
	for seed := range uint64(100) {
		f, m, b := general(t, seed)
		down := cables(f, rand.New(rand.NewPCG(seed, 14)), 5)
		b.Avoid(func(l pathmap.LinkID) bool { return down[l] })
		b.Avoid(nil)
		fresh := rollout.NewBase(f, m)
		for _, d := range b.Devices() {
			if d == f.OCSNode {
				continue
			}
			if c := rollout.Diff(fresh.Rules(d, dark(f.Racks)), b.Rules(d, dark(f.Racks))); !c.Empty() {
				t.Fatalf("seed %d: device %d: %+v", seed, d, c)
			}
		}
	}
}

// BenchmarkBase reports what tables cost to derive, and how many rules there are.
func BenchmarkBase(b *testing.B) {
	for _, c := range []struct{ name, spec string }{
		{"fattree_k6_30hosts", "fattree:k=6,hosts=30"},
		{"jellyfish_30x4_30hosts", "jellyfish:switches=30,degree=4,hosts=30"},
		{"fattree_k16_1000hosts_k10", "fattree:k=16,hosts=1000,paths=10"},
		{"jellyfish_200x10_1000hosts_k10", "jellyfish:switches=200,degree=10,hosts=1000,paths=10"},
	} {
		b.Run(c.name, func(b *testing.B) {
			spec, err := topo.ParseSpec(c.spec)
			if err != nil {
				b.Fatal(err)
			}
			f, err := topo.New(spec)
			if err != nil {
				b.Fatal(err)
			}
			m, err := f.PathMap(spec.PathsKept(), 1)
			if err != nil {
				b.Fatal(err)
			}
			var base *rollout.Base
			from := processor(b)
			for b.Loop() {
				base = rollout.NewBase(f, m)
			}
			b.ReportMetric(float64((processor(b)-from).Microseconds())/1e3/float64(b.N), "cpu-ms/op")
			most, all := 0, 0
			for _, d := range base.Devices() {
				n := len(base.Rules(d, nil))
				most, all = max(most, n), all+n
			}
			b.ReportMetric(float64(all), "rules")
			b.ReportMetric(float64(most), "rules/most")
		})
	}
}

// processor is the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}
