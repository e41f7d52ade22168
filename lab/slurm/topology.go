package slurm

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"lightloom/controller/torus"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// The topologies of Slurm that a fabric can be written as.
const (
	Tree  = "tree"
	Block = "block"
	Ring  = "ring"
	Torus = "torus3d"
)

// Kinds lists them.
func Kinds() []string { return []string{Tree, Block, Ring, Torus} }

// MaxRing is how many nodes a ring of Slurm has at most.
const MaxRing = 16

// Rack is a rack and its nodes, under the names that Slurm has for them.
type Rack struct {
	Name  string
	Nodes []string
}

// Network is what Slurm is told of a fabric.
type Network struct {
	Racks []Rack
	// Circuits that are in service, each from a rack to another, by place in Racks.
	Circuits [][2]int
	Pod      *Pod // nil: the fabric is none
}

// Pod is what Slurm is told of a pod: its racks are cubes.
type Pod struct {
	Side   int
	Slices []torus.Slice
}

// Of returns what a fabric has, without circuits.
func Of(f *topo.Fabric) Network {
	var n Network
	for r := range f.Racks {
		rack := Rack{Name: f.Topology.Node(f.ToRNode[r]).Name}
		for h := f.FirstHost[r]; h < f.FirstHost[r+1]; h++ {
			rack.Nodes = append(rack.Nodes, f.Topology.Node(f.HostNode[h]).Name)
		}
		n.Racks = append(n.Racks, rack)
	}
	if f.Spec.Pod() {
		n.Pod = &Pod{Side: f.Spec.Side}
	}
	return n
}

// Group is racks that circuits join, in the order of the ring where they make one.
type Group struct {
	Racks []int
	Ring  bool // each rack has a circuit to the next, and the last one to the first
}

// Groups returns the racks that circuits join, those of each group and the groups themselves by their lowest rack. A
// rack without circuits is a group of its own.
func (n *Network) Groups() []Group {
	next := make([][]int, len(n.Racks))
	group := make([]int, len(n.Racks))
	for i := range group {
		group[i] = i
	}
	for _, c := range n.Circuits {
		next[c[0]] = append(next[c[0]], c[1])
		a, b := group[c[0]], group[c[1]]
		for i, g := range group {
			if g == max(a, b) {
				group[i] = min(a, b)
			}
		}
	}
	var out []Group
	for first := range group {
		if group[first] != first {
			continue
		}
		var g Group
		for i := range group {
			if group[i] == first {
				g.Racks = append(g.Racks, i)
			}
		}
		if ring := around(next, first); len(ring) == len(g.Racks) && len(ring) > 1 {
			g = Group{ring, true}
		}
		out = append(out, g)
	}
	return out
}

// around follows circuits from a rack back to it; nil where they do not lead there one by one.
func around(next [][]int, first int) (ring []int) {
	at := first
	for len(next[at]) == 1 && len(ring) < len(next) {
		ring = append(ring, at)
		if at = next[at][0]; at == first {
			return ring
		}
	}
	return nil
}

func (n *Network) nodes(racks []int) (out []string) {
	for _, r := range racks {
		out = append(out, n.Racks[r].Nodes...)
	}
	return out
}

// largest returns the nodes of the group that has most. Slurm takes every block for one of the size that it is told,
// and refuses jobs that need more, so that of unequal blocks the largest counts.
func (n *Network) largest() int {
	most := 0
	for _, g := range n.Groups() {
		most = max(most, len(n.nodes(g.Racks)))
	}
	return most
}

// Blocks returns which block each node is in.
func (n *Network) Blocks() map[string]string {
	out := map[string]string{}
	for _, g := range n.Groups() {
		for _, node := range n.nodes(g.Racks) {
			out[node] = n.Racks[g.Racks[0]].Name
		}
	}
	return out
}

// top is the switch above all others in a tree.
const top = "packets"

func circuitsOf(rack string) string { return "circuits-" + rack }

// The keys of topology.yaml, as its manual page has them.
type (
	topology struct {
		Name    string      `yaml:"topology"`
		Default bool        `yaml:"cluster_default"`
		Tree    *treeYAML   `yaml:"tree,omitempty"`
		Block   *blockYAML  `yaml:"block,omitempty"`
		Ring    *ringYAML   `yaml:"ring,omitempty"`
		Torus   *torus3YAML `yaml:"torus3d,omitempty"`
	}
	treeYAML struct {
		Switches []switchYAML `yaml:"switches"`
	}
	switchYAML struct {
		Switch   string `yaml:"switch"`
		Children string `yaml:"children,omitempty"`
		Nodes    string `yaml:"nodes,omitempty"`
	}
	blockYAML struct {
		Sizes  []int      `yaml:"block_sizes"`
		Blocks []nodeList `yaml:"blocks"`
	}
	ringYAML struct {
		Rings []ringList `yaml:"rings"`
	}
	nodeList struct {
		Name  string `yaml:"block"`
		Nodes string `yaml:"nodes"`
	}
	ringList struct {
		Name  string `yaml:"ring"`
		Nodes string `yaml:"nodes"`
	}
)

