package torus

import (
	"cmp"
	"math/bits"
	"slices"
)

// Move is a slice that goes to another place.
type Move struct {
	Name     string
	From, To *Placement
}

// Defragmentation is moves after which a shape fits.
type Defragmentation struct {
	Moves []Move
	Nodes int // that are moved
	// Bound is how many nodes any moves that free as many cubes must move at least: those in the emptiest used cubes.
	Bound int
	Place *Placement // of the shape, afterwards
}

// Defragment returns moves that make room for a shape, or nil where it finds none. It empties cubes that are used in
// part, those with the fewest taken nodes first, and moves each slice in them as a whole to where BestFit finds room
// elsewhere, until the rule finds a place.
func Defragment(p *Pod, there []Named, s Shape, rule Rule) *Defragmentation {
	if s.Nodes() > p.FreeNodes() {
		return nil
	}
	d := defragmenter{pod: p.Clone(), at: map[string]*Placement{}, barred: make([]bool, p.Cubes()), there: there}
	for _, n := range there {
		d.at[n.Name] = n.Place
	}
	for _, c := range d.partly() {
		if !d.empty(c) {
			continue
		}
		if place := rule.Place(d.pod, s); place != nil {
			return d.result(p, s, place)
		}
	}
	return nil
}

// MakeRoom returns moves of slices after which a shape fits, in an order in which each one's new place is free when its
// turn comes; no moves where it fits already, and nil where none are found. Slices that stay are not moved, and neither
// are those that were asked for on certain cubes or have no place.
func MakeRoom(p *Pod, rule Rule, all []Slice, s Shape, stays func(*Slice) bool) *Defragmentation {
	q := p.Occupied(all)
	if place := rule.Place(q, s); place != nil {
		return &Defragmentation{Place: place}
	}
	var there []Named
	for i := range all {
		if x := &all[i]; x.Place != nil && x.Cubes == nil && !stays(x) {
			there = append(there, Named{x.Name, x.Place})
		}
	}
	d := Defragment(q, there, s, rule)
	if d == nil || !d.inTurn(q) {
		return nil
	}
	return d
}

// inTurn sorts the moves so that each place is free when it is taken, and reports whether that can be.
func (d *Defragmentation) inTurn(q *Pod) bool {
	sorted := make([]Move, 0, len(d.Moves))
	for left := d.Moves; len(left) > 0; {
		i := slices.IndexFunc(left, func(m Move) bool {
			q.Give(m.From.Parts)
			if q.CheckPlace(m.To) != nil {
				q.Take(m.From.Parts)
				return false
			}
			q.Take(m.To.Parts)
			return true
		})
		if i < 0 {
			return false
		}
		sorted = append(sorted, left[i])
		left = append(slices.Clone(left[:i]), left[i+1:]...)
	}
	d.Moves = sorted
	return true
}

// defragmenter tries moves on a copy of a pod.
type defragmenter struct {
	pod    *Pod
	there  []Named
	at     map[string]*Placement
	barred []bool // cubes that are emptied: nothing moves there
}

// partly returns the cubes that are used in part, those with the fewest taken nodes first.
func (d *defragmenter) partly() []int {
	var out []int
	for c, taken := range d.pod.taken {
		if taken != 0 && taken != d.pod.whole && !d.pod.Away(c) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		return cmp.Or(bits.OnesCount64(d.pod.taken[a])-bits.OnesCount64(d.pod.taken[b]), a-b)
	})
	return out
}

// empty moves all slices out of a cube, or none of them.
func (d *defragmenter) empty(cube int) bool {
	was, before := d.pod.Clone(), map[string]*Placement{}
	d.barred[cube] = true
	for _, n := range d.there {
		from := d.at[n.Name]
		if !slices.Contains(from.Cubes(), cube) {
			continue
		}
		before[n.Name] = from
		d.pod.Give(from.Parts)
		if to := BestFit(d.without(), from.Shape); to != nil {
			d.pod.Take(to.Parts)
			d.at[n.Name] = to
			continue
		}
		d.undo(was, before, cube)
		return false
	}
	if d.pod.taken[cube] != 0 { // by what stays
		d.undo(was, before, cube)
		return false
	}
	return true
}

func (d *defragmenter) undo(was *Pod, before map[string]*Placement, cube int) {
	d.pod, d.barred[cube] = was, false
	for name, place := range before {
		d.at[name] = place
	}
}

// without returns the pod with no room in free cubes or those that are emptied.
func (d *defragmenter) without() *Pod {
	q := d.pod.Clone()
	for c, barred := range d.barred {
		if barred || q.taken[c] == 0 {
			q.SetAway(c, true)
		}
	}
	return q
}

func (d *defragmenter) result(p *Pod, s Shape, place *Placement) *Defragmentation {
	out := &Defragmentation{Place: place}
	for _, n := range d.there {
		if to := d.at[n.Name]; to != n.Place {
			out.Moves = append(out.Moves, Move{n.Name, n.Place, to})
			out.Nodes += nodesOf(n.Place.Parts)
		}
	}
	free := 0
	for c := range p.taken {
		if p.Free(c) == p.whole {
			free++
		}
	}
	full := 1
	for _, side := range place.Box {
		full *= side / p.side
	}
	least := defragmenter{pod: p}
	partly := least.partly()
	for _, c := range partly[:min(max(full-free, 0), len(partly))] {
		out.Bound += bits.OnesCount64(p.taken[c])
	}
	return out
}
