package pathmap

import "math"

// walk gives the paths of one pair in the stated order, one a call: a depth-first search that may spend a fixed number
// of links more than the distance (slack), repeated with the next larger slack that can give anything new. Lengths come
// out in order because every path of a pass has the same length.
type walk struct {
	g      *graph
	dist   row
	order  order
	target int32
	source int32
	slack  int32 // of this pass
	next   int32 // the smallest slack of a branch that this pass cut off
	steps  int   // left of the budget
	stack  []frame
}

// frame is one node of the path being searched.
type frame struct {
	node          int32
	start, degree int32
	slack         int32 // left on arrival here
	via           int32 // entry taken from here
	idx, stride   uint32
	prime, left   uint32
	code          uint8
}

// budget is how many links one pair's walk may look at before Yen's algorithm takes over. Data-center pairs need tens
// to some thousands; blind alleys, as in long rings with trees on them, would need exponentially many.
const budget = 1 << 15

// inline is the length of paths up to which a walk allocates nothing.
const inline = 16

// begin sets the walk at the pair; stack is empty, with the caller's room.
func (w *walk) begin(stack []frame) {
	w.stack = stack
	w.slack, w.next, w.steps = 0, math.MaxInt32, budget
	if w.dist.code(w.source) != unreached {
		w.push(w.source, 0)
	}
}

// found says what a call of advance came to.
type found uint8

const (
	path  found = iota // stack holds the next path
	end                // there is no further path
	spent              // the budget is spent: nothing is known of further paths
)

// advance goes on to the next path.
func (w *walk) advance() found {
	for {
		for len(w.stack) > 0 {
			f := &w.stack[len(w.stack)-1]
			if f.left == 0 {
				w.stack = w.stack[:len(w.stack)-1]
				continue
			}
			if w.steps--; w.steps < 0 {
				return spent
			}
			if w.try(f) {
				return path
			}
		}
		if w.next == math.MaxInt32 {
			return end
		}
		w.slack, w.next = w.next, math.MaxInt32
		w.push(w.source, w.slack)
	}
}

// try looks at the next link of f and says whether it completes a path.
func (w *walk) try(f *frame) bool {
	i := f.idx
	f.left--
	if f.idx += f.stride; f.idx >= f.prime {
		f.idx -= f.prime
	}
	if i >= uint32(f.degree) {
		return false
	}
	entry := f.start + int32(i)
	to := w.g.to[entry]
	slack := f.slack - int32(detour[f.code<<2|w.dist.code(to)])
	switch {
	case to == w.target:
		f.via = entry
		return slack == 0 // else found by an earlier pass
	case slack < 0:
		if w.slack-slack < w.next && w.open(to) {
			w.next = w.slack - slack
		}
	case w.open(to):
		f.via = entry
		w.push(to, slack)
	}
	return false
}

// open says whether the path may go on to n: not a leaf, and not on the path.
func (w *walk) open(n int32) bool {
	if w.g.leaf[n] {
		return false
	}
	for i := range w.stack {
		if w.stack[i].node == n {
			return false
		}
	}
	return true
}

func (w *walk) push(n, slack int32) {
	degree := w.g.degree(n)
	p := w.g.prime[degree]
	first, stride := w.order.at(len(w.stack), p)
	w.stack = append(w.stack, frame{node: n, start: w.g.start[n], degree: degree, slack: slack,
		idx: first, stride: stride, prime: p, left: p, code: w.dist.code(n)})
}
