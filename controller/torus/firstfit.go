package torus

import (
	"math/bits"
	"slices"
)

// FirstFit places a slice as a torus of fixed cables allows: for each order of the sides the first origin, x-major,
// of a free box, which may wrap.
func FirstFit(p *Pod, s Shape) *Placement {
	if s.Nodes() > p.FreeNodes() || p.dims == [3]int{} {
		return nil
	}
	rows := p.rows()
	for _, box := range permutations(s.Sides) {
		if at, ok := rows.first(box); ok {
			return p.fixed(s, box, at)
		}
	}
	return nil
}

// rows are the free nodes of a whole pod: bit z of the word at x·sides[1]+y.
type rows struct {
	sides [3]int // in nodes
	free  []uint64
}

func (p *Pod) rows() *rows {
	r := &rows{sides: [3]int{p.dims[0] * p.side, p.dims[1] * p.side, p.dims[2] * p.side}}
	r.free = make([]uint64, r.sides[0]*r.sides[1])
	for c := range p.taken {
		free := p.Free(c)
		cx, cy, cz := c/(p.dims[1]*p.dims[2]), c/p.dims[2]%p.dims[1], c%p.dims[2]
		for x := range p.side {
			for y := range p.side {
				nibble := free >> (16*x + 4*y) & (1<<p.side - 1)
				r.free[(cx*p.side+x)*r.sides[1]+cy*p.side+y] |= nibble << (cz * p.side)
			}
		}
	}
	return r
}

// first returns the first origin from which a box is free. Bits, rows and planes are thinned in turn to those from
// which the next length on is free, by doubling.
func (r *rows) first(box [3]int) (at [3]int, ok bool) {
	for d := range box {
		if box[d] > r.sides[d] {
			return at, false
		}
	}
	free := slices.Clone(r.free)
	next := make([]uint64, len(free))
	thin := func(length int, and func(dst, src []uint64, by int)) {
		for have := 1; have < length; {
			by := min(have, length-have)
			and(next, free, by)
			free, next = next, free
			have += by
		}
	}
	thin(box[2], func(dst, src []uint64, by int) {
		for i, w := range src {
			dst[i] = w & rotate(w, by, r.sides[2])
		}
	})
	if !slices.ContainsFunc(free, func(w uint64) bool { return w != 0 }) {
		return at, false
	}
	width := r.sides[1]
	thin(box[1], func(dst, src []uint64, by int) {
		for x := 0; x < len(src); x += width {
			andRotated(dst[x:x+width], src[x:x+width], by)
		}
	})
	thin(box[0], func(dst, src []uint64, by int) { andRotated(dst, src, by*width) })
	for i, w := range free {
		if w != 0 {
			return [3]int{i / r.sides[1], i % r.sides[1], bits.TrailingZeros64(w)}, true
		}
	}
	return at, false
}

// andRotated sets dst to what src and src from a place on, its beginning at the end, have in common.
func andRotated(dst, src []uint64, from int) {
	tail := src[from:]
	for i, w := range tail {
		dst[i] = src[i] & w
	}
	for i, w := range src[:from] {
		dst[len(tail)+i] = src[len(tail)+i] & w
	}
}

// rotate moves the lowest bits of a word down, those that fall out to the top.
func rotate(w uint64, by, length int) uint64 {
	w = w>>by | w<<(length-by)
	return w & (^uint64(0) >> (64 - length))
}

// fixed makes the placement of a box at an origin.
func (p *Pod) fixed(s Shape, box, at [3]int) *Placement {
	out := &Placement{Shape: s, Box: box, Side: p.side, Fixed: true}
	var cuts [3][][2]int // by dimension: origin in the pod and length
	for d := range cuts {
		side := p.dims[d] * p.side
		for from, left := at[d], box[d]; left > 0; {
			n := min(left, p.side-from%p.side)
			cuts[d] = append(cuts[d], [2]int{from, n})
			from, left = (from+n)%side, left-n
		}
		out.Grid[d] = len(cuts[d])
	}
	for _, x := range cuts[0] {
		for _, y := range cuts[1] {
			for _, z := range cuts[2] {
				out.Pieces = append(out.Pieces, Piece{
					Cube: (x[0]/p.side*p.dims[1]+y[0]/p.side)*p.dims[2] + z[0]/p.side,
					At:   [3]int{x[0] % p.side, y[0] % p.side, z[0] % p.side},
					Size: [3]int{x[1], y[1], z[1]},
				})
			}
		}
	}
	return out.inBox()
}
