package ksp

import (
	"math"
	"math/bits"
	"slices"
)

// Walk gives the paths of one pair in the stated order, one a call: a depth-first search that can spend
// a fixed number of links more than the distance (slack), repeated with the next larger slack that can
// give anything new. Lengths come out in order because every path of a pass has the same length.
type Walk struct {
	g      *Graph
	dist   Row
	order  Order
	target int32
	source int32
	slack  int32 // of this pass
	next   int32 // the smallest slack of a branch that this pass cut off
	Far    int32 // of the source, by the row; unknown until there is a path
	steps  int   // left to look at: budget + perPath × paths wanted
}

// frame is one node of the path being searched. A node of up to narrow links is looked at as a whole
// when the path comes there: ahead are the links that the slack allows. A wider one is looked at link
// by link.
type frame struct {
	node          int32
	start, degree int32
	slack         int32         // left on arrival here
	via           int32         // entry taken from here
	idx, stride   uint32        // next number to look at
	prime, left   uint32        // left is zero where degree is up to narrow
	ahead         [words]uint64 // by number, still to be taken
	code          uint8
}

// narrow is the number of links up to which a node's links are classified in words of 64 bits.
const (
	words  = 4
	narrow = 64 * words
)

// A pair's walk can look at budget links, and perPath more for each path wanted, before Yen's algorithm
// takes over. Data-center pairs need tens to some hundreds for ten paths; blind alleys, as in long
// rings with trees on them, would need exponentially many.
const (
	budget  = 1 << 12
	perPath = 1 << 8
)

// inline is the length of paths up to which a walk allocates nothing.
const inline = 16

// Stack is the path being searched, or found. It goes in and out of every call, so that a caller's room
// for it need not be on the heap.
type Stack []frame

// begin sets the walk at the pair; room is the memory to use.
func (w *Walk) begin(room Stack) Stack {
	w.slack, w.next, w.Far = 0, math.MaxInt32, unknown
	if w.dist.Code(w.source) == Unreached {
		return room
	}
	return w.push(room, w.source, 0)
}

// After sets the walk behind a path that ranks among the pair's paths, or did before links went down:
// what it gives from then on ranks after that one. w.Far may be known. inverse is Graph.Inverses.
func (w *Walk) After(room Stack, last []int32, inverse [][]uint32) Stack {
	if w.dist.Code(w.source) == Unreached {
		return w.begin(room)
	}
	if w.Far == unknown {
		w.Far = w.distance()
	}
	if w.slack = int32(len(last)) - w.Far; w.slack < 0 {
		return w.begin(room) // all that are left are longer
	}
	w.next = w.slack + w.g.least // none is between: if that pass gives nothing, it says where to go on
	st, n, slack := room, w.source, w.slack
	for depth, e := range last {
		st = w.push(st, n, slack)
		w.skip(&st[depth], depth, e, inverse)
		to := w.g.To[e]
		if slack -= int32(Detour(w.dist.Code(n), w.dist.Code(to))); slack < 0 || to == n || to == w.target {
			break
		}
		n = to
	}
	return st
}

// distance is how far the source is by the row.
func (w *Walk) distance() int32 {
	d := int32(0)
	for n := w.source; n != w.target; d++ {
		code := w.dist.Code(n)
		for _, to := range w.g.To[w.g.Start[n]:w.g.Start[n+1]] {
			if Detour(code, w.dist.Code(to)) == 0 {
				n = to
				break
			}
		}
	}
	return d
}

// skip has a frame go on after an entry, as if that had just been taken.
func (w *Walk) skip(f *frame, depth int, e int32, inverse [][]uint32) {
	f.via = e
	number := e - f.start
	if f.prime == 0 && f.ahead[number>>6&(words-1)]>>(number&63)&1 == 1 { // it was the only one
		f.ahead = [words]uint64{}
		return
	}
	p := w.g.Prime[f.degree]
	first, stride := w.order.At(depth, p)
	inv := inverse[f.degree][stride]
	rank := RankOf(number, first, inv, p)
	if f.degree > narrow {
		f.left = p - 1 - rank
		if f.idx = uint32(number) + stride; f.idx >= p {
			f.idx -= p
		}
		return
	}
	for k := range f.ahead {
		for left := f.ahead[k]; left != 0; left &= left - 1 {
			i := bits.TrailingZeros64(left)
			if RankOf(int32(64*k+i), first, inv, p) <= rank {
				f.ahead[k] &^= 1 << i
			}
		}
	}
	if f.prime > 0 {
		f.idx = uint32(number)
	}
}

// unknown is a distance that no path has given yet.
const unknown = math.MinInt32 / 2

// found is the result of a call of advance.
type found uint8

const (
	path  found = iota // the stack holds the next path
	end                // there is no further path
	spent              // the budget is spent: nothing is known of further paths
)

