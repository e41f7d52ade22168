package ksp

import "math/bits"

// sweepTargets is how many targets one sweep finds the distances to: a bit of a word for each.
const sweepTargets = 64

// fewTargets is from how many targets on a sweep is faster than to go from each by itself.
const fewTargets = 4

// deepest is how many levels a sweep goes. Each costs a look at all nodes, so that deeper graphs, such as long
// rings, are faster searched target by target.
const deepest = 32

// A sweep finds the distances to several targets at once, level by level: a node is at the next level
// from those targets that a neighbour has just been reached from. As the graph is symmetric, a node
// asks its neighbours, and stops where it has heard of all targets, mostly after a few.
type sweep struct {
	seen []uint64 // by node: targets that it is reached from
	last []uint64 // at the level before
	next []uint64 // at this level
}

func newSweep(nodes int) *sweep {
	return &sweep{make([]uint64, nodes), make([]uint64, nodes), make([]uint64, nodes)}
}

// fill computes the rows of targets, at most sweepTargets, as Row.Fill does by itself.
func (s *sweep) fill(g *Graph, targets []int32, rows []Row) {
	clear(s.seen)
	clear(s.last)
	for i, t := range targets {
		for at := range rows[i] {
			rows[i][at] = 0xff
		}
		rows[i].Set(t, 0)
		s.seen[t] |= 1 << i
		s.last[t] |= 1 << i
	}
	all := ^uint64(0) >> (sweepTargets - len(targets))
	for level := 1; s.step(g, all); level++ {
		if level > deepest {
			for i, t := range targets {
				rows[i].Fill(g, t, nil)
			}
			return
		}
		code := uint8(level % 3)
		for n, word := range s.last {
			for ; word != 0; word &= word - 1 {
				rows[bits.TrailingZeros64(word)].Set(int32(n), code)
			}
		}
	}
}

// step goes on by one level, and reports whether any node was reached from any of all targets.
func (s *sweep) step(g *Graph, all uint64) (any bool) {
	for n, seen := range s.seen {
		missing, found := all&^seen, uint64(0)
		if missing != 0 {
			for _, to := range g.To[g.Start[n]:g.Start[n+1]] {
				if found |= s.last[to]; found&missing == missing {
					break
				}
			}
		}
		s.next[n] = found & missing
	}
	s.last, s.next = s.next, s.last
	for n, word := range s.last {
		s.seen[n] |= word
		any = any || word != 0
	}
	return any
}
