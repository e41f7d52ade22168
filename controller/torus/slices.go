package torus

import (
	"fmt"
	"slices"
	"strings"
)

// Asked returns a slice that is asked for: Pending, or Failed where the pod can never give it.
func (p *Pod) Asked(name string, s Shape, cubes []int) Slice {
	out := Slice{Name: name, Shape: s, Cubes: slices.Clone(cubes), State: Pending, Reason: JustAsked}
	if err := p.Check(s); err != nil {
		out.State, out.Reason, out.Why = Failed, ShapeImpossible, err.Error()
	} else if err := p.checkCubes(&out); err != nil {
		out.State, out.Reason, out.Why = Failed, CubesImpossible, err.Error()
	}
	return out
}

// Settle decides what becomes of the slices of a pod, in the order in which they were asked for, and returns those that
// change, as they are then. The pod says which cubes are away; what is taken of it follows from the slices. lacks has
// an entry a slice.
//
// A slice that lost a cube gets a spare one, where one has room. Slices wait for room in their order: where the first
// does not fit, none behind it is tried.
func Settle(p *Pod, rule Rule, all []Slice, lacks []Lack) (changed []Slice) {
	q := p.Occupied(all)
	blocked := false
	for i := range all {
		s := all[i]
		changes := false
		switch {
		case s.State == Failed:
		case s.Place != nil:
			changes = q.keep(&s, lacks[i])
		case blocked:
			changes = s.become(Pending, BehindOthers)
		case !q.admit(rule, &s):
			changes = s.become(Pending, NoRoom)
			blocked = true
		default:
			changes = s.become(Activating, SettingCircuits)
		}
		if changes {
			changed = append(changed, s)
		}
	}
	return changed
}

// Occupied returns the pod with all that slices have taken, and nothing else.
func (p *Pod) Occupied(all []Slice) *Pod {
	q := p.Clone()
	clear(q.taken)
	for i := range all {
		if at := all[i].Place; at != nil {
			q.Take(at.Parts)
		}
	}
	return q
}

// keep brings the state of a placed slice up to date, and swaps cubes that are away. It reports whether the slice has
// changed.
func (p *Pod) keep(s *Slice, lack Lack) bool {
	swapped, gone := p.swapAway(s)
	return s.keep(kept{swapped: swapped, gone: gone, awayReason: CubeAway, swapReason: SwappingCube}, lack)
}

// swapAway swaps the cubes of a slice that are away for spare ones, and reports whether it has any and whether some
// cube has none.
func (p *Pod) swapAway(s *Slice) (swapped, gone bool) {
	for _, dead := range s.Place.Cubes() {
		if !p.Away(dead) {
			continue
		}
		to := p.Swap(s.Place, dead)
		if to == nil {
			gone = true
			continue
		}
		p.Give(s.Place.Parts)
		p.Take(to.Parts)
		s.Place = to
		s.Swaps++
		swapped = true
	}
	return swapped, gone
}

// admit gives a slice a place that circuits can join, if there is one.
func (p *Pod) admit(rule Rule, s *Slice) bool {
	place := p.placeFor(rule, s)
	if place == nil {
		return false
	}
	if _, err := place.Circuits(); err != nil {
		return false
	}
	p.Take(place.Parts)
	s.Place = place
	return true
}

func (p *Pod) placeFor(rule Rule, s *Slice) *Placement {
	if s.Cubes != nil {
		return p.named(s.Shape, s.Cubes)
	}
	return rule.Place(p, s.Shape)
}

func (p *Pod) known(cube int) error {
	if cube < 0 || cube >= p.Cubes() {
		return fmt.Errorf("find cube %d: the pod has the cubes 0 to %d", cube, p.Cubes()-1)
	}
	return nil
}

