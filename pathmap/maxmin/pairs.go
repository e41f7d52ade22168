package maxmin

import (
	"math"
	"math/bits"
	"slices"

	"lightloom/pathmap"
)

// pairs is Levels where each class has one link or two, and there are not too many links: then flows
// are counted in a table of all pairs of links, and a solution walks over bit sets of links instead of
// lists of classes. It follows a change from link to link, as Levels does; where that reaches much, it
// lets the water rise over the links that the change can reach at all.
//
// Levels are whole numbers of a small part of a bit a second, rounded down. So nothing is lost in sums,
// the order in which they are made does not matter, no link is ever above its capacity, and levels are
// a function of the flows and nothing else: an instance after many changes has the same levels as a new
// one.
type pairs struct {
	n, words int
	shift    uint // levels are bits a second times 1<<shift
	links    []pairLink
	flows    []int32  // by link and link: of the classes on both; of those on one link only, by it and itself
	first    []int32  // by link and link, the smaller first: a class of the pair, and one
	peers    []uint64 // by link, a set: links that it has flows with
	own      []uint64 // likewise: those flows with which it holds back
	classes  []pairClass
	given    []float64 // by link, bits a second, if Follow is used; nil: it is not

	pending []int32
	keep    int64    // levels below it do not change
	low     []uint64 // the set of links with such levels
	open    []uint64 // the set of links that have been reached and are not full
	reached []uint64
	queue   []int32 // what is in reached
	heap    heap[int64]
	changed []pathmap.LinkID
	work    *int64

	live      int64 // pairs with flows
	following bool  // the solution follows the change, as long as that is less work
	patience  patience
	felt      [][2]int32 // pairs that may have another bottleneck, or a new class, since the solution began to follow
	mine      []uint64   // the set of links that fit leaves to the link
}

// pairLink is what a solution knows of a link.
type pairLink struct {
	left  int64 // capacity that flows with another bottleneck do not use; as the water rises, that settled ones do not
	open  int64 // flows of which it is the bottleneck; as the water rises, that are not settled
	level int64 // unheld where the link is no bottleneck
	was   int64
	cap   int64
	total int64 // flows
	most  int64 // where it holds back flows: none with another bottleneck has a higher rate; -1: there is none

	inHeap bool // it is to be reviewed
	refit  bool // and fitted anew: a pair is new, or what others have may be more than 64 bits hold
}

// pairClass is where a class sits. Both links are the same where it has one.
type pairClass struct {
	a, b  int32
	flows int32
	neck  int32 // none where it has no rate yet
	next  int32 // the next class of its pair, and one

	askedA, askedB int32 // what it is to be once it is brought up to date
	want           int32
	pending        bool
}

const (
	unheld = math.MaxInt64

	maxPairLinks = 1024    // tables are of 4 MB then
	maxPairRange = 1 << 12 // between the least capacity and the largest, so that levels are fine enough for all
	capacityBits = 61      // of the largest capacity in units of levels
)

// newPairs returns nil where links are too many or too unlike for it, or a capacity is not a whole number.
func newPairs(capacity []float64) *pairs {
	n := len(capacity)
	if n == 0 || n > maxPairLinks {
		return nil
	}
	least, most := slices.Min(capacity), slices.Max(capacity)
	if !(least >= 1) || most > 1<<50 || most/least > maxPairRange {
		return nil
	}
	words := (n + 63) / 64
	s := &pairs{n: n, words: words, shift: uint(capacityBits - bits.Len64(uint64(most))),
		links: make([]pairLink, n),
		flows: make([]int32, n*n), first: make([]int32, n*n), peers: make([]uint64, n*words), own: make([]uint64, n*words),
		low: make([]uint64, words), open: make([]uint64, words), reached: make([]uint64, words),
		mine: make([]uint64, words)}
	for l := range s.links {
		if capacity[l] != math.Floor(capacity[l]) {
			return nil
		}
		x := &s.links[l]
		x.cap = int64(capacity[l]) << s.shift
		x.left, x.level, x.most = x.cap, unheld, -1
	}
	return s
}

// set notes what a class is to be.
func (s *pairs) set(class int32, links []pathmap.LinkID, flows int32) {
	for len(s.classes) <= int(class) {
		s.classes = append(s.classes, pairClass{neck: none})
	}
	c := &s.classes[class]
	if c.want = flows; flows > 0 {
		c.askedA, c.askedB = int32(links[0]), int32(links[len(links)-1])
	}
	if !c.pending {
		c.pending = true
		s.pending = append(s.pending, class)
	}
}

// level returns a link's level in bits a second.
func (s *pairs) level(l pathmap.LinkID) float64 {
	if x := s.links[l].level; x != unheld {
		return math.Ldexp(float64(x), -int(s.shift))
	}
	return math.Inf(1)
}

