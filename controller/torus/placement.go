package torus

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Placement is where a slice is.
type Placement struct {
	Shape Shape  `json:"shape"` // as asked for
	Box   [3]int `json:"box"`   // the sides as placed: the shape turned, and perhaps folded
	// Grid is how many pieces the box has by dimension, and Pieces are these, x-major. nil for nodes that make no box.
	Grid   [3]int  `json:"grid"`
	Pieces []Piece `json:"pieces"`
	Side   int     `json:"side"` // of a cube
	Parts  []Part  `json:"-"`    // the nodes, one entry a cube; those of Pieces, if there are any
	// Fixed is a box across cubes whose cables are fixed: it needs no circuits, and its rings do not close.
	Fixed bool `json:"fixed,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. What it takes are pieces within cubes; CheckPlace says whether they make
// the shape.
func (p *Placement) UnmarshalJSON(text []byte) error {
	type plain Placement
	var q plain
	if err := json.Unmarshal(text, &q); err != nil {
		return err
	}
	if err := CheckSide(q.Side); err != nil {
		return fmt.Errorf("read placement: %w", err)
	}
	for _, piece := range q.Pieces {
		if !piece.within(q.Side) {
			return fmt.Errorf("read placement: piece %+v is not within a cube of side %d", piece, q.Side)
		}
	}
	*p = Placement(q)
	p.inBox()
	return nil
}

// Piece is the part of a box that one cube has.
type Piece struct {
	Cube int    `json:"cube"`
	At   [3]int `json:"at"` // of its lowest node, within the cube
	Size [3]int `json:"size"`
}

// within reports whether a piece lies in a cube of that side.
func (q Piece) within(side int) bool {
	for d, at := range q.At {
		if at < 0 || q.Size[d] < 1 || q.Size[d] > side || at > side-q.Size[d] {
			return false
		}
	}
	return q.Cube >= 0
}

func (q Piece) part() Part { return Part{Cube: q.Cube, Nodes: mask(q.At, q.Size)} }

// Cubes returns the cubes of a placement, ascending.
func (p *Placement) Cubes() []int {
	var out []int
	for _, q := range p.Parts {
		out = append(out, q.Cube)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CheckPlace returns an error unless a placement is free in this pod, makes its shape, and circuits can join it.
func (p *Pod) CheckPlace(at *Placement) error {
	pieces := at.Grid[0] * at.Grid[1] * at.Grid[2]
	if at.Side != p.side || at.Fixed || len(at.Pieces) == 0 || pieces != len(at.Pieces) || min(at.Grid[0], at.Grid[1],
		at.Grid[2]) < 1 {
		return fmt.Errorf("place slice of shape %s: %d pieces in a grid of %v of cubes of side %d", at.Shape,
			len(at.Pieces), at.Grid, at.Side)
	}
	nodes := 0
	for _, q := range at.Pieces {
		if err := p.known(q.Cube); err != nil {
			return fmt.Errorf("place slice of shape %s: %w", at.Shape, err)
		}
		if !q.within(p.side) {
			return fmt.Errorf("place slice of shape %s: piece %+v is not within a cube of side %d", at.Shape, q, p.side)
		}
		nodes += nodesOf([]Part{q.part()})
	}
	if err := p.Check(at.Shape); err != nil {
		return err
	}
	if own := nodesOf(at.Parts); nodes != at.Shape.Nodes() || own != nodes {
		return fmt.Errorf("place slice of shape %s: its pieces have %d nodes, %d of them different ones, and it has %d",
			at.Shape, nodes, own, at.Shape.Nodes())
	}
	for _, q := range at.Parts {
		if twice := p.taken[q.Cube] & q.Nodes; twice != 0 {
			return fmt.Errorf("place slice of shape %s: %d of its nodes in cube %d are another slice's", at.Shape,
				nodesOf([]Part{{q.Cube, twice}}), q.Cube)
		}
	}
	_, err := at.Circuits()
	return err
}

// inBox makes the parts of a placement from its pieces.
func (p *Placement) inBox() *Placement {
	byCube := map[int]int{} // index into Parts
	for _, q := range p.Pieces {
		part := q.part()
		i, ok := byCube[q.Cube]
		if !ok {
			byCube[q.Cube] = len(p.Parts)
			p.Parts = append(p.Parts, part)
			continue
		}
		p.Parts[i].Nodes |= part.Nodes
	}
	return p
}

// Rule is a way to find a place for a slice. It returns nil where there is none now.
type Rule struct {
	Name  string
	Doc   string
	Place func(p *Pod, s Shape) *Placement
}

// Rules returns the ways to place, in the order in which they are compared.
func Rules() []Rule {
	return []Rule{
		{"firstfit", "the first free box of a torus of fixed cables", FirstFit},
		{"reconfig", "pieces in the first cubes with room, joined by circuits", Reconfigure},
		{"rfold", "the fold that takes the fewest cubes, and then as reconfig", RFold},
		{"bestfit", "pieces and folds where they break into the fewest free cubes and leave the fewest gaps", BestFit},
	}
}

// RuleNamed returns a rule.
func RuleNamed(name string) (Rule, error) {
	var known []string
	for _, r := range Rules() {
		if r.Name == name {
			return r, nil
		}
		known = append(known, r.Name)
	}
	return Rule{}, fmt.Errorf("find rule %q of placement: there is none; known: %q", name, known)
}
