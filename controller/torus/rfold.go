package torus

import (
	"math/bits"
	"slices"
)

// mostSteps bounds the search for a path in a cube. RFold's own search gives up after ten seconds.
const mostSteps = 1 << 16

// RFold places a slice as RFold does. A line takes the emptiest used cubes and a path in the last of them. Any other
// shape is folded so that it needs the fewest cubes, of several folds the first by sides, and placed as Reconfigure
// does; a fold that needs as many cubes as the shape itself is taken too.
func RFold(p *Pod, s Shape) *Placement {
	if s.Nodes() > p.FreeNodes() {
		return nil
	}
	if dimensions(s.Sides) == 1 {
		if out := p.line(s); out != nil {
			return out
		}
		return p.reconfigure(s, s.Sides)
	}
	sides, fewest := s.Sides, p.cubesOf(s.Sides)+1
	for _, f := range folds(s.Sides) {
		if n := p.cubesOf(f.box); n < fewest {
			sides, fewest = f.box, n
		}
	}
	return p.reconfigure(s, sides)
}

// line gives a line all free nodes of the emptiest used cubes, and in the last of these a path between two faces. Free
// cubes, the last first, are added where the used ones have too few nodes.
func (p *Pod) line(s Shape) *Placement {
	var used, empty []int
	sum, cube := 0, bits.OnesCount64(p.whole)
	for c := range p.taken {
		switch n := bits.OnesCount64(p.Free(c)); {
		case n <= 1:
		case n == cube:
			empty = append(empty, c)
		default:
			used = append(used, c)
			sum += n
		}
	}
	for ; sum < s.Nodes(); sum += cube {
		if len(empty) == 0 {
			return nil
		}
		used, empty = append(used, empty[len(empty)-1]), empty[:len(empty)-1]
	}
	slices.SortStableFunc(used, func(a, b int) int {
		return bits.OnesCount64(p.Free(b)) - bits.OnesCount64(p.Free(a))
	})

	out := &Placement{Shape: s, Box: s.Sides, Side: p.side}
	left := s.Nodes()
	for _, c := range used {
		free := p.Free(c)
		if n := bits.OnesCount64(free); n < left {
			out.Parts = append(out.Parts, Part{Cube: c, Nodes: free})
			left -= n
			continue
		}
		for axis := 2; axis >= 0; axis-- {
			if nodes := path(free, left, axis, p.side); nodes != 0 {
				out.Parts = append(out.Parts, Part{Cube: c, Nodes: nodes})
				return out
			}
		}
		return nil
	}
	return nil
}

// path returns the nodes of a path of n free nodes of a cube, at least two, whose sides are rings, from one node on
// the two faces of an axis to another; 0 where none is found.
func path(free uint64, n, axis, side int) uint64 {
	var faces uint64
	for _, high := range []int{0, side - 1} {
		at, size := [3]int{}, [3]int{side, side, side}
		at[axis], size[axis] = high, 1
		faces |= mask(at, size)
	}
	steps := mostSteps
	var walk func(from int, nodes uint64, left int) uint64
	walk = func(from int, nodes uint64, left int) uint64 {
		if left == 0 {
			return nodes
		}
		ends := free
		if left == 1 {
			ends &= faces
		}
		for next := neighbours(from, side) & ends &^ nodes; next != 0 && steps > 0; next &= next - 1 {
			steps--
			to := bits.TrailingZeros64(next)
			if found := walk(to, nodes|1<<to, left-1); found != 0 {
				return found
			}
		}
		return 0
	}
	if n < 2 {
		return 0
	}
	for from := free & faces; from != 0; from &= from - 1 {
		at := bits.TrailingZeros64(from)
		if found := walk(at, 1<<at, n-1); found != 0 {
			return found
		}
	}
	return 0
}

// neighbours returns the nodes next to one in a cube whose sides are rings.
func neighbours(node, side int) uint64 {
	var m uint64
	for shift := 0; shift < 6; shift += 2 {
		at := node >> shift & 3
		for _, to := range []int{(at + 1) % side, (at + side - 1) % side} {
			m |= 1 << (node&^(3<<shift) | to<<shift)
		}
	}
	return m
}