// whole returns a link's level rounded down to whole bits a second, false if the link is no bottleneck.
func (s *pairs) whole(l pathmap.LinkID) (pathmap.BitsPerSecond, bool) {
	x := s.links[l].level
	return pathmap.BitsPerSecond(x >> s.shift), x != unheld
}

func has(set []uint64, i int32) bool { return set[i>>6]>>(i&63)&1 != 0 }
func put(set []uint64, i int32)      { set[i>>6] |= 1 << (i & 63) }
func drop(set []uint64, i int32)     { set[i>>6] &^= 1 << (i & 63) }

// of returns the set of a link.
func (s *pairs) of(sets []uint64, l int32) []uint64 {
	return sets[int(l)*s.words : (int(l)+1)*s.words : (int(l)+1)*s.words]
}

// begin starts another solution.
func (s *pairs) begin() {
	s.changed, s.queue, s.felt = s.changed[:0], s.queue[:0], s.felt[:0]
	clear(s.reached)
	s.keep = math.MaxInt64
}

// meet notes a link, and its level before.
func (s *pairs) meet(l int32) {
	if !has(s.reached, l) {
		put(s.reached, l)
		s.links[l].was = s.links[l].level
		s.queue = append(s.queue, l)
	}
}

// attachAll makes the tables what was asked for. What has changed is in the queue then.
func (s *pairs) attachAll(moved func(class, from, to int32)) {
	for _, i := range s.pending {
		c := &s.classes[i]
		c.pending = false
		same := c.flows > 0 && c.askedA == c.a && c.askedB == c.b
		if c.want == c.flows && (same || c.want == 0) {
			continue
		}
		if c.flows > 0 {
			s.meet(c.a)
			s.meet(c.b)
			s.count(c, -c.flows)
			if !same || c.want == 0 {
				s.detach(i, moved)
			}
		}
		if c.want > 0 {
			if !same {
				s.attach(i)
			}
			s.meet(c.a)
			s.meet(c.b)
			s.count(c, c.want)
		}
		c.flows = c.want
	}
	s.pending = s.pending[:0]
}

// count adds flows to the tables, or takes some away.
func (s *pairs) count(c *pairClass, n int32) {
	if s.given != nil {
		s.give(c.a, c.b, float64(min(s.links[c.a].level, s.links[c.b].level))*float64(n))
	}
	s.flows[int(c.a)*s.n+int(c.b)] += n
	s.links[c.a].total += int64(n)
	if c.a != c.b {
		s.flows[int(c.b)*s.n+int(c.a)] += n
		s.links[c.b].total += int64(n)
	}
	if s.following {
		s.regard(c.a, c.b, int64(n))
	}
}

func (s *pairs) head(a, b int32) *int32 { return &s.first[int(min(a, b))*s.n+int(max(a, b))] }

// attach puts a class on the links that it requested. The pair's bottleneck is to be reported once more.
func (s *pairs) attach(i int32) {
	c := &s.classes[i]
	c.a, c.b = c.askedA, c.askedB
	head := s.head(c.a, c.b)
	if *head == 0 {
		s.live++
		put(s.of(s.peers, c.a), c.b)
		put(s.of(s.peers, c.b), c.a)
	}
	c.next, *head = *head, i+1
	if s.following {
		s.feel(c.a, c.b)
	} else {
		s.free(c.a, c.b)
	}
}

// free makes a pair one without bottleneck.
func (s *pairs) free(a, b int32) {
	drop(s.of(s.own, a), b)
	drop(s.of(s.own, b), a)
}

// detach takes a class, whose flows have been taken away, off its links.
func (s *pairs) detach(i int32, moved func(class, from, to int32)) {
	c := &s.classes[i]
	at := s.head(c.a, c.b)
	for *at != i+1 {
		at = &s.classes[*at-1].next
	}
	*at = c.next
	if *s.head(c.a, c.b) == 0 {
		drop(s.of(s.peers, c.a), c.b)
		drop(s.of(s.peers, c.b), c.a)
		s.free(c.a, c.b)
		s.live--
	}
	if c.neck != none {
		moved(i, c.neck, none)
		c.neck = none
	}
}

// solve is Levels.Solve.
func (s *pairs) solve(moved func(class, from, to int32)) []pathmap.LinkID {
	if len(s.pending) == 0 {
		return nil
	}
	s.begin()
	s.following = linksAClass*len(s.pending) <= s.n && s.patience.tries()
	s.attachAll(moved)
	switch {
	case !s.following:
		s.bound()
		s.rise(moved)
	case s.follow():
		s.report(moved)
	default:
		s.giveUp()
		s.rise(moved)
	}
	for _, l := range s.queue {
		if s.links[l].level != s.links[l].was {
			s.changed = append(s.changed, pathmap.LinkID(l))
		}
	}
	return s.changed
}

