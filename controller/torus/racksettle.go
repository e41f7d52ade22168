package torus

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Asked returns a slice of racks that is asked for: Pending, or Failed where these racks can never give it. named are
// the racks that it has to be; nil for any.
func (k *Racks) Asked(name string, s Shape, named []int) Slice {
	out := Slice{Name: name, Shape: s, Cubes: slices.Clone(named), State: Pending, Reason: JustAsked}
	if err := k.Check(s); err != nil {
		out.State, out.Reason, out.Why = Failed, ShapeImpossible, err.Error()
	} else if err := k.checkNamed(&out); err != nil {
		out.State, out.Reason, out.Why = Failed, RacksImpossible, err.Error()
	}
	return out
}

// checkNamed returns an error unless the racks that a slice names can make its shape.
func (k *Racks) checkNamed(s *Slice) error {
	if s.Cubes == nil {
		return nil
	}
	if err := k.CheckWaits(s); err != nil {
		return fmt.Errorf("slice %q: %w", s.Name, err)
	}
	empty := NewRacks(len(k.leads), k.cables)
	if ring, _ := empty.Place(RackRules()[0], s.Shape, s.named()); ring == nil {
		return fmt.Errorf("slice %q: the racks that it names have no ports on the same %d optical switches or wavelengths; "+
			"nearest: any racks, of which %s has some", s.Name, s.Shape.Circuits, s.Shape)
	}
	return nil
}

// named are the racks that a slice has to be; nil for any.
func (s *Slice) named() []int32 {
	if s.Shape.Racks == 0 {
		return s.Ring
	}
	if s.Cubes == nil {
		return nil
	}
	out := []int32{}
	for _, r := range s.Cubes {
		out = append(out, int32(r))
	}
	return out
}

// SettleRacks decides what becomes of slices of racks, in the order in which they were asked for, and returns those
// that change, as they are then. lacks has an entry a slice.
//
// Circuits that are dark and cannot be lit are led over other planes, and a rack that is away gives its place to a
// spare one, where its slice has it for itself. Where a slice that may have any racks does not fit, none behind it is
// tried. Where one that names racks does not, those behind it get none of these.
func SettleRacks(k *Racks, rule RackRule, all []Slice, lacks []Lack) (changed []Slice) {
	q := k.occupied(all)
	blocked := false
	for i := range all {
		s := all[i]
		changes := false
		switch {
		case s.State == Failed:
		case s.Holds():
			changes = q.keep(&s, lacks[i])
		case blocked:
			changes = s.become(Pending, BehindOthers)
		case q.admit(rule, &s):
			changes = s.become(Activating, SettingCircuits)
		default:
			changes = s.become(Pending, NoRoom)
			blocked = s.Own()
			for _, r := range s.named() {
				q.kept[r] = true
			}
		}
		if changes {
			changed = append(changed, s)
		}
	}
	return changed
}

// admit gives a slice its racks and planes, if there are some.
func (k *Racks) admit(rule RackRule, s *Slice) bool {
	ring, planes, ok := k.room(rule, s)
	if !ok {
		return false
	}
	s.Ring, s.Planes, s.State = ring, planes, Activating
	k.hold(s, true)
	return true
}

// room finds racks and planes for a slice that waits. Of one that names its racks on a single plane, nothing but what
// other slices have is in the way.
func (k *Racks) room(rule RackRule, s *Slice) (ring []int32, planes [][]int32, ok bool) {
	if s.Shape.Racks > 0 {
		ring, planes = k.Place(rule, s.Shape, s.named())
		return ring, planes, ring != nil
	}
	busy := func(r int32) bool {
		return k.kept[r] || k.owned[r] || (k.taken[outwards][r]|k.taken[inwards][r])&1 == 1
	}
	return s.Ring, nil, len(s.Ring) < 2 || !slices.ContainsFunc(s.Ring, busy)
}

// keep brings the state of a slice that holds its racks up to date, and swaps what is away. It reports whether the
// slice has changed.
func (k *Racks) keep(s *Slice, lack Lack) bool {
	if s.Shape.Racks == 0 {
		return s.keep(kept{}, lack)
	}
	how := kept{awayReason: RackAway, swapReason: SwappingCircuit}
	next := *s
	next.Ring, next.Planes = slices.Clone(s.Ring), make([][]int32, len(s.Planes))
	for lane := range s.Planes {
		next.Planes[lane] = slices.Clone(s.Planes[lane])
	}
	for i, r := range next.Ring {
		switch {
		case !k.away[r]:
		case s.Own() && k.swap(&next, i):
			how.swapped, how.swapReason = true, SwappingRack
			next.Swaps++
		default:
			how.gone = true
		}
	}
	for lane := range next.Planes {
		for i := range next.Ring {
			switch {
			case !k.broken(next.circuit(lane, i)):
			case k.replane(&next, lane, i):
				how.swapped = true
			default:
				how.stuck = true
			}
		}
	}
	if how.swapped {
		*s = next
	}
	return s.keep(how, lack)
}

