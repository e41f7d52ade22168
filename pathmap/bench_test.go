package pathmap_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// named are the topologies of the benchmarks. Jellyfish is named by switches and links between switches; there are as
// many hosts as ports are left in switches of the fat-tree's size, but a path map does not see them.
func named() []struct {
	name  string
	build func() (*pathmap.Topology, error)
} {
	jellyfish := func(switches, degree int) func() (*pathmap.Topology, error) {
		return func() (*pathmap.Topology, error) {
			return topo.Jellyfish(switches, degree, 0, pathmap.Gbps, rand.New(rand.NewPCG(1, 1)))
		}
	}
	fattree := func(k int) func() (*pathmap.Topology, error) {
		return func() (*pathmap.Topology, error) { return topo.FatTree(k, 0, pathmap.Gbps) }
	}
	return []struct {
		name  string
		build func() (*pathmap.Topology, error)
	}{
		{"jellyfish_200x10", jellyfish(200, 10)}, {"fattree_k16", fattree(16)},
		{"jellyfish_1000x24", jellyfish(1000, 24)}, {"fattree_k34", fattree(34)},
		{"jellyfish_4000x49", jellyfish(4000, 49)}, {"fattree_k74", fattree(74)},
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range named() {
		t, err := n.build()
		if err != nil {
			b.Fatal(err)
		}
		for _, packed := range []bool{false, true} {
			b.Run(n.name+"/"+form(packed), func(b *testing.B) {
				var m *pathmap.Map
				done := cpu(b)
				for b.Loop() {
					if m, err = pathmap.Build(t, topo.ToRs(t), pathmap.Options{K: 10, Seed: 1, Packed: packed}); err != nil {
						b.Fatal(err)
					}
				}
				done()
				b.ReportMetric(float64(m.Bytes()), "map_bytes")
			})
		}
	}
}

// cpu starts a measure of the processor time of all threads, which others on the machine disturb less than the clock;
// what it returns ends it.
func cpu(b *testing.B) func() {
	begin := processorTime(b)
	return func() {
		each := float64(processorTime(b)-begin) / float64(b.N)
		if each < 1e5 {
			b.ReportMetric(each, "cpu_ns/op")
			return
		}
		b.ReportMetric(each/1e6, "cpu_ms/op")
	}
}

// processorTime returns the time in nanoseconds that this process has had.
func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func form(packed bool) string {
	if packed {
		return "packed"
	}
	return "implicit"
}

// BenchmarkLookup looks up a path of a random pair: the first, or any of the ten.
func BenchmarkLookup(b *testing.B) {
	for i, n := range named() {
		t, err := n.build()
		if err != nil {
			b.Fatal(err)
		}
		for _, packed := range []bool{false, true} {
			if packed && i >= 4 { // BenchmarkBuild has packed the largest once; that is enough
				continue
			}
			m, err := pathmap.Build(t, topo.ToRs(t), pathmap.Options{K: 10, Seed: 1, Packed: packed})
			if err != nil {
				b.Fatal(err)
			}
			for _, which := range []string{"first", "any"} {
				b.Run(n.name+"/"+form(packed)+"/"+which, func(b *testing.B) { lookUp(b, m, which == "any") })
			}
		}
	}
}

func lookUp(b *testing.B, m *pathmap.Map, anyPath bool) {
	r := rand.New(rand.NewPCG(2, 2))
	buf := make([]pathmap.LinkID, 0, 64)
	b.ReportAllocs()
	done := cpu(b)
	for b.Loop() {
		s := r.IntN(m.Ends())
		d := (s + 1 + r.IntN(m.Ends()-1)) % m.Ends()
		i := 0
		if anyPath {
			i = r.IntN(m.K()) // every two of these networks have as many
		}
		buf = m.AppendPath(buf[:0], s, d, i)
	}
	done()
}

// BenchmarkPairs finds all ten paths of sixteen random pairs, the same for ours and gonum's, with the same answers: as
// many paths, of the same lengths.
func BenchmarkPairs(b *testing.B) {
	for _, n := range named()[:2] {
		t, err := n.build()
		if err != nil {
			b.Fatal(err)
		}
		tors := topo.ToRs(t)
		m, err := pathmap.Build(t, tors, pathmap.Options{K: 10, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 3))
		pairs := make([][2]int, 16)
		for i := range pairs {
			s := r.IntN(len(tors))
			pairs[i] = [2]int{s, (s + 1 + r.IntN(len(tors)-1)) % len(tors)}
		}
		var ours, others []int
		b.Run(n.name+"/ours", func(b *testing.B) {
			buf := make([]pathmap.LinkID, 0, 64)
			done := cpu(b)
			for b.Loop() {
				ours = ours[:0]
				for _, p := range pairs {
					for i := range m.Paths(p[0], p[1]) {
						buf = m.AppendPath(buf[:0], p[0], p[1], i)
						ours = append(ours, len(buf))
					}
				}
			}
			done()
		})
		g := asGonum(t)
		b.Run(n.name+"/gonum", func(b *testing.B) {
			done := cpu(b)
			for b.Loop() {
				others = others[:0]
				for _, p := range pairs {
					for _, path := range yen(g, 10, tors[p[0]], tors[p[1]]) {
						others = append(others, len(path)-1)
					}
				}
			}
			done()
		})
		if len(ours) > 0 && len(others) > 0 && !slices.Equal(ours, others) {
			b.Errorf("%s: lengths %v and gonum's %v", n.name, ours, others)
		}
	}
}

func asGonum(t *pathmap.Topology) graph.Undirected {
	g := simple.NewUndirectedGraph()
	for _, l := range t.Links() {
		if l.From < l.To && t.Node(l.From).Role != pathmap.Host && t.Node(l.To).Role != pathmap.Host {
			g.SetEdge(simple.Edge{F: simple.Node(l.From), T: simple.Node(l.To)})
		}
	}
	return g
}

func yen(g graph.Graph, k int, s, d pathmap.NodeID) [][]graph.Node {
	return path.YenKShortestPaths(g, k, math.Inf(1), simple.Node(s), simple.Node(d))
}

// BenchmarkRepair takes a random link down, and brings it back: one operation is both. Settling is a figure of its own.
func BenchmarkRepair(b *testing.B) {
	for _, n := range named()[:3] {
		b.Run(n.name, func(b *testing.B) {
			t, err := n.build()
			if err != nil {
				b.Fatal(err)
			}
			live, err := pathmap.Follow(t, topo.ToRs(t), pathmap.Options{K: 10, Seed: 1, Packed: true})
			if err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(4, 4))
			fabric := pathmap.LinkID(0)
			for l, link := range t.Links() {
				if t.Node(link.From).Role != pathmap.Host && t.Node(link.To).Role != pathmap.Host {
					fabric = pathmap.LinkID(l)
				}
			}
			pairs := 0
			var apart, settling, packed [2]float64 // down and up: processor time of all threads, and from the change to the end by the clock
			for b.Loop() {
				l := pathmap.LinkID(r.IntN(int(fabric) + 1))
				for i, change := range []func(pathmap.LinkID) []pathmap.Pair{live.FailLink, live.HealLink} {
					began, at := processorTime(b), time.Now()
					change(l)
					right := processorTime(b)
					pairs += len(live.Settle())
					apart[i] += float64(right - began)
					packed[i] += float64(time.Since(at))
					settling[i] += float64(processorTime(b) - right)
				}
			}
			for i, name := range []string{"down", "up"} {
				b.ReportMetric(apart[i]/1e3/float64(b.N), name+"_cpu_µs")
				b.ReportMetric(settling[i]/1e3/float64(b.N), name+"_settle_cpu_µs")
				b.ReportMetric(packed[i]/1e3/float64(b.N), name+"_packed_µs")
			}
			b.ReportMetric(float64(pairs)/2/float64(b.N), "pairs/change")
			b.ReportMetric(float64(live.Bytes()), "live_bytes")
		})
	}
}
