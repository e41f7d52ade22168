package torus

import "slices"

// fold is a box that has the nodes of another one in an order that keeps its neighbours neighbours: a sheet is folded
// once or twice, or two layers become a ring of four as another side halves.
type fold struct {
	box [3]int
	// at returns where a node of the shape lies in the box.
	at func(node [3]int) [3]int
}

// ring4 is the order in which a ring of four passes two bits: 00, 10, 11, 01.
func ring4(first, second int) int { return second*3 ^ first }

// crease folds a side in half: the place in the half, and which of its two leaves.
func crease(n, side int) (at, leaf int) {
	if n < side/2 {
		return n, 0
	}
	return side - 1 - n, 1
}

// folds returns the folds of a shape's sides, their boxes with ascending sides, the same box once, in the order of
// sides. Boxes with fewer dimensions than the shape are none.
func folds(sides [3]int) []fold {
	var out []fold
	switch dimensions(sides) {
	case 2:
		out = sheets(sides)
	case 3:
		out = layers(sides)
	}
	for i, f := range out {
		out[i] = f.ascending()
	}
	slices.SortStableFunc(out, func(a, b fold) int { return compareSides(a.box, b.box) })
	return slices.CompactFunc(out, func(a, b fold) bool { return a.box == b.box })
}

// dimensions counts the sides that are longer than one node.
func dimensions(sides [3]int) int {
	n := 0
	for _, side := range sides {
		if side != 1 {
			n++
		}
	}
	return n
}

// sheets folds A×B to {A/2, B, 2}, {A, B/2, 2}, {A/4, B, 4}, {A/2, B/2, 4} and {A, B/4, 4}, where these are whole
// and no side is 1.
func sheets(sides [3]int) []fold {
	flat := slices.Index(sides[:], 1)
	i, j := (flat+1)%3, (flat+2)%3
	var out []fold
	add := func(f fold) {
		if dimensions(f.box) == 3 {
			out = append(out, f)
		}
	}
	for _, u := range []int{i, j} {
		v := i + j - u
		a, b := sides[u], sides[v]
		if a%2 == 0 {
			add(fold{[3]int{a / 2, b, 2}, func(n [3]int) [3]int {
				x, leaf := crease(n[u], a)
				return [3]int{x, n[v], leaf}
			}})
		}
		if a%4 == 0 {
			add(fold{[3]int{a / 4, b, 4}, func(n [3]int) [3]int {
				x, leaf := n[u]%(a/4), n[u]/(a/4)
				if leaf%2 == 1 {
					x = a/4 - 1 - x
				}
				return [3]int{x, n[v], leaf}
			}})
		}
	}
	if a, b := sides[i], sides[j]; a%2 == 0 && b%2 == 0 {
		add(fold{[3]int{a / 2, b / 2, 4}, func(n [3]int) [3]int {
			x, first := crease(n[i], a)
			y, second := crease(n[j], b)
			return [3]int{x, y, ring4(first, second)}
		}})
	}
	return out
}

// layers folds a shape with a side of 2: that side becomes 4, and another one halves.
func layers(sides [3]int) []fold {
	var out []fold
	for two, side := range sides {
		if side != 2 {
			continue
		}
		for half, long := range sides {
			if half == two || long%2 != 0 {
				continue
			}
			box := sides
			box[two], box[half] = 4, long/2
			if dimensions(box) == 3 {
				out = append(out, fold{box, func(n [3]int) [3]int {
					at, leaf := crease(n[half], long)
					n[two], n[half] = ring4(n[two], leaf), at
					return n
				}})
			}
		}
	}
	return out
}

// ascending turns a fold so that its sides ascend.
func (f fold) ascending() fold {
	order := []int{0, 1, 2}
	slices.SortStableFunc(order, func(a, b int) int { return f.box[a] - f.box[b] })
	turn := func(v [3]int) [3]int { return [3]int{v[order[0]], v[order[1]], v[order[2]]} }
	return fold{turn(f.box), func(n [3]int) [3]int { return turn(f.at(n)) }}
}
