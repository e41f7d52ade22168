package torus

import (
	"fmt"
	"slices"
)

// Placement is where a slice is.
type Placement struct {
	Shape Shape  // as asked for
	Box   [3]int // the sides as placed: the shape turned, and perhaps folded
	// Grid is how many pieces the box has by dimension, and Pieces are these, x-major. nil for nodes that make no box.
	Grid   [3]int
	Pieces []Piece
	Parts  []Part // the nodes, one entry a cube
	// Fixed is a box across cubes whose cables are fixed: it needs no circuits, and its rings do not close.
	Fixed bool
}

// Piece is the part of a box that one cube has.
type Piece struct {
	Cube int
	At   [3]int // of its lowest node, within the cube
	Size [3]int
}

func (q Piece) part() Part { return Part{Cube: q.Cube, Nodes: mask(q.At, q.Size)} }

// cubes returns the cubes of a placement, ascending.
func (p *Placement) cubes() []int {
	var out []int
	for _, q := range p.Parts {
		out = append(out, q.Cube)
	}
	slices.Sort(out)
	return slices.Compact(out)
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