// checkCubes returns an error unless the cubes that a slice names can make its shape.
func (p *Pod) checkCubes(s *Slice) error {
	if s.Cubes == nil {
		return nil
	}
	for d, side := range s.Shape.Sides {
		if side%p.side != 0 {
			return fmt.Errorf("slice %q: it names cubes, and side %d of %s is not whole cubes; ask for a side of %d, or "+
				"name no cubes", s.Name, d, s.Shape, (side+p.side-1)/p.side*p.side)
		}
	}
	seen := map[int]bool{}
	for _, c := range s.Cubes {
		if err := p.known(c); err != nil {
			return fmt.Errorf("slice %q: %w; nearest: %s", s.Name, err, p.nearestCubes(s))
		}
		if seen[c] {
			return fmt.Errorf("slice %q: cube %d is named twice, and so each of its nodes; nearest: %s", s.Name, c,
				p.nearestCubes(s))
		}
		seen[c] = true
	}
	if n := p.cubesOf(s.Shape.Sides); n != len(s.Cubes) {
		return fmt.Errorf("slice %q: it names %d cubes, and %s has %d; nearest: %s", s.Name, len(s.Cubes), s.Shape, n,
			p.nearestCubes(s))
	}
	return nil
}

// nearestCubes returns as many cubes as the shape has: those named, each once, and then the first others.
func (p *Pod) nearestCubes(s *Slice) string {
	var out []int
	for c := range p.Cubes() + len(s.Cubes) {
		if c -= len(s.Cubes); c < 0 {
			c = s.Cubes[c+len(s.Cubes)]
		}
		if len(out) < p.cubesOf(s.Shape.Sides) && c >= 0 && c < p.Cubes() && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return strings.Trim(fmt.Sprint(out), "[]")
}

// named places a shape of whole cubes on the cubes that are named, or returns nil where one is not free.
func (p *Pod) named(s Shape, cubes []int) *Placement {
	kinds := kindsOf(s.Sides, p.side)
	var found []Piece
	for _, c := range cubes {
		if p.Free(c) != p.whole {
			return nil
		}
		found = append(found, Piece{Cube: c, Size: kinds[0].size})
	}
	return p.arrange(s, s.Sides, kinds, [][]Piece{found})
}

// Swap returns the placement with a cube replaced by the fullest one that has room for its pieces; nil where there is
// none, or where cables are fixed.
func (p *Pod) Swap(of *Placement, dead int) *Placement {
	if of.Fixed || of.Pieces == nil {
		return nil
	}
	var need uint64
	for _, q := range of.Parts {
		if q.Cube == dead {
			need |= q.Nodes
		}
	}
	spare, left := -1, 65
	for c := range p.taken {
		if free := p.Free(c); free&need == need && !slices.Contains(of.Cubes(), c) {
			if n := nodesOf([]Part{{c, free}}); n < left {
				spare, left = c, n
			}
		}
	}
	if spare < 0 {
		return nil
	}
	to := &Placement{Shape: of.Shape, Box: of.Box, Grid: of.Grid, Side: of.Side, Pieces: slices.Clone(of.Pieces)}
	for i := range to.Pieces {
		if to.Pieces[i].Cube == dead {
			to.Pieces[i].Cube = spare
		}
	}
	return to.inBox()
}

// Explain says what would have to end, or come back, for a slice that waits to fit.
func Explain(p *Pod, rule Rule, all []Slice, s *Slice) string {
	var there []Named
	for i := range all {
		if t := &all[i]; t.Place != nil {
			there = append(there, Named{t.Name, t.Place})
		}
	}
	asked := Rule{Name: rule.Name, Place: func(q *Pod, _ Shape) *Placement { return q.placeFor(rule, s) }}
	needs, ok := WhatMustEnd(p.Occupied(all), there, s.Shape, asked)
	switch {
	case !ok:
		return "it does not fit while cubes are away, whatever ends"
	case len(needs.End) == 0:
		return "there is room"
	}
	return "it fits once these have ended: " + strings.Join(needs.End, ", ")
}
