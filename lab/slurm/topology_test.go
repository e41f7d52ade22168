package slurm

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"lightloom/controller/torus"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// network returns what a spec has, with circuits.
func network(t *testing.T, spec string, circuits ...[2]int) *Network {
	t.Helper()
	s, err := topo.FromArgument(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	n := Of(f)
	n.Circuits = circuits
	return &n
}

func written(t *testing.T, n *Network, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := n.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		name     string
		circuits [][2]int
		want     []Group
	}{
		{"none", nil, []Group{{[]int{0}, false}, {[]int{1}, false}, {[]int{2}, false}, {[]int{3}, false}}},
		{"one way", [][2]int{{2, 0}}, []Group{{[]int{0, 2}, false}, {[]int{1}, false}, {[]int{3}, false}}},
		{"ring", [][2]int{{0, 3}, {3, 1}, {1, 0}}, []Group{{[]int{0, 3, 1}, true}, {[]int{2}, false}}},
		{"two rings", [][2]int{{0, 2}, {2, 0}, {1, 3}, {3, 1}}, []Group{{[]int{0, 2}, true}, {[]int{1, 3}, true}}},
		{"a ring with a way out", [][2]int{{0, 1}, {1, 0}, {1, 2}}, []Group{{[]int{0, 1, 2}, false}, {[]int{3}, false}}},
		{"a ring further on", [][2]int{{0, 1}, {1, 2}, {2, 1}}, []Group{{[]int{0, 1, 2}, false}, {[]int{3}, false}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := network(t, "hybrid:racks=4,hosts=1", tt.circuits...)
			if diff := cmp.Diff(tt.want, n.Groups()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	ring := [][2]int{{0, 2}, {2, 0}}
	for _, tt := range []struct {
		name     string
		circuits [][2]int
		options  Options
		want     string
	}{
		{"tree", ring, Options{Kind: Tree}, `SwitchName=tor0 Nodes=h0-0,h0-1
SwitchName=tor2 Nodes=h2-0,h2-1
SwitchName=circuits-tor0 Switches=tor0,tor2
SwitchName=tor1 Nodes=h1-0,h1-1
SwitchName=packets Switches=circuits-tor0,tor1
`},
		{"block, the largest counts", ring, Options{Kind: Block}, `BlockName=tor0 Nodes=h0-0,h0-1,h2-0,h2-1
BlockName=tor1 Nodes=h1-0,h1-1
BlockSizes=4
`},
		{"tree in YAML", nil, Options{Kind: Tree, YAML: true}, `---
- topology: lightloom
  cluster_default: true
  tree:
    switches:
    - switch: tor0
      nodes: h0-0,h0-1
    - switch: tor1
      nodes: h1-0,h1-1
    - switch: tor2
      nodes: h2-0,h2-1
    - switch: packets
      children: tor0,tor1,tor2
`},
		{"block in YAML", nil, Options{Kind: Block, YAML: true}, `---
- topology: lightloom
  cluster_default: true
  block:
    block_sizes:
    - 2
    blocks:
    - block: tor0
      nodes: h0-0,h0-1
    - block: tor1
      nodes: h1-0,h1-1
    - block: tor2
      nodes: h2-0,h2-1
`},
		{"ring", [][2]int{{0, 2}, {2, 1}, {1, 0}}, Options{Kind: Ring, YAML: true}, `---
- topology: lightloom
  cluster_default: true
  ring:
    rings:
    - ring: tor0
      nodes: h0-0,h0-1,h2-0,h2-1,h1-0,h1-1
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := network(t, "hybrid:racks=3,hosts=2", tt.circuits...)
			if diff := cmp.Diff(tt.want, written(t, n, tt.options)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTorus: a slice is a torus, and a cube alone a box with gaps. Every size has placements, turned every way.
func TestTorus(t *testing.T) {
	n := network(t, "pod:cubes=3,side=2")
	pod, err := torus.Joined(2, 3)
	if err != nil {
		t.Fatal(err)
	}
	n.Pod.Slices = []torus.Slice{{Name: "a", Shape: torus.Box(2, 2, 4), Place: torus.BestFit(pod, torus.Box(2, 2, 4))}}
	var got []topology
	text := written(t, n, Options{Kind: Torus, YAML: true, Sizes: []int{1, 4}})
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	all := got[0].Torus.Toruses
	if len(all) != 2 || all[0].Dims != (point{2, 2, 4}) || all[1].Dims != (point{3, 3, 3}) {
		t.Fatalf("%+v", all)
	}
	if nodes := strings.Split(all[0].Nodes, ","); len(nodes) != 16 || nodes[0] != "h0-0" || nodes[1] != "h0-4" ||
		nodes[2] != "h0-2" || nodes[4] != "h0-1" || nodes[8] != "h1-0" {
		t.Errorf("nodes of the slice: %v", nodes)
	}
	if r := all[1].Regions; len(r) != 1 || r[0].Dims != (point{2, 2, 2}) ||
		!strings.HasPrefix(r[0].Nodes, "h2-0,h2-4,h2-2") {
		t.Errorf("regions of the cube: %+v", r)
	}
	want := []placementYAML{{point{1, 1, 1}, point{1, 1, 1}}, {point{2, 2, 1}, point{1, 1, 1}},
		{point{2, 1, 2}, point{1, 1, 1}}, {point{1, 2, 2}, point{1, 1, 1}}}
	if diff := cmp.Diff(want, all[1].Placements); diff != "" {
		t.Error(diff)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, spec, want string
		options          Options
	}{
		{"kind", "hybrid:racks=2", `"hypercube" is none of`, Options{Kind: "hypercube"}},
		{"conf", "hybrid:racks=2", "topology.conf has no ring", Options{Kind: Ring}},
		{"no pod", "hybrid:racks=2", "is no pod", Options{Kind: Torus, YAML: true}},
		{"long ring", "hybrid:racks=2,hosts=17", "has 17 nodes, and Slurm takes 16", Options{Kind: Ring, YAML: true}},
		{"size", "pod:cubes=1", "no box of cube0 has any of [7] nodes", Options{Kind: Torus, YAML: true, Sizes: []int{7}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := network(t, tt.spec).Write(&strings.Builder{}, tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) || hint.Of(err) == "" {
				t.Errorf("%v, hint %q, want %q", err, hint.Of(err), tt.want)
			}
		})
	}
}
