package live_test

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"lightloom/pathmap"
	"lightloom/pathmap/live"
	"lightloom/pathmap/pathtest"
	"lightloom/pathmap/topo"
)

// realTopologies returns the graphs of SNDlib and the Topology Zoo, as topohub has them, in the order
// of the archive.
func realTopologies(t testing.TB) (names []string, graphs []*pathmap.Topology) {
	t.Helper()
	dir := cmp.Or(os.Getenv("LIGHTLOOM_DATA"), "../../../shared/data") // beside the repository
	file, err := os.Open(filepath.Join(dir, "topologies", "topohub-sndlib26-topozoo-json.tar.gz"))
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "data") {
			t.Fatalf("LIGHTLOOM_MUST names data: %v", err)
		}
		t.Skipf("%v: the graphs are not shipped; set LIGHTLOOM_DATA to the folder that holds topologies/", err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	format, err := topo.FormatNamed("json")
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unzipped)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names, graphs
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, ".json") {
			continue
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		g, err := format.Parse(h.Name, data)
		if err != nil {
			t.Fatal(err)
		}
		names, graphs = append(names, h.Name), append(graphs, g)
	}
}

// TestRealTopologies reads 229 real networks, and on each compares the lengths of some pairs' paths
// with those of another's Yen, and a network with a link down and up again with a rebuild.
func TestRealTopologies(t *testing.T) {
	const k = 6
	names, graphs := realTopologies(t)
	if len(graphs) != 229 {
		t.Errorf("%d graphs, want 229", len(graphs))
	}
	checked := 0
	for i, g := range graphs {
		if testing.Short() && i%8 > 0 {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(i), 31))
		ends := make([]pathmap.NodeID, len(g.Nodes()))
		for n := range ends {
			ends[n] = pathmap.NodeID(n)
		}
		pairs := 2
		if len(ends) > 50 { // gonum takes seconds a pair on the largest
			ends, pairs = ends[:50], 1
		}
		followed, err := live.Follow(g, ends, pathmap.Options{K: k, Seed: 1, Packed: true})
		if err != nil {
			t.Fatalf("%s: %v", names[i], err)
		}
		other := asGonum(g)
		for range pairs {
			s, d := r.IntN(len(ends)), r.IntN(len(ends))
			if s == d {
				continue
			}
			want := yen(other, k, ends[s], ends[d])
			if n := followed.Map().Paths(s, d); n != len(want) {
				t.Fatalf("%s: %d paths from %d to %d, want %d", names[i], n, s, d, len(want))
			}
			for j := range want {
				if got := len(followed.Map().AppendPath(nil, s, d, j)); got != len(want[j])-1 {
					t.Errorf("%s: path %d from %d to %d has %d links, want %d", names[i], j, s, d, got, len(want[j])-1)
				}
			}
			checked++
		}
		if i%8 > 0 {
			continue
		}
		before := pathtest.All(followed.Map())
		l := pathmap.LinkID(r.IntN(len(g.Links())))
		followed.FailLink(l)
		lost := followed.Settle()
		down, err := pathmap.Build(g, ends, followed.Options())
		if err != nil {
			t.Fatal(err)
		}
		if d := differ(pathtest.All(followed.Map()), pathtest.All(down), len(ends)); len(d) > 0 {
			t.Errorf("%s: without link %d, pairs %v are not as rebuilt", names[i], l, d)
		}
		followed.HealLink(l)
		gained := followed.Settle()
		if d := differ(pathtest.All(followed.Map()), before, len(ends)); len(d) > 0 ||
			!slices.Equal(lost, gained) {
			t.Errorf("%s: with link %d back, pairs %v are not as before", names[i], l, d)
		}
	}
	t.Logf("%d pairs compared with gonum", checked)
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
