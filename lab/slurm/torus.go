package slurm

import (
	"fmt"
	"slices"
	"strings"

	"lightloom/controller/torus"
	"lightloom/southbound/hint"
)

// The keys of a torus in topology.yaml.
type (
	torus3YAML struct {
		Toruses []torusYAML `yaml:"toruses"`
	}
	torusYAML struct {
		Name       string          `yaml:"name"`
		Dims       point           `yaml:"dims"`
		Nodes      string          `yaml:"nodes,omitempty"`
		Regions    []regionYAML    `yaml:"regions,omitempty"`
		Placements []placementYAML `yaml:"placements"`
	}
	regionYAML struct {
		Anchor point  `yaml:"anchor"`
		Dims   point  `yaml:"dims"`
		Nodes  string `yaml:"nodes"`
	}
	placementYAML struct {
		Dims    point `yaml:"dims"`
		Spacing point `yaml:"anchor_spacing"`
	}
	point struct {
		X int `yaml:"x"`
		Y int `yaml:"y"`
		Z int `yaml:"z"`
	}
)

func pointOf(p [3]int) point { return point{p[0], p[1], p[2]} }

// open returns a box whose rings do not close: a torus with a gap in each dimension, over which no placement can wrap.
func open(name string, sides [3]int, nodes []string, sizes []int) torusYAML {
	return torusYAML{Name: name, Dims: point{sides[0] + 1, sides[1] + 1, sides[2] + 1},
		Regions:    []regionYAML{{Dims: pointOf(sides), Nodes: strings.Join(nodes, ",")}},
		Placements: placements(sides, sizes)}
}

// toruses has each slice be a torus of Slurm, and each cube that no slice has nodes of an open box.
func (n *Network) toruses(sizes []int) (*torus3YAML, error) {
	if n.Pod == nil {
		return nil, hint.New("write topology: this fabric is no pod, and has no torus", "write --plugin block")
	}
	out := &torus3YAML{}
	taken := map[int]bool{}
	for i := range n.Pod.Slices {
		s := &n.Pod.Slices[i]
		if s.Place == nil {
			continue
		}
		nodes, err := n.sliceNodes(s.Place)
		if err != nil {
			return nil, err
		}
		for _, c := range s.Place.Cubes() {
			taken[c] = true
		}
		sides := s.Place.Shape.Sides
		t := open(s.Name, sides, nodes, sizes)
		if !s.Shape.Twisted { // Slurm knows no twisted ones: of these it is told the box alone
			t.Dims, t.Nodes, t.Regions = pointOf(sides), t.Regions[0].Nodes, nil
		}
		out.Toruses = append(out.Toruses, t)
	}
	for c := range n.Racks {
		if !taken[c] {
			side := [3]int{n.Pod.Side, n.Pod.Side, n.Pod.Side}
			out.Toruses = append(out.Toruses, open(n.Racks[c].Name, side, n.xFirst(c), sizes))
		}
	}
	for i := range out.Toruses {
		if len(out.Toruses[i].Placements) == 0 {
			return nil, hint.New(fmt.Sprintf("write topology: no box of %s has any of %v nodes", out.Toruses[i].Name, sizes),
				"leave --sizes away, or name sizes such as 1,2,4,8")
		}
	}
	return out, nil
}

// xFirst returns the nodes of a cube as Slurm counts them, x fastest. Ours count z fastest.
func (n *Network) xFirst(cube int) (out []string) {
	side := n.Pod.Side
	each([3]int{side, side, side}, func(at [3]int) {
		out = append(out, n.Racks[cube].Nodes[(at[0]*side+at[1])*side+at[2]])
	})
	return out
}

func (n *Network) sliceNodes(p *torus.Placement) (out []string, err error) {
	each(p.Shape.Sides, func(at [3]int) {
		node, e := p.Node(at)
		if e != nil {
			err = e
			return
		}
		side := n.Pod.Side
		out = append(out, n.Racks[node.Cube].Nodes[(node.At[0]*side+node.At[1])*side+node.At[2]])
	})
	return out, err
}

// each calls do with every place of a box, x fastest.
func each(sides [3]int, do func(at [3]int)) {
	for z := range sides[2] {
		for y := range sides[1] {
			for x := range sides[0] {
				do([3]int{x, y, z})
			}
		}
	}
}

// placements returns all boxes within a torus whose size is asked for, turned every way, since Slurm turns none, and
// with anchors at every node. A size without a placement would be refused at submit.
func placements(within [3]int, sizes []int) (out []placementYAML) {
	each(within, func(at [3]int) {
		dims := [3]int{at[0] + 1, at[1] + 1, at[2] + 1}
		if sizes == nil || slices.Contains(sizes, dims[0]*dims[1]*dims[2]) {
			out = append(out, placementYAML{pointOf(dims), point{1, 1, 1}})
		}
	})
	return out
}
