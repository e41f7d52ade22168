package torus

import (
	"cmp"
	"fmt"
	"slices"
)

// Circuit joins the fibre of a cube's upper face to the fibre of a cube's lower face at the same place: both lead to
// one switch. It carries light both ways.
type Circuit struct {
	Switch int // side² × dimension + side × first + second coordinate on the face
	Upper  int // the cube whose upper face it begins at
	Lower  int // the cube whose lower face it ends at; may be the same cube
}

// Ports returns the ports of the switch that the circuit joins: a cube's lower face is port 2×cube, its upper face the
// next one.
func (c Circuit) Ports() (upper, lower int) { return 2*c.Upper + 1, 2 * c.Lower }

func compareCircuits(a, b Circuit) int {
	return cmp.Or(cmp.Compare(a.Switch, b.Switch), cmp.Compare(a.Upper, b.Upper), cmp.Compare(a.Lower, b.Lower))
}

// switchAt returns the switch of a place on the faces of a dimension.
func switchAt(side, d int, node [3]int) int {
	first, second := (d+1)%3, (d+2)%3
	if first > second {
		first, second = second, first
	}
	return side*side*d + side*node[first] + node[second]
}

// Circuits returns what joins the pieces of a placement to a torus, a twisted one where the shape is, by switch and
// upper cube. A placement on fixed cables needs none. Pieces whose faces do not meet are an error: placements of
// BestFit always meet.
func (p *Placement) Circuits() ([]Circuit, error) {
	if p.Fixed {
		return nil, nil
	}
	if p.Pieces == nil {
		return nil, fmt.Errorf("join slice of shape %s: its nodes make no box", p.Shape)
	}
	var out []Circuit
	for i := range p.Pieces {
		for d := range 3 {
			next, joined := p.next(i, d)
			if !joined {
				continue
			}
			more, err := p.join(d, p.Pieces[i], p.Pieces[next])
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	slices.SortFunc(out, compareCircuits)
	return out, nil
}

// next returns the piece that the upper face of a piece is joined to in a dimension: the next one, or, of the last one
// of a ring, the first one, which a twist moves along the long sides.
func (p *Placement) next(i, d int) (int, bool) {
	at := [3]int{i / (p.Grid[1] * p.Grid[2]), i / p.Grid[2] % p.Grid[1], i % p.Grid[2]}
	if at[d]++; at[d] == p.Grid[d] {
		if p.Box[d]%p.Side != 0 {
			return 0, false
		}
		at[d] = 0
		if k := p.Shape.twist(p.Side); p.Shape.Twisted && p.Box[d] == k {
			for e := range at {
				if p.Box[e] == 2*k {
					at[e] = (at[e] + k/p.Side) % p.Grid[e]
				}
			}
		}
	}
	return (at[0]*p.Grid[1]+at[1])*p.Grid[2] + at[2], true
}

// join returns the circuits between the upper face of one piece and the lower face of another.
func (p *Placement) join(d int, a, b Piece) ([]Circuit, error) {
	meets := a.At[d]+a.Size[d] == p.Side && b.At[d] == 0
	for e := range 3 {
		meets = meets && (e == d || a.At[e] == b.At[e] && a.Size[e] == b.Size[e])
	}
	if !meets {
		return nil, fmt.Errorf("join slice of shape %s: the faces of its pieces in cubes %d and %d do not meet", p.Shape,
			a.Cube, b.Cube)
	}
	var out []Circuit
	face := a.Size
	face[d] = 1
	for x := range face[0] {
		for y := range face[1] {
			for z := range face[2] {
				node := [3]int{a.At[0] + x, a.At[1] + y, a.At[2] + z}
				out = append(out, Circuit{Switch: switchAt(p.Side, d, node), Upper: a.Cube, Lower: b.Cube})
			}
		}
	}
	return out, nil
}

// Node is a node of a pod.
type Node struct {
	Cube int
	At   [3]int
}

// Node returns where a node of the shape is: of a shape that is turned or folded, too.
func (p *Placement) Node(at [3]int) (Node, error) {
	in, err := p.inside(at)
	if err != nil {
		return Node{}, err
	}
	var grid [3]int
	for d := range in {
		// The first piece along a side can be the remainder.
		first := p.Pieces[0].Size[d]
		if in[d] < first {
			continue
		}
		grid[d] = 1 + (in[d]-first)/p.Side
		in[d] = (in[d] - first) % p.Side
	}
	q := p.Pieces[(grid[0]*p.Grid[1]+grid[1])*p.Grid[2]+grid[2]]
	return Node{q.Cube, [3]int{q.At[0] + in[0], q.At[1] + in[1], q.At[2] + in[2]}}, nil
}

// inside returns where a node of the shape is in the box.
func (p *Placement) inside(at [3]int) ([3]int, error) {
	if p.Pieces == nil {
		return at, fmt.Errorf("find node of slice of shape %s: its nodes make no box", p.Shape)
	}
	sides := p.Shape.Sides
	if sorted(sides) != sorted(p.Box) {
		for _, f := range folds(sides) {
			if f.box == sorted(p.Box) {
				sides, at = f.box, f.at(at)
				break
			}
		}
	}
	order, ok := turned(sides, p.Box)
	if !ok {
		return at, fmt.Errorf("find node of slice of shape %s: it does not fold to %v", p.Shape, p.Box)
	}
	return [3]int{at[order[0]], at[order[1]], at[order[2]]}, nil
}

// turned returns which of the sides each side of a box is.
func turned(sides, box [3]int) (order [3]int, ok bool) {
	for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		if [3]int{sides[p[0]], sides[p[1]], sides[p[2]]} == box {
			return p, true
		}
	}
	return order, false
}
