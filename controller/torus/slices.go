package torus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Slices are the slices of one pod, in the order in which they were asked for. They wait for room in that order: where
// the first does not fit, none behind it is tried.
type Slices struct {
	pod  *Pod
	rule Rule
	all  []*Slice
	at   map[Circuit]*Slice
}

// NewSlices returns the slices of a pod that is free.
func NewSlices(pod *Pod, rule Rule) *Slices {
	return &Slices{pod: pod.Clone(), rule: rule, at: map[Circuit]*Slice{}}
}

// All returns copies of the slices, in the order in which they were asked for.
func (l *Slices) All() []Slice {
	out := make([]Slice, len(l.all))
	for i, s := range l.all {
		out[i] = *s
	}
	return out
}

// Find returns a copy of a slice.
func (l *Slices) Find(name string) (Slice, bool) {
	if i := l.index(name); i >= 0 {
		return *l.all[i], true
	}
	return Slice{}, false
}

func (l *Slices) index(name string) int {
	return slices.IndexFunc(l.all, func(s *Slice) bool { return s.Name == name })
}

// Step takes an event, and returns what the switches are to do, deletions first. An error refuses the event and has
// changed nothing.
func (l *Slices) Step(e Event) ([]Action, error) {
	var out []Action
	switch {
	case e.Ask != nil:
		if err := l.ask(e.Ask); err != nil {
			return nil, err
		}
	case e.Release != "":
		i := l.index(e.Release)
		if i < 0 {
			return nil, fmt.Errorf("release slice %q: there is none; there are: %s", e.Release, l.names())
		}
		out = l.release(i)
	case e.Lit != nil:
		l.lit(*e.Lit)
		return nil, nil // no node is free that was not before
	case e.Dark != nil:
		return l.dark(*e.Dark), nil
	case e.Away != nil:
		if err := l.known(*e.Away); err != nil || l.pod.Away(*e.Away) {
			return nil, err
		}
		l.setAway(*e.Away, true)
	case e.Back != nil:
		if err := l.known(*e.Back); err != nil || !l.pod.Away(*e.Back) {
			return nil, err
		}
		l.setAway(*e.Back, false)
	}
	out = append(out, l.swapAll()...)
	out = append(out, l.placeAll()...)
	slices.SortStableFunc(out, func(a, b Action) int {
		switch {
		case a.Delete == b.Delete:
			return 0
		case a.Delete:
			return -1
		}
		return 1
	})
	return out, nil
}

