package pathmap_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"lightloom/pathmap"
	"lightloom/pathmap/pathtest"
	"lightloom/pathmap/topo"
)

func BenchmarkBuild(b *testing.B) {
	for _, n := range pathtest.Named() {
		t, err := n.Build()
		if err != nil {
			b.Fatal(err)
		}
		for _, packed := range []bool{false, true} {
			b.Run(n.Name+"/"+form(packed), func(b *testing.B) {
				var m *pathmap.Map
				done := cpu(b)
				for b.Loop() {
					if m, err = pathmap.Build(t, topo.ToRs(t),
						pathmap.Options{K: 10, Seed: 1, Packed: packed}); err != nil {
						b.Fatal(err)
					}
				}
				done()
				b.ReportMetric(float64(m.Bytes()), "map_bytes")
			})
		}
	}
}

// cpu starts a measure of the processor time of all threads, which others on the machine disturb less
// than the clock; what it returns ends it.
func cpu(b *testing.B) func() {
	begin := pathtest.ProcessorTime(b)
	return func() {
		each := float64(pathtest.ProcessorTime(b)-begin) / float64(b.N)
		if each < 1e5 {
			b.ReportMetric(each, "cpu_ns/op")
			return
		}
		b.ReportMetric(each/1e6, "cpu_ms/op")
	}
}

func form(packed bool) string {
	if packed {
		return "packed"
	}
	return "implicit"
}

// BenchmarkLookup looks up a path of a random pair: the first, or any of the ten.
func BenchmarkLookup(b *testing.B) {
	for i, n := range pathtest.Named() {
		t, err := n.Build()
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
				b.Run(n.Name+"/"+form(packed)+"/"+which, func(b *testing.B) { lookUp(b, m, which == "any") })
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

// BenchmarkPairs finds all ten paths of sixteen random pairs, the same for ours and gonum's, with the
// same answers: as many paths, of the same lengths.
func BenchmarkPairs(b *testing.B) {
	for _, n := range pathtest.Named()[:2] {
		t, err := n.Build()
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
		b.Run(n.Name+"/ours", func(b *testing.B) {
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
		b.Run(n.Name+"/gonum", func(b *testing.B) {
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
			b.Errorf("%s: lengths %v and gonum's %v", n.Name, ours, others)
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
