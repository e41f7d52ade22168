package oncircuits

import (
	"slices"

	"lightloom/controller/topoeng"
)

// Order returns an order of the racks, from rack 0 on, in which a ring of ranks follows circuits that stand, for
// libraries that know rings alone; false where none is found. The circuits of one switch are rings; two of them become
// one where circuits of other switches lead across both ways (Karp's patching). Every switch is tried as the first one.
func Order(t topoeng.Topology) ([]int32, bool) {
	joined := t.Counts()
	for _, out := range t.Out {
		if slices.Contains(out, -1) {
			continue
		}
		if next := slices.Clone(out); patch(next, joined) {
			ring := []int32{0}
			for at := next[0]; at != 0; at = next[at] {
				ring = append(ring, at)
			}
			return ring, true
		}
	}
	return nil, false
}

// patch joins rings until one is left, and reports whether that is so.
func patch(next []int32, joined topoeng.Counts) bool {
	for {
		ring, rings := ringOf(next)
		if rings == 1 {
			return true
		}
		if !patchOne(next, ring, joined) {
			return false
		}
	}
}

// ringOf returns which ring each rack is in, and how many there are.
func ringOf(next []int32) (ring []int, rings int) {
	ring = make([]int, len(next))
	for i := range next {
		if ring[i] > 0 {
			continue
		}
		rings++
		for at := int32(i); ring[at] == 0; at = next[at] {
			ring[at] = rings
		}
	}
	return ring, rings
}

func patchOne(next []int32, ring []int, joined topoeng.Counts) bool {
	for i := range next {
		for j := range i {
			if ring[i] != ring[j] && joined[i][next[j]] > 0 && joined[j][next[i]] > 0 {
				next[i], next[j] = next[j], next[i]
				return true
			}
		}
	}
	return false
}
