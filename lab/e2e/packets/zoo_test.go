package packets

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/southbound"
)

// thereAndBack is a job that sends between the first and the last host of a graph, both ways.
func thereAndBack(g zooGraph) []controller.Job {
	last := southbound.HostID(g.nodes - 1)
	return []controller.Job{{Name: "there and back", Edges: []controller.Edge{{Kind: controller.Fixed,
		Flows: []controller.Flow{{Src: 0, Dst: last, Bytes: 1_000_000}, {Src: last, Dst: 0, Bytes: 1_000_000}}}}}}
}

// fabric writes a graph and returns the spec of a fabric of it with a host at each node.
func (g zooGraph) fabric(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), g.name+".json")
	if err := os.WriteFile(file, g.text, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file:" + file + ",hosts=1"
}

// TestZooOnSimulator brings all 203 graphs of the Topology Zoo and all 26 of SNDlib up on the simulator, with a host at
// each node, and runs a job on each.
func TestZooOnSimulator(t *testing.T) {
	dir := os.Getenv("LIGHTLOOM_DATA")
	if dir == "" {
		t.Skip("LIGHTLOOM_DATA names no directory of public data")
	}
	all := append(zoo(t, dir, "topozoo", math.MaxInt), zoo(t, dir, "sndlib", math.MaxInt)...)
	if len(all) != 229 {
		t.Errorf("%d graphs, want 203 and 26", len(all))
	}
	for _, g := range all {
		p, err := scenario.Prepare(scenario.Options{Fabric: g.fabric(t), On: scenario.OnFlowsim, Seed: 1, Speedup: 1,
			Policies: []string{"random+ecmp"}, Replicas: 1, Given: thereAndBack(g)}, 1)
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		o, err := labtest.Simulate(t.Context(), p, p.Rows[0], nil)
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if r := o.ResultOf(p); len(r.Jobs) != 1 || len(r.Coflows) != 1 || r.Coflows[0].CCT() <= 0 {
			t.Errorf("%s: %d jobs ended, of %d coflows", g.name, len(r.Jobs), len(r.Coflows))
		}
	}
}

// TestZooOnPackets brings twenty graphs of the Topology Zoo up on packets, of all sizes from the smallest to some fifty
// nodes, with a host at each node, and runs jobs on each. It takes minutes: LIGHTLOOM_MEASURE=zoo runs it, with
// LIGHTLOOM_DATA.
func TestZooOnPackets(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "zoo" {
		t.Skip("LIGHTLOOM_MEASURE=zoo runs it")
	}
	dir := os.Getenv("LIGHTLOOM_DATA")
	if dir == "" {
		t.Skip("LIGHTLOOM_DATA names no directory of public data")
	}
	labtest.NeedNetns(t, "netns", false)
	const graphs, most, seed = 20, 50, 1
	all := zoo(t, dir, "topozoo", most)
	if len(all) < graphs {
		t.Fatalf("%d graphs of %d nodes at most", len(all), most)
	}
	ran := 0
	for i := range graphs {
		g := all[i*(len(all)-1)/(graphs-1)]
		t.Run(g.name, func(t *testing.T) {
			opt := scenario.Options{Fabric: g.fabric(t), On: scenario.OnNetns, Seed: seed, Speedup: 1,
				Policies: []string{"random+ecmp"}, Replicas: 1}
			var err error
			if opt.Scale, _, err = scenario.PacketScale(t.Context(), opt); err != nil {
				t.Fatal(err)
			}
			opt.Given = thereAndBack(g)
			p, err := scenario.Prepare(opt, opt.Scale)
			if err != nil {
				t.Fatal(err)
			}
			o, err := labtest.Enter(t.Context(), p, p.Rows[0], emulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := o.ResultOf(p)
			if want := 2 * p.Jobs[0].Edges[0].Flows[0].Bytes; len(r.Jobs) != 1 || o.Received != want || o.DroppedDark != 0 {
				t.Errorf("%d jobs ended, %d of %d bytes came, %d packets met dark or unmatched ports", len(r.Jobs), o.Received,
					want, o.DroppedDark)
			}
			t.Logf("%d nodes, %d links, scale %v: %d bytes came, in %v", g.nodes,
				len(p.Fabric.Topology.Links())/2-p.Fabric.Hosts(), opt.Scale, o.Received, r.Coflows[0].CCT())
			ran++
		})
	}
	if ran != graphs {
		t.Errorf("%d of %d graphs ran", ran, graphs)
	}
}

type zooGraph struct {
	name  string
	nodes int
	text  []byte
}

// zoo returns the graphs of a collection (topozoo or sndlib), as topohub (github.com/piotrjurkiewicz/topohub) has them,
// of so many nodes at most, by size.
func zoo(t *testing.T, dir, collection string, most int) (out []zooGraph) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, "topologies", "topohub-sndlib26-topozoo-json.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for all := tar.NewReader(zipped); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(path.Base(path.Dir(h.Name)), collection) || path.Ext(h.Name) != ".json" {
			continue
		}
		g := zooGraph{name: strings.TrimSuffix(path.Base(h.Name), ".json")}
		if g.text, err = io.ReadAll(all); err != nil {
			t.Fatal(err)
		}
		var graph struct{ Nodes []any }
		if err := json.Unmarshal(g.text, &graph); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", h.Name, err))
		}
		if g.nodes = len(graph.Nodes); g.nodes <= most {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b zooGraph) int {
		return cmp.Or(cmp.Compare(a.nodes, b.nodes), cmp.Compare(a.name, b.name))
	})
	return out
}
