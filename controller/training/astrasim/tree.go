package astrasim

import "math/bits"

// tree is a double binary tree over the NPUs of one dimension: chunks use the tree whose root is the last NPU and the
// one whose root is the first in turn.
type tree struct {
	ranks []int32
	used  int
}

// knot is a rank's place in a tree: the ranks above and below, or -1.
type knot struct{ parent, left, right int32 }

// build returns the knots of the tree by place, with the root last or first. There is one rank for each knot of a
// full tree below a root with one child.
func (t *tree) build(rootFirst bool) map[int32]knot {
	knots := map[int32]knot{}
	rest := t.ranks
	if len(rest) == 0 {
		return knots
	}
	var root int32
	if rootFirst {
		root, rest = rest[0], rest[1:]
	} else {
		root, rest = rest[len(rest)-1], rest[:len(rest)-1]
	}
	top := subtree(rest, root, knots)
	k := knot{-1, top, -1}
	if rootFirst {
		k = knot{-1, -1, top}
	}
	knots[root] = k
	return knots
}

// subtree builds the tree of some ranks, in order, below a parent and returns its top.
func subtree(ranks []int32, parent int32, knots map[int32]knot) int32 {
	if len(ranks) == 0 {
		return -1
	}
	mid := len(ranks) / 2
	id := ranks[mid]
	knots[id] = knot{parent, subtree(ranks[:mid], id, knots), subtree(ranks[mid+1:], id, knots)}
	return id
}

// whole tells whether a tree of n knots is full.
func whole(n int) bool { return n >= 2 && bits.OnesCount(uint(n)) == 1 }

// reduce is an all-reduce along a tree: sums go up, and the result comes down, all bytes of the chunk at once.
type reduce struct {
	c    *chunk
	k    knot
	size int64

	came, dealt int // messages received, and those that the endpoint has dealt with
	state       reduceState
}

type reduceState uint8

const (
	sumsUp reduceState = iota
	waitsForResult
	resultDown
)

func (r *reduce) leaf() bool { return r.k.parent >= 0 && r.k.left < 0 && r.k.right < 0 }
func (r *reduce) root() bool { return r.k.parent < 0 }

func (r *reduce) start() {
	if r.leaf() {
		r.c.handle(r.size, false, false)
		return
	}
	for _, child := range []int32{r.k.left, r.k.right} {
		if child >= 0 {
			r.c.receive(child, r.size)
		}
	}
}

// received deals with what has come: only a leaf reduces nothing.
func (r *reduce) received() {
	r.came++
	r.c.handle(r.size, !r.leaf(), false)
}

func (r *reduce) processed() {
	r.dealt++
	switch {
	case r.state == sumsUp && !r.leaf() && !r.root() && r.dealt < 2:
	case r.state == sumsUp && !r.root():
		r.state = waitsForResult
		r.c.send(r.k.parent, r.size)
		r.c.receive(r.k.parent, r.size)
	default:
		for _, child := range []int32{r.k.left, r.k.right} {
			if child >= 0 {
				r.c.send(child, r.size)
			}
		}
		r.c.next()
	}
}
