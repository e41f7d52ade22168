package torus

import (
	"cmp"
	"math/bits"
	"slices"
)

// BestFit places a slice where it costs the pod least. It tries the shape and its folds in all orders of sides, and
// the pieces of each at all offsets at which their faces meet. It takes the place that breaks into the fewest free
// cubes; of these the one that leaves the fewest free nodes in the cubes it takes a part of; of these the one whose
// pieces touch most of what is taken, and the walls, so that what is left stays in one piece.
//
// Unlike Reconfigure it keeps no order of cubes, so that free cubes stay whole for slices that need them.
func BestFit(p *Pod, s Shape) *Placement {
	if s.Nodes() > p.FreeNodes() {
		return nil
	}
	boxes := [][3]int{s.Sides}
	for _, f := range folds(s.Sides) {
		boxes = append(boxes, f.box)
	}
	f := fitter{pod: p, faces: faces(p.side), free: make([]uint64, p.Cubes()), used: make([]bool, p.Cubes())}
	for c := range f.free {
		if f.free[c] = p.Free(c); f.free[c] == p.whole {
			f.whole++
		}
	}
	for _, sides := range boxes {
		for _, box := range permutations(sides) {
			f.try(s, box)
			if sides[0]%p.side+sides[1]%p.side+sides[2]%p.side == 0 {
				break // in whole cubes all orders of sides cost the same
			}
		}
	}
	return f.best
}

// fitter keeps the best place that it has tried.
type fitter struct {
	pod   *Pod
	faces [3]face
	free  []uint64 // nodes by cube
	whole int      // cubes that are free as a whole
	used  []bool
	best  *Placement
	cost  [3]int // of best: free cubes broken into, free nodes left in cubes used in part, contact below zero
}

// try tries a box at all offsets.
func (f *fitter) try(s Shape, box [3]int) {
	kinds := kindsOf(box, f.pod.side)
	if full := kinds[0]; full.rest == [3]bool{} && full.count > f.whole {
		return
	}
	f.each(box, func(rest [3]int) {
		found := make([][]Piece, len(kinds))
		var cost [3]int
		clear(f.used)
		for i, k := range kinds {
			var at [3]int
			for d := range at {
				if k.rest[d] {
					at[d] = rest[d]
				}
			}
			if found[i] = f.tightest(k, at, &cost); found[i] == nil {
				return
			}
		}
		if f.best == nil || slices.Compare(cost[:], f.cost[:]) < 0 {
			f.best, f.cost = f.pod.arrange(s, box, kinds, found), cost
		}
	})
}

// each calls do with every offset of the remainders of a box: at either end of their cubes where full cubes are beside
// them, and anywhere else.
func (f *fitter) each(box [3]int, do func(rest [3]int)) {
	var choices [3][]int
	cube := f.pod.side
	for d, side := range box {
		most := (cube - side%cube) % cube
		for at := range most + 1 {
			if side < cube || at == 0 || at == most {
				choices[d] = append(choices[d], at)
			}
		}
	}
	for _, x := range choices[0] {
		for _, y := range choices[1] {
			for _, z := range choices[2] {
				do([3]int{x, y, z})
			}
		}
	}
}

// tightest returns pieces of a kind in the cubes with the fewest free nodes, of these where they touch most, and adds
// what they cost.
func (f *fitter) tightest(k kind, at [3]int, cost *[3]int) []Piece {
	m := mask(at, k.size)
	if k.count == 1 {
		if r, ok := f.best1(m); ok {
			return []Piece{f.use(r, k, at, cost)}
		}
		return nil
	}
	rooms := f.rooms(m)
	if len(rooms) < k.count {
		return nil
	}
	slices.SortFunc(rooms, compareRooms)
	out := make([]Piece, k.count)
	for i, r := range rooms[:k.count] {
		out[i] = f.use(r, k, at, cost)
	}
	return out
}

// room is a cube that has room for a piece: its free nodes besides, and how much the piece touches there.
type room struct{ cube, left, touch int }

func compareRooms(a, b room) int {
	return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(b.touch, a.touch), cmp.Compare(a.cube, b.cube))
}

// room returns what a piece finds in a cube.
func (f *fitter) room(c int, m uint64) (room, bool) {
	if f.used[c] || f.free[c]&m != m {
		return room{}, false
	}
	return room{c, bits.OnesCount64(f.free[c] &^ m), contact(f.faces, m, f.free[c])}, true
}

func (f *fitter) rooms(m uint64) (out []room) {
	for c := range f.free {
		if r, ok := f.room(c, m); ok {
			out = append(out, r)
		}
	}
	return out
}

// best1 returns the best room of one piece.
func (f *fitter) best1(m uint64) (best room, found bool) {
	for c := range f.free {
		if found && f.free[c] == f.pod.whole {
			continue // no better than the one that was found
		}
		if r, ok := f.room(c, m); ok && (!found || compareRooms(r, best) < 0) {
			best, found = r, true
		}
	}
	return best, found
}

// use puts a piece into a room, and adds its cost.
func (f *fitter) use(r room, k kind, at [3]int, cost *[3]int) Piece {
	f.used[r.cube] = true
	if f.free[r.cube] == f.pod.whole {
		cost[0]++
	}
	cost[1] += r.left
	cost[2] -= r.touch
	return Piece{Cube: r.cube, At: at, Size: k.size}
}

// face is the nodes of a cube's lower and upper faces, and how far apart neighbours are in a word.
type face struct {
	floor, top uint64
	step       int
}

// faces returns the faces of a cube by dimension.
func faces(side int) (out [3]face) {
	for d, step := range [3]int{16, 4, 1} {
		size := [3]int{side, side, side}
		size[d] = 1
		floor := mask([3]int{}, size)
		out[d] = face{floor, floor << (step * (side - 1)), step}
	}
	return out
}

// contact counts the sides of a piece's nodes beyond which nothing is free: taken nodes and the walls of the cube.
func contact(faces [3]face, m, free uint64) int {
	n := 0
	for _, f := range faces {
		up, down := (m&^f.top)<<f.step, (m&^f.floor)>>f.step
		n += bits.OnesCount64(m&f.top) + bits.OnesCount64(m&f.floor) + bits.OnesCount64(up&^m&^free) +
			bits.OnesCount64(down&^m&^free)
	}
	return n
}
