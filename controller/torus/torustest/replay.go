// Package torustest replays placements and circuits on the wires of a pod, without the code that made them, and tells
// whether the graph that comes out is the torus that was asked for.
package torustest

import (
	"fmt"

	"lightloom/controller/torus"
)

// edge joins two nodes, the smaller first: node x, y, z of cube c is 64c+16x+4y+z.
type edge [2]int

func join(a, b int) edge { return edge{min(a, b), max(a, b)} }

func number(cube int, at [3]int) int { return 64*cube + 16*at[0] + 4*at[1] + at[2] }

// steps are how far apart neighbours are by dimension.
func steps() [3]int { return [3]int{16, 4, 1} }

// Check returns an error unless the wires in the cubes of a slice and its circuits are the torus that it asked for, a
// twisted one where it is: all of its edges, and no others. A shape that is folded may have more.
func Check(p *torus.Placement, circuits []torus.Circuit) error {
	owned := map[int]bool{}
	for _, q := range p.Parts {
		for bit := range 64 {
			if q.Nodes>>bit&1 == 1 {
				owned[64*q.Cube+bit] = true
			}
		}
	}
	if len(owned) != p.Shape.Nodes() {
		return fmt.Errorf("%d nodes are taken for a shape of %d", len(owned), p.Shape.Nodes())
	}
	wired := wires(p.Side, owned)
	if err := light(p.Side, circuits, owned, wired); err != nil {
		return err
	}
	wanted, err := edges(p, owned)
	if err != nil {
		return err
	}
	for e := range wanted {
		if !wired[e] {
			return fmt.Errorf("nodes %v are neighbours in %s, and nothing joins them", e, p.Shape)
		}
	}
	if turned(p) && len(wired) != len(wanted) {
		return fmt.Errorf("%d edges, and %s has %d", len(wired), p.Shape, len(wanted))
	}
	return nil
}

// turned reports whether a box has the sides of its shape, in any order.
func turned(p *torus.Placement) bool {
	var count [2]map[int]int
	for i, sides := range [][3]int{p.Shape.Sides, p.Box} {
		count[i] = map[int]int{}
		for _, side := range sides {
			count[i][side]++
		}
	}
	for side, n := range count[0] {
		if count[1][side] != n {
			return false
		}
	}
	return true
}

// wires returns the edges within cubes.
func wires(side int, owned map[int]bool) map[edge]bool {
	out := map[edge]bool{}
	for node := range owned {
		for _, step := range steps() {
			if node/step%4 < side-1 && owned[node+step] {
				out[join(node, node+step)] = true
			}
		}
	}
	return out
}

// light adds the edges of circuits, which begin and end at nodes of the slice and use no fibre twice.
func light(side int, circuits []torus.Circuit, owned map[int]bool, out map[edge]bool) error {
	used := map[[2]int]bool{}
	for _, c := range circuits {
		d, place := c.Switch/(side*side), c.Switch%(side*side)
		if c.Switch < 0 || d > 2 {
			return fmt.Errorf("circuit %+v: there is no such switch", c)
		}
		rest := []int{place / side, place % side}
		upper, lower := [3]int{}, [3]int{}
		for e := range 3 {
			if e == d {
				upper[e], lower[e] = side-1, 0
				continue
			}
			upper[e], lower[e], rest = rest[0], rest[0], rest[1:]
		}
		from, to := number(c.Upper, upper), number(c.Lower, lower)
		if !owned[from] || !owned[to] {
			return fmt.Errorf("circuit %+v leads to a node of another slice", c)
		}
		up, low := c.Ports()
		for _, port := range []int{up, low} {
			if used[[2]int{c.Switch, port}] {
				return fmt.Errorf("circuit %+v: port %d of its switch has a circuit already", c, port)
			}
			used[[2]int{c.Switch, port}] = true
		}
		out[join(from, to)] = true
	}
	return nil
}

// edges returns the edges of the torus that a slice asks for, between the nodes that it says are where.
func edges(p *torus.Placement, owned map[int]bool) (map[edge]bool, error) {
	s := p.Shape
	at, seen := map[[3]int]int{}, map[int]bool{}
	for x := range s.Sides[0] {
		for y := range s.Sides[1] {
			for z := range s.Sides[2] {
				n, err := p.Node([3]int{x, y, z})
				if err != nil {
					return nil, err
				}
				k := number(n.Cube, n.At)
				if !owned[k] || seen[k] {
					return nil, fmt.Errorf("node %d,%d,%d is at %+v, which is another's", x, y, z, n)
				}
				at[[3]int{x, y, z}], seen[k] = k, true
			}
		}
	}
	out := map[edge]bool{}
	for node, k := range at {
		for d := range 3 {
			if to, ok := after(s, p.Side, node, d); ok {
				out[join(k, at[to])] = true
			}
		}
	}
	return out, nil
}

// after returns a node's upper neighbour in a dimension.
func after(s torus.Shape, side int, node [3]int, d int) ([3]int, bool) {
	node[d]++
	if node[d] < s.Sides[d] {
		return node, true
	}
	if s.Sides[d]%side != 0 {
		return node, false
	}
	node[d] = 0
	if short := min(s.Sides[0], s.Sides[1], s.Sides[2]); s.Twisted && s.Sides[d] == short {
		for e := range 3 {
			if s.Sides[e] != short {
				node[e] = (node[e] + short) % s.Sides[e]
			}
		}
	}
	return node, true
}