// Name is what the topology is called in topology.yaml.
const Name = "lightloom"

// Options say how a network is written.
type Options struct {
	Kind  string
	YAML  bool  // topology.yaml, which Slurm has from 25.05 on; else topology.conf
	Sizes []int // of a torus: numbers of nodes that jobs ask for; nil: every box within a cube
}

// Write writes the file that Slurm reads.
func (n *Network) Write(w io.Writer, o Options) error {
	switch {
	case !slices.Contains(Kinds(), o.Kind):
		return hint.New(fmt.Sprintf("write topology: %q is none of %q", o.Kind, Kinds()), "write --plugin tree")
	case !o.YAML && (o.Kind == Ring || o.Kind == Torus):
		return hint.New(fmt.Sprintf("write topology: topology.conf has no %s", o.Kind), "name the file topology.yaml, "+
			"which Slurm has from 25.05 on, or write --plugin block")
	case !o.YAML:
		_, err := io.WriteString(w, n.conf(o.Kind))
		return err
	}
	t := topology{Name: Name, Default: true}
	var err error
	switch o.Kind {
	case Tree:
		t.Tree = &treeYAML{n.switches()}
	case Block:
		t.Block = &blockYAML{Sizes: []int{n.largest()}}
		for _, g := range n.Groups() {
			t.Block.Blocks = append(t.Block.Blocks, nodeList{n.Racks[g.Racks[0]].Name, strings.Join(n.nodes(g.Racks), ",")})
		}
	case Ring:
		t.Ring, err = n.rings()
	case Torus:
		t.Torus, err = n.toruses(o.Sizes)
	}
	if err != nil {
		return err
	}
	b, err := yaml.Marshal([]topology{t})
	if err != nil {
		return fmt.Errorf("write topology: %w", err)
	}
	_, err = w.Write(append([]byte("---\n"), b...))
	return err
}

// switches lists leaves, the switches of circuits above them, and one above all.
func (n *Network) switches() (all []switchYAML) {
	var above []string
	for _, g := range n.Groups() {
		var leaves []string
		for _, r := range g.Racks {
			leaves = append(leaves, n.Racks[r].Name)
			all = append(all, switchYAML{Switch: n.Racks[r].Name, Nodes: strings.Join(n.Racks[r].Nodes, ",")})
		}
		if len(leaves) == 1 {
			above = append(above, leaves...)
			continue
		}
		joint := circuitsOf(leaves[0])
		all = append(all, switchYAML{Switch: joint, Children: strings.Join(leaves, ",")})
		above = append(above, joint)
	}
	if len(above) == 1 && len(n.Racks) > 1 {
		return all // one switch is above all already
	}
	return append(all, switchYAML{Switch: top, Children: strings.Join(above, ",")})
}

func (n *Network) conf(kind string) string {
	var b strings.Builder
	if kind == Block {
		for _, g := range n.Groups() {
			fmt.Fprintf(&b, "BlockName=%s Nodes=%s\n", n.Racks[g.Racks[0]].Name, strings.Join(n.nodes(g.Racks), ","))
		}
		fmt.Fprintf(&b, "BlockSizes=%d\n", n.largest())
		return b.String()
	}
	for _, s := range n.switches() {
		if s.Nodes != "" {
			fmt.Fprintf(&b, "SwitchName=%s Nodes=%s\n", s.Switch, s.Nodes)
		} else {
			fmt.Fprintf(&b, "SwitchName=%s Switches=%s\n", s.Switch, s.Children)
		}
	}
	return b.String()
}

// rings has each ring of circuits be one of Slurm, and each other rack.
func (n *Network) rings() (*ringYAML, error) {
	out := &ringYAML{}
	for _, g := range n.Groups() {
		units := [][]int{g.Racks}
		if !g.Ring {
			units = nil
			for _, r := range g.Racks {
				units = append(units, []int{r})
			}
		}
		for _, racks := range units {
			nodes, name := n.nodes(racks), n.Racks[racks[0]].Name
			if len(nodes) > MaxRing {
				return nil, hint.New(fmt.Sprintf("write topology: the ring of %s has %d nodes, and Slurm takes %d at most", name,
					len(nodes), MaxRing), "write --plugin block")
			}
			out.Rings = append(out.Rings, ringList{name, strings.Join(nodes, ",")})
		}
	}
	return out, nil
}
