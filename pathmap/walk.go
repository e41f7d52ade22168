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
	steps  int   // left to look at: budget + perPath × paths wanted
}

// frame is one node of the path being searched.
type frame struct {
	node          int32
	start, degree int32
	slack         int32  // left on arrival here
	via           int32  // entry taken from here
	idx, stride   uint32 // next number to look at
	prime, left   uint32
	code          uint8
}

// A pair's walk may look at budget links, and perPath more for each path wanted, before Yen's algorithm takes over.
// Data-center pairs need tens to some hundreds for ten paths; blind alleys, as in long rings with trees on them, would
// need exponentially many.
const (
	budget  = 1 << 12
	perPath = 1 << 8
)

// inline is the length of paths up to which a walk allocates nothing.
const inline = 16

// stack is the path being searched, or found. It goes in and out of every call, so that a caller's room for it need not
// be on the heap.
type stack []frame

// begin sets the walk at the pair; room is the memory to use.
func (w *walk) begin(room stack) stack {
	w.slack, w.next = 0, math.MaxInt32
	if w.dist.code(w.source) == unreached {
		return room
	}
	return w.push(room, w.source, 0)
}

// found says what a call of advance came to.
type found uint8

const (
	path  found = iota // the stack holds the next path
	end                // there is no further path
	spent              // the budget is spent: nothing is known of further paths
)

// advance goes on to the next path.
func (w *walk) advance(st stack) (stack, found) {
	for {
		for len(st) > 0 {
			f := &st[len(st)-1]
			if f.left == 0 {
				st = st[:len(st)-1]
				continue
			}
			if w.steps--; w.steps < 0 {
				return st, spent
			}
			to, slack := w.look(f)
			switch {
			case to < 0:
			case to == w.target:
				if slack == 0 { // else found by an earlier pass
					return st, path
				}
			case slack < 0:
				if w.slack-slack < w.next && w.open(st, to) {
					w.next = w.slack - slack
				}
			case w.open(st, to):
				st = w.push(st, to, slack)
			}
		}
		if w.next == math.MaxInt32 {
			return st, end
		}
		w.slack, w.next = w.next, math.MaxInt32
		st = w.push(st, w.source, w.slack)
	}
}

// look returns the node that the next link of f leads to and the slack left there; None for a number without a link.
func (w *walk) look(f *frame) (to, slack int32) {
	i := f.idx
	f.left--
	if f.idx += f.stride; f.idx >= f.prime {
		f.idx -= f.prime
	}
	if i >= uint32(f.degree) {
		return None, 0
	}
	f.via = f.start + int32(i)
	to = w.g.to[f.via]
	return to, f.slack - int32(detour[f.code<<2|w.dist.code(to)])
}

// open says whether the path may go on to n: not a leaf, and not on the path.
func (w *walk) open(st stack, n int32) bool {
	if w.g.leaf[n] {
		return false
	}
	for i := range st {
		if st[i].node == n {
			return false
		}
	}
	return true
}

func (w *walk) push(st stack, n, slack int32) stack {
	degree := w.g.degree(n)
	p := w.g.prime[degree]
	first, stride := w.order.at(len(st), p)
	depth := len(st)
	st = st.grown()
	f := &st[depth]
	f.node, f.start, f.degree, f.slack, f.code = n, w.g.start[n], degree, slack, w.dist.code(n)
	f.idx, f.stride, f.prime, f.left = first, stride, p, p
	return st
}

// grown returns st with one more frame, of whatever was there: to clear it would cost as much as all else in a push.
func (st stack) grown() stack {
	if n := len(st); n < cap(st) {
		return st[:n+1]
	}
	return append(st, frame{})
}