// swap puts a spare rack into a place of a slice's ring: one that can have its circuits at most of the same planes, of
// those the one with the fewest ports left. It reports false where there is none.
func (k *Racks) swap(s *Slice, i int) bool {
	var best *Slice
	fewest := [2]int{}
	for c := range int32(len(k.cables)) {
		if k.away[c] || k.owned[c] || k.kept[c] || k.users[c] > 0 {
			continue
		}
		to, moved := k.instead(s, i, c)
		if to == nil {
			continue
		}
		if rank := [2]int{moved, bits.OnesCount32(k.free(c))}; best == nil ||
			cmp.Or(cmp.Compare(rank[0], fewest[0]), cmp.Compare(rank[1], fewest[1])) < 0 {
			best, fewest = to, rank
		}
	}
	if best == nil {
		return false
	}
	k.hold(s, false)
	*s = *best
	k.hold(s, true)
	return true
}

// instead returns a slice with another rack at a place of its ring, and how many circuits change their plane; nil where
// that rack cannot have them all.
func (k *Racks) instead(s *Slice, i int, rack int32) (*Slice, int) {
	q := k.Clone()
	q.hold(s, false)
	q.away, q.dark = slices.Clone(k.away), slices.Clone(k.dark)
	for _, r := range s.Ring { // another one that is away is swapped in its turn, and its ports with it
		if q.away[r] {
			q.away[r], q.dark[r] = false, 0
		}
	}
	to := *s
	to.Ring, to.Planes = slices.Clone(s.Ring), make([][]int32, len(s.Planes))
	to.Ring[i] = rack
	ends := map[[2]int]bool{} // circuits of the place, by lane and where they begin
	for lane := range s.Planes {
		to.Planes[lane] = slices.Clone(s.Planes[lane])
		n := len(s.Ring)
		ends[[2]int{lane, i}], ends[[2]int{lane, (i + n - lane - 1) % n}] = true, true
	}
	for lane := range to.Planes {
		for j := range to.Ring {
			if !ends[[2]int{lane, j}] {
				q.take(to.circuit(lane, j), true)
			}
		}
	}
	moved := 0
	for lane := range to.Planes {
		for j := range to.Ring {
			if !ends[[2]int{lane, j}] {
				continue
			}
			c := to.circuit(lane, j)
			if !q.can(c) {
				may := q.between(c.From, c.To)
				if may == 0 {
					return nil, 0
				}
				moved++
				c.Plane = int32(bits.TrailingZeros32(may))
				to.Planes[lane][j] = c.Plane
			}
			q.take(c, true)
		}
	}
	return &to, moved
}

// replane leads a circuit over another plane, and reports whether there is one.
func (k *Racks) replane(s *Slice, lane, i int) bool {
	c := s.circuit(lane, i)
	k.take(c, false)
	may := k.between(c.From, c.To)
	if may == 0 {
		k.take(c, true)
		return false
	}
	c.Plane = int32(bits.TrailingZeros32(may))
	s.Planes[lane][i] = c.Plane
	k.take(c, true)
	return true
}

// ExplainRacks says what would have to end, or come back, for a slice that waits.
func ExplainRacks(k *Racks, rule RackRule, all []Slice, s *Slice) string {
	var there []Slice
	for i := range all {
		switch t := &all[i]; {
		case t.Name == s.Name:
		case t.Holds():
			there = append(there, *t)
		case t.State == Pending && s.State == Pending && slices.ContainsFunc(t.named(), func(r int32) bool {
			return len(t.named()) > 1 && slices.Contains(s.named(), r)
		}) && before(all, t.Name, s.Name):
			return fmt.Sprintf("it waits for ports that slice %s waits for", t.Name)
		}
	}
	slices.SortFunc(there, func(a, b Slice) int {
		return cmp.Or(cmp.Compare(len(a.Ring), len(b.Ring)), cmp.Compare(a.Name, b.Name))
	})
	full := k.occupied(there)
	needs, ok := mustEnd(there, func(t Slice) string { return t.Name }, func(gone ...Slice) bool {
		q := full.Clone()
		for i := range gone {
			q.hold(&gone[i], false)
		}
		_, _, ok := q.room(rule, s)
		return ok
	})
	switch {
	case !ok:
		return "it does not fit while racks, ports or optical switches are away, whatever ends"
	case len(needs.End) == 0:
		return "there is room"
	}
	return "it fits once these have ended: " + strings.Join(needs.End, ", ")
}

// before reports whether one slice comes before another.
func before(all []Slice, one, other string) bool {
	at := func(name string) int { return slices.IndexFunc(all, func(s Slice) bool { return s.Name == name }) }
	return at(one) < at(other)
}