// advance goes on to the next path.
func (w *Walk) advance(st Stack) (Stack, found) {
	for {
		for len(st) > 0 {
			f := &st[len(st)-1]
			to, slack := int32(none), int32(0)
			switch {
			case f.ahead[0]|f.ahead[1]|f.ahead[2]|f.ahead[3] != 0:
				to = f.take(w.g)
				slack = f.slack - int32(Detour(f.code, w.dist.Code(to)))
			case f.left > 0:
				w.steps--
				to, slack = w.nextLink(f)
			default:
				st = st[:len(st)-1]
				continue
			}
			if w.steps < 0 {
				return st, spent
			}
			switch {
			case to < 0:
			case to == w.target:
				if slack == 0 { // else found by an earlier pass
					if w.Far == unknown {
						w.Far = int32(len(st)) - w.slack
					}
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

// take returns the node that the next of the links ahead leads to.
func (f *frame) take(g *Graph) int32 {
	i := f.idx
	if f.prime == 0 { // there is one alone
		f.ahead = [words]uint64{}
	} else {
		for f.ahead[i>>6&(words-1)]>>(i&63)&1 == 0 || i >= narrow {
			if i += f.stride; i >= f.prime {
				i -= f.prime
			}
		}
		f.ahead[i>>6&(words-1)] &^= 1 << (i & 63)
		f.idx = i
	}
	f.via = f.start + int32(i)
	return g.To[f.via]
}

// nextLink returns the node that the next link of f leads to and the slack left there; none for a number
// without a link.
func (w *Walk) nextLink(f *frame) (to, slack int32) {
	i := f.idx
	f.left--
	if f.idx += f.stride; f.idx >= f.prime {
		f.idx -= f.prime
	}
	if i >= uint32(f.degree) {
		return none, 0
	}
	f.via = f.start + int32(i)
	to = w.g.To[f.via]
	return to, f.slack - int32(Detour(f.code, w.dist.Code(to)))
}

// open reports whether the path can go on to n: not a leaf, and not on the path.
func (w *Walk) open(st Stack, n int32) bool {
	if w.g.Leaf[n] {
		return false
	}
	for i := range st {
		if st[i].node == n {
			return false
		}
	}
	return true
}

func (w *Walk) push(st Stack, n, slack int32) Stack {
	degree := w.g.Degree(n)
	depth := len(st)
	st = st.grown()
	f := &st[depth]
	f.node, f.start, f.degree, f.slack, f.code = n, w.g.Start[n], degree, slack, w.dist.Code(n)
	f.prime, f.left, f.ahead = w.g.Prime[degree], 0, [words]uint64{}
	if degree > narrow {
		f.idx, f.stride = w.order.At(depth, f.prime)
		f.left = f.prime
		return st
	}
	w.steps -= int(degree)
	w.survey(st, f)
	switch links, alone := f.surveyed(); links {
	case 0:
	case 1:
		f.prime, f.idx = 0, alone
	default:
		f.idx, f.stride = w.order.At(depth, f.prime)
	}
	return st
}

// surveyed returns how many links are ahead of a frame of up to narrow, and which one if it is alone.
func (f *frame) surveyed() (links int, alone uint32) {
	for k := range uint32(f.degree+63) / 64 {
		if word := f.ahead[k&(words-1)]; word != 0 {
			links += bits.OnesCount64(word)
			alone = 64*k + uint32(bits.TrailingZeros64(word))
		}
	}
	return links, alone
}

// survey classifies the links of the last frame: those that its slack allows are ahead; of the others,
// it records the least slack that would allow one.
func (w *Walk) survey(st Stack, f *frame) {
	all := w.g.To[f.start : f.start+f.degree]
	if f.slack == 0 && w.next-w.slack <= w.g.least {
		w.nearer(all, f, len(st)-1)
		return
	}
	for k := 0; 64*k < len(all); k++ {
		some := all[64*k : min(64*k+64, len(all))]
		near, same := w.dist.compare(some, f.code)
		far := ^(near | same) & (1<<len(some) - 1)
		f.ahead[k] = near
		if f.slack >= 1 {
			f.ahead[k] |= same
		} else {
			w.note(st, some, same, 1)
		}
		if f.slack >= 2 {
			f.ahead[k] |= far
		} else {
			w.note(st, some, far, 2-f.slack)
		}
	}
}

// nearer is survey where no slack is left, and the others can tell nothing new.
func (w *Walk) nearer(all []int32, f *frame, depth int) {
	if w.Far+w.slack-int32(depth) == 1 && !w.g.multi { // the target is next
		i := slices.Index(all, w.target)
		f.ahead[i>>6] = 1 << (i & 63)
		return
	}
	code := (f.code + 2) % 3
	for k := 0; 64*k < len(all); k++ {
		f.ahead[k] = w.dist.among(all[64*k:min(64*k+64, len(all))], code)
	}
}

// note records the slack that links lack which a path could take.
func (w *Walk) note(st Stack, to []int32, links uint64, lack int32) {
	if w.slack+lack >= w.next {
		return
	}
	for ; links != 0; links &= links - 1 {
		if w.open(st, to[bits.TrailingZeros64(links)]) {
			w.next = w.slack + lack
			return
		}
	}
}

// grown returns st with one more frame, of whatever was there: to clear it would cost as much as all
// else in a push.
func (st Stack) grown() Stack {
	if n := len(st); n < cap(st) {
		return st[:n+1]
	}
	return append(st, frame{})
}
