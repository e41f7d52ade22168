package torus

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// LargestSide is that of a cube whose nodes fill a word: node x, y, z of a cube is bit 16x+4y+z, whatever its side.
const LargestSide = 4

// mostCubes is how many cubes a side of a pod can have: rows of 64 nodes fit a word.
const mostCubes = 16

// Pod is cubes, of which nodes are free or taken. Cubes are numbered x-major: cube (x, y, z) of a pod of 4×4×4 cubes
// has the number 16x+4y+z.
type Pod struct {
	dims  [3]int
	side  int    // of a cube, in nodes
	whole uint64 // all nodes of a cube
	taken []uint64
	away  []bool
}

// New returns a pod of so many cubes a side, all of them free. Side is that of a cube, 2 or 4 nodes.
func New(side, x, y, z int) (*Pod, error) {
	if err := CheckSide(side); err != nil {
		return nil, fmt.Errorf("make pod: %w", err)
	}
	for _, n := range []int{x, y, z} {
		if n < 1 || n > mostCubes {
			return nil, fmt.Errorf("make pod of %d×%d×%d cubes: a side has 1 to %d cubes, such as 4×4×4", x, y, z, mostCubes)
		}
	}
	n := x * y * z
	return &Pod{dims: [3]int{x, y, z}, side: side, whole: mask([3]int{}, [3]int{side, side, side}),
		taken: make([]uint64, n), away: make([]bool, n)}, nil
}

// Joined returns a pod of so many cubes, all of them free, which optical switches alone join: no place in it needs
// cubes that lie side by side, so FirstFit finds none.
func Joined(side, cubes int) (*Pod, error) {
	if err := CheckSide(side); err != nil {
		return nil, fmt.Errorf("make pod: %w", err)
	}
	return &Pod{side: side, whole: mask([3]int{}, [3]int{side, side, side}), taken: make([]uint64, cubes),
		away: make([]bool, cubes)}, nil
}

// CheckSide returns an error unless cubes can have that side. Folds end in rings of four nodes, which are whole cubes
// of these sides alone.
func CheckSide(side int) error {
	if side != 2 && side != LargestSide {
		return fmt.Errorf("a cube's side is %d nodes: take 2 or %d", side, LargestSide)
	}
	return nil
}

// Clone returns a copy.
func (p *Pod) Clone() *Pod {
	return &Pod{dims: p.dims, side: p.side, whole: p.whole, taken: slices.Clone(p.taken), away: slices.Clone(p.away)}
}

// Cubes returns the number of cubes, those that are away too.
func (p *Pod) Cubes() int { return len(p.taken) }

// Nodes returns the number of nodes.
func (p *Pod) Nodes() int { return len(p.taken) * bits.OnesCount64(p.whole) }

// Free returns the free nodes of a cube; none while it is away.
func (p *Pod) Free(cube int) uint64 {
	if p.away[cube] {
		return 0
	}
	return p.whole &^ p.taken[cube]
}

// FreeNodes returns the number of free nodes.
func (p *Pod) FreeNodes() int {
	n := 0
	for c := range p.taken {
		n += bits.OnesCount64(p.Free(c))
	}
	return n
}

// SetAway says that a cube has failed, or is back.
func (p *Pod) SetAway(cube int, away bool) { p.away[cube] = away }

// Away reports whether a cube has failed.
func (p *Pod) Away(cube int) bool { return p.away[cube] }

// Part is nodes of one cube.
type Part struct {
	Cube  int
	Nodes uint64
}

// Take makes parts taken. Nodes that are taken already are a broken promise of the caller's, and panic.
func (p *Pod) Take(parts []Part) {
	for _, q := range parts {
		if p.taken[q.Cube]&q.Nodes != 0 {
			panic(fmt.Sprintf("torus: cube %d has nodes %#x taken twice", q.Cube, p.taken[q.Cube]&q.Nodes))
		}
		p.taken[q.Cube] |= q.Nodes
	}
}

// Give makes parts free again.
func (p *Pod) Give(parts []Part) {
	for _, q := range parts {
		if p.taken[q.Cube]&q.Nodes != q.Nodes {
			panic(fmt.Sprintf("torus: cube %d gets nodes %#x back that are free", q.Cube, q.Nodes&^p.taken[q.Cube]))
		}
		p.taken[q.Cube] &^= q.Nodes
	}
}

// Check returns an error of type *ShapeError for a shape that this pod can never give, however it is wired.
func (p *Pod) Check(s Shape) error {
	if err := s.Check(p.side); err != nil {
		return p.nearer(s, err)
	}
	if p.holds(s.Sides) {
		return nil
	}
	near := p.largestWithin(s)
	return &ShapeError{Shape: s.String(), Nearest: near.String(),
		Why: fmt.Sprintf("it takes %d cubes, and the pod has %d", p.cubesOf(s.Sides), p.Cubes())}
}

// nearer has the error of a twisted torus that is none name what this pod can give.
func (p *Pod) nearer(s Shape, err error) error {
	var e *ShapeError
	if !errors.As(err, &e) || !s.Twisted || slices.Min(s.Sides[:]) < 1 || slices.Max(s.Sides[:]) > mostSide {
		return err
	}
	e.Nearest = p.largestWithin(Shape{Sides: s.Sides}).String() + " without a twist"
	if near, ok := s.nearestTwisted(p.side, func(t Shape) bool { return p.cubesOf(t.Sides) <= p.Cubes() }); ok {
		e.Nearest = near.String() + ", or " + e.Nearest
	}
	return e
}

// holds reports whether a box or one of its folds has cubes enough in the empty pod.
func (p *Pod) holds(sides [3]int) bool {
	if p.cubesOf(sides) <= p.Cubes() {
		return true
	}
	return slices.ContainsFunc(folds(sides), func(f fold) bool { return p.cubesOf(f.box) <= p.Cubes() })
}

// cubesOf returns how many cubes a box takes at least a part of, where it is re-wired.
func (p *Pod) cubesOf(sides [3]int) int {
	n := 1
	for _, side := range sides {
		n *= (side + p.side - 1) / p.side
	}
	return n
}

// largestWithin returns the largest shape that the pod can give and that is in no side longer; of several the first by
// sides. Sides of more than a cube are shortened by whole cubes.
func (p *Pod) largestWithin(s Shape) Shape {
	steps := func(side int) (out []int) {
		for n := side; n > p.side; n = (n - 1) / p.side * p.side {
			out = append(out, n)
		}
		return append(out, min(side, p.side))
	}
	best := Box(1, 1, 1)
	for _, x := range steps(s.Sides[0]) {
		for _, y := range steps(s.Sides[1]) {
			for _, z := range steps(s.Sides[2]) {
				t := Shape{Sides: [3]int{x, y, z}, Twisted: s.Twisted}
				t.Twisted = t.Twisted && t.twist(p.side) > 0
				if p.cubesOf(t.Sides) <= p.Cubes() && t.Nodes() > best.Nodes() {
					best = t
				}
			}
		}
	}
	return best
}

// mask returns the nodes of a box within a cube.
func mask(at, size [3]int) uint64 {
	var m uint64
	row := (uint64(1)<<size[2] - 1) << at[2]
	for x := at[0]; x < at[0]+size[0]; x++ {
		for y := at[1]; y < at[1]+size[1]; y++ {
			m |= row << (16*x + 4*y)
		}
	}
	return m
}