// bound finds below which level nothing can change, and the links that have such a level.
func (s *pairs) bound() {
	for _, l := range s.queue {
		x := &s.links[l]
		s.keep = min(s.keep, x.level)
		if x.total > 0 {
			s.keep = min(s.keep, x.cap/x.total) // flows are held back at no less than an even part of each of their links
		}
	}
	clear(s.low)
	for l := range s.links {
		if s.links[l].level < s.keep {
			put(s.low, int32(l))
		}
	}
}

// rise lets the water rise over the links that the change can reach, above the level at which it can.
func (s *pairs) rise(moved func(class, from, to int32)) {
	s.reach()
	s.fill(moved)
}

// reach finds the links that the change affects, and what classes that keep their rates leave of each.
func (s *pairs) reach() {
	for at := 0; at < len(s.queue); at++ {
		l := s.queue[at]
		x := &s.links[l]
		left, open, most := x.cap, x.total, int64(-1)
		row, peers := s.flows[int(l)*s.n:(int(l)+1)*s.n], s.of(s.peers, l)
		for w, set := range peers {
			for word := set & s.low[w]; word != 0; word &= word - 1 {
				p := w<<6 | bits.TrailingZeros64(word)
				n := int64(row[p])
				left -= s.links[p].level * n
				open -= n
				most = max(most, s.links[p].level)
			}
			for word := set &^ s.low[w] &^ s.reached[w]; word != 0; word &= word - 1 {
				s.meet(int32(w<<6 | bits.TrailingZeros64(word)))
			}
		}
		*s.work += x.total - open
		x.left, x.open, x.most, x.refit = left, open, most, false
	}
	copy(s.open, s.reached)
	s.heap.items = s.heap.items[:0]
	for _, l := range s.queue {
		if x := &s.links[l]; x.open > 0 {
			s.heap.items = append(s.heap.items, item[int64]{x.left / x.open, l})
		} else {
			drop(s.open, l)
			x.level = unheld // no class is left on it
		}
	}
	s.heap.build()
}

// fill lets the water rise over the links that are reached.
func (s *pairs) fill(moved func(class, from, to int32)) {
	for len(s.heap.items) > 0 {
		top := s.heap.items[0]
		x := &s.links[top.id]
		if x.open == 0 { // all of its flows are held back elsewhere
			drop(s.open, top.id)
			x.level = unheld
			s.heap.pop()
			continue
		}
		if now := x.left / x.open; now > top.key {
			s.heap.raise(now) // the key was from before others settled below it
			continue
		}
		s.heap.pop()
		s.flood(top.id, top.key, moved)
	}
}

// flood settles the flows of a link at its level.
func (s *pairs) flood(l int32, level int64, moved func(class, from, to int32)) {
	row := s.flows[int(l)*s.n : (int(l)+1)*s.n]
	peers, own := s.of(s.peers, l), s.of(s.own, l)
	x := s.links[l] // flows on it alone are its own, too
	for w, set := range peers {
		set &= s.open[w]
		if set == 0 {
			continue
		}
		if fresh := set &^ own[w]; fresh != 0 {
			s.take(l, w, fresh, moved)
		}
		for word := set; word != 0; word &= word - 1 {
			p := w<<6 | bits.TrailingZeros64(word)
			n := int64(row[p])
			x := &s.links[p]
			x.left -= level * n
			x.open -= n
			x.most = level
		}
	}
	drop(s.open, l)
	x.level = level
	s.links[l] = x
}

// take makes a link the bottleneck of its flows with some others, one word of a set.
func (s *pairs) take(l int32, w int, set uint64, moved func(class, from, to int32)) {
	s.of(s.own, l)[w] |= set
	for ; set != 0; set &= set - 1 {
		p := int32(w<<6 | bits.TrailingZeros64(set))
		if p != l {
			drop(s.of(s.own, p), l)
		}
		s.tell(l, p, moved)
	}
}

// tell tells the classes of a pair that a link is their bottleneck.
func (s *pairs) tell(l, p int32, moved func(class, from, to int32)) {
	for i := *s.head(l, p); i != 0; i = s.classes[i-1].next {
		if c := &s.classes[i-1]; c.neck != l {
			moved(i-1, c.neck, l)
			c.neck = l
		}
	}
}

// neck is Levels.Neck.
func (s *pairs) neck(class int32) int32 {
	if int(class) >= len(s.classes) {
		return none
	}
	return s.classes[class].neck
}