func (l *Slices) names() string {
	var all []string
	for _, s := range l.all {
		all = append(all, s.Name)
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

func (l *Slices) known(cube int) error {
	if cube < 0 || cube >= l.pod.Cubes() {
		return fmt.Errorf("find cube %d: the pod has the cubes 0 to %d", cube, l.pod.Cubes()-1)
	}
	return nil
}

// ask takes a request. One that can never be met is kept as Failed, with the reason.
func (l *Slices) ask(a *Ask) error {
	if a.Name == "" || l.index(a.Name) >= 0 {
		return fmt.Errorf("ask for slice %q: give it a name that no other slice has; there are: %s", a.Name, l.names())
	}
	s := &Slice{Name: a.Name, Shape: a.Shape, State: Pending, Reason: BehindOthers, cubes: slices.Clone(a.Cubes)}
	l.all = append(l.all, s)
	if err := l.pod.Check(a.Shape); err != nil {
		s.set(Failed, ShapeImpossible, err.Error())
	} else if err := l.checkCubes(a); err != nil {
		s.set(Failed, CubesImpossible, err.Error())
	}
	return nil
}

// checkCubes returns an error unless the cubes that a request names can make its shape.
func (l *Slices) checkCubes(a *Ask) error {
	if a.Cubes == nil {
		return nil
	}
	for d, side := range a.Shape.Sides {
		if side%Side != 0 {
			return fmt.Errorf("slice %q: it names cubes, and side %d of %s is not whole cubes; ask for a side of %d, or "+
				"name no cubes", a.Name, d, a.Shape, (side+Side-1)/Side*Side)
		}
	}
	seen := map[int]bool{}
	for _, c := range a.Cubes {
		if err := l.known(c); err != nil {
			return fmt.Errorf("slice %q: %w", a.Name, err)
		}
		if seen[c] {
			return fmt.Errorf("slice %q: cube %d is named twice; nearest: %s", a.Name, c, l.nearestCubes(a))
		}
		seen[c] = true
	}
	if n := a.Shape.Cubes(); n != len(a.Cubes) {
		return fmt.Errorf("slice %q: it names %d cubes, and %s has %d; nearest: %s", a.Name, len(a.Cubes), a.Shape, n,
			l.nearestCubes(a))
	}
	return nil
}

// nearestCubes returns as many cubes as the shape has: those named, each once, and then the first others.
func (l *Slices) nearestCubes(a *Ask) string {
	var out []int
	for c := range l.pod.Cubes() + len(a.Cubes) {
		if c -= len(a.Cubes); c < 0 {
			c = a.Cubes[c+len(a.Cubes)]
		}
		if len(out) < a.Shape.Cubes() && c < l.pod.Cubes() && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return strings.Trim(fmt.Sprint(out), "[]")
}

func (s *Slice) set(state State, reason Reason, message string) {
	s.State, s.Reason, s.Message = state, reason, message
}

// release ends a slice.
func (l *Slices) release(i int) []Action {
	s := l.all[i]
	l.all = slices.Delete(l.all, i, i+1)
	if s.Place == nil {
		return nil
	}
	l.pod.Give(s.Place.Parts)
	return l.rewire(s, nil)
}

// rewire gives a slice other circuits, and returns what that changes: circuits in both stay.
func (l *Slices) rewire(s *Slice, circuits []Circuit) []Action {
	var out []Action
	want := map[Circuit]bool{}
	s.dark = 0
	for _, c := range circuits {
		lit, there := s.want[c]
		if want[c] = lit; !lit {
			s.dark++
		}
		if !there {
			out = append(out, Action{Circuit: c})
			l.at[c] = s
		}
	}
	for _, c := range slices.SortedFunc(maps.Keys(s.want), compareCircuits) {
		if _, stays := want[c]; !stays {
			out = append(out, Action{Circuit: c, Delete: true})
			delete(l.at, c)
		}
	}
	s.want = want
	return out
}

// lit notes light, and makes a slice Ready that has all of it.
func (l *Slices) lit(c Circuit) {
	s := l.at[c]
	if s == nil {
		return // of a slice that has ended
	}
	if !s.want[c] {
		s.want[c] = true
		s.dark--
	}
	s.settle()
}

// settle makes a slice Ready that has all cubes and all light.
func (s *Slice) settle() {
	if s.away == 0 && s.dark == 0 {
		s.set(Ready, CircuitsLit, "")
	} else if s.away == 0 {
		s.Message = fmt.Sprintf("%d of %d circuits are dark", s.dark, len(s.want))
	}
}

// dark notes that light has gone, and asks for it again.
func (l *Slices) dark(c Circuit) []Action {
	s := l.at[c]
	if s == nil || !s.want[c] {
		return nil
	}
	s.want[c] = false
	s.dark++
	if s.State == Ready {
		s.set(Incomplete, CircuitDark, "")
	}
	s.settle()
	return []Action{{Circuit: c}}
}

// setAway notes that a cube has failed or is back.
func (l *Slices) setAway(cube int, away bool) {
	l.pod.SetAway(cube, away)
	for _, s := range l.all {
		if s.Place == nil || !slices.Contains(s.Place.cubes(), cube) {
			continue
		}
		if away {
			s.away++
			s.set(Incomplete, CubeAway, fmt.Sprintf("cube %d is away, and no other has room", cube))
			continue
		}
		if s.away--; s.away == 0 {
			s.set(Incomplete, SwappingCube, "")
			s.settle()
		}
	}
}

// swapAll gives every slice that lacks a cube a spare one, where one has room.
func (l *Slices) swapAll() []Action {
	var out []Action
	for _, s := range l.all {
		if s.away == 0 {
			continue
		}
		for _, dead := range s.Place.cubes() {
			if !l.pod.Away(dead) {
				continue
			}
			if to := l.pod.Swap(s.Place, dead); to != nil {
				circuits, err := to.Circuits()
				if err != nil {
					panic("torus: a swap cannot be joined: " + err.Error())
				}
				l.pod.Give(s.Place.Parts)
				l.pod.Take(to.Parts)
				s.Place = to
				s.Swaps++
				s.away--
				out = append(out, l.rewire(s, circuits)...)
			}
		}
		if s.away == 0 {
			s.set(Incomplete, SwappingCube, "")
			s.settle()
		}
	}
	return out
}

// placeAll places the slices that wait, in their order.
func (l *Slices) placeAll() []Action {
	var out []Action
	blocked := false
	for _, s := range l.all {
		if s.State != Pending {
			continue
		}
		if blocked {
			s.set(Pending, BehindOthers, "")
			continue
		}
		place, circuits := l.placeOne(s)
		if place == nil {
			s.set(Pending, NoRoom, l.Explain(s.Shape))
			blocked = true
			continue
		}
		l.pod.Take(place.Parts)
		s.Place = place
		s.set(Activating, SettingCircuits, "")
		out = append(out, l.rewire(s, circuits)...)
		s.settle()
	}
	return out
}

// placeOne returns a place that circuits can join.
func (l *Slices) placeOne(s *Slice) (*Placement, []Circuit) {
	var place *Placement
	if s.cubes != nil {
		place = l.pod.named(s.Shape, s.cubes)
	} else {
		place = l.rule.Place(l.pod, s.Shape)
	}
	if place == nil {
		return nil, nil
	}
	circuits, err := place.Circuits()
	if err != nil {
		return nil, nil
	}
	return place, circuits
}

// named places a shape of whole cubes on the cubes that are named, or returns nil where one is not free.
func (p *Pod) named(s Shape, cubes []int) *Placement {
	kinds := kindsOf(s.Sides)
	var found []Piece
	for _, c := range cubes {
		if p.Free(c) != wholeCube {
			return nil
		}
		found = append(found, Piece{Cube: c, Size: kinds[0].size})
	}
	return arrange(s, s.Sides, kinds, [][]Piece{found})
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
		if free := p.Free(c); free&need == need && !slices.Contains(of.cubes(), c) {
			if n := nodesOf([]Part{{c, free}}); n < left {
				spare, left = c, n
			}
		}
	}
	if spare < 0 {
		return nil
	}
	to := &Placement{Shape: of.Shape, Box: of.Box, Grid: of.Grid, Pieces: slices.Clone(of.Pieces)}
	for i := range to.Pieces {
		if to.Pieces[i].Cube == dead {
			to.Pieces[i].Cube = spare
		}
	}
	return to.inBox()
}

// Explain says what would have to end for a shape to fit now.
func (l *Slices) Explain(s Shape) string {
	var there []Named
	for _, t := range l.all {
		if t.Place != nil {
			there = append(there, Named{t.Name, t.Place})
		}
	}
	needs, ok := WhatMustEnd(l.pod, there, s, l.rule)
	switch {
	case !ok:
		return "it does not fit while cubes are away, whatever ends"
	case len(needs.End) == 0:
		return "there is room"
	}
	return "it fits once these have ended: " + strings.Join(needs.End, ", ")
}
