package torus

// Reconfigure places a slice as re-wiring allows. For each order of the sides a side is full cubes and a remainder;
// the box so is full cubes, faces, edges and a corner. The pieces of one kind lie at one common offset in the first
// cubes that have room, each in a cube of its own. Offsets are the eight corners where a full cube is needed, and
// all else.
func Reconfigure(p *Pod, s Shape) *Placement {
	return p.reconfigure(s, s.Sides)
}

func (p *Pod) reconfigure(s Shape, sides [3]int) *Placement {
	if s.Nodes() > p.FreeNodes() {
		return nil
	}
	for _, box := range permutations(sides) {
		if out := p.pieces(s, box); out != nil {
			return out
		}
	}
	return nil
}

// kind is pieces of one size: which sides are the remainder's, and how many pieces there are.
type kind struct {
	rest  [3]bool
	size  [3]int
	count int
}

// kindsOf returns the kinds of a box, full cubes first, then faces, edges and the corner.
func kindsOf(box [3]int, cube int) []kind {
	var out []kind
	for _, rest := range [][3]bool{{}, {2: true}, {1: true}, {0: true}, {1: true, 2: true}, {0: true, 2: true},
		{0: true, 1: true}, {true, true, true}} {
		k := kind{rest: rest, count: 1}
		for d, side := range box {
			if k.size[d] = cube; rest[d] {
				k.size[d] = side % cube
				k.count *= min(k.size[d], 1)
			} else {
				k.count *= side / cube
			}
		}
		if k.count > 0 {
			out = append(out, k)
		}
	}
	return out
}

// pieces places the kinds of a box one after the other.
func (p *Pod) pieces(s Shape, box [3]int) *Placement {
	kinds := kindsOf(box, p.side)
	corners := kinds[0].rest == [3]bool{} // a full cube is needed
	used := make([]bool, p.Cubes())
	found := make([][]Piece, len(kinds))
	for i, k := range kinds {
		if found[i] = p.common(k, corners, used); found[i] == nil {
			return nil
		}
		for _, q := range found[i] {
			used[q.Cube] = true
		}
	}
	return p.arrange(s, box, kinds, found)
}

// common returns pieces of a kind at the first offset that enough cubes have room at.
func (p *Pod) common(k kind, corners bool, used []bool) []Piece {
	for _, at := range p.offsets(k.size, corners) {
		var out []Piece
		m := mask(at, k.size)
		for c := range p.taken {
			if !used[c] && p.Free(c)&m == m {
				if out = append(out, Piece{Cube: c, At: at, Size: k.size}); len(out) == k.count {
					return out
				}
			}
		}
	}
	return nil
}

// offsets returns where a piece can lie in a cube: in its corners, or anywhere, in order.
func (p *Pod) offsets(size [3]int, corners bool) [][3]int {
	var most [3]int
	for d := range size {
		most[d] = p.side - size[d]
	}
	var out [][3]int
	if corners {
		seen := map[[3]int]bool{}
		for _, high := range [][3]int{{}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}} {
			at := [3]int{high[0] * most[0], high[1] * most[1], high[2] * most[2]}
			if !seen[at] {
				seen[at] = true
				out = append(out, at)
			}
		}
		return out
	}
	for x := range most[0] + 1 {
		for y := range most[1] + 1 {
			for z := range most[2] + 1 {
				out = append(out, [3]int{x, y, z})
			}
		}
	}
	return out
}

// arrange puts the pieces of all kinds into the grid of a box. A remainder that lies at the upper end of its cubes
// comes before the full cubes, since its upper face meets their lower one, and after them otherwise.
func (p *Pod) arrange(s Shape, box [3]int, kinds []kind, found [][]Piece) *Placement {
	out := &Placement{Shape: s, Box: box, Side: p.side}
	var before [3]bool
	for i, k := range kinds {
		for d := range box {
			if k.rest[d] && box[d] > p.side && found[i][0].At[d] > 0 {
				before[d] = true
			}
		}
	}
	next := make([]int, len(kinds))
	for d, side := range box {
		out.Grid[d] = (side + p.side - 1) / p.side
	}
	for x := range out.Grid[0] {
		for y := range out.Grid[1] {
			for z := range out.Grid[2] {
				var rest [3]bool
				for d, n := range [3]int{x, y, z} {
					last := out.Grid[d] - 1
					if before[d] {
						last = 0
					}
					rest[d] = box[d]%p.side > 0 && n == last
				}
				i := indexOfKind(kinds, rest)
				out.Pieces = append(out.Pieces, found[i][next[i]])
				next[i]++
			}
		}
	}
	return out.inBox()
}

func indexOfKind(kinds []kind, rest [3]bool) int {
	for i, k := range kinds {
		if k.rest == rest {
			return i
		}
	}
	panic("torus: a box has a piece of no kind")
}
