package maxmin

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"lightloom/pathmap"
)

// Levels shares links max-min fairly among classes of flows that come, go, grow and shrink, and
// recomputes only what a change reaches. Each flow has one bottleneck among its links, and all flows
// with the same bottleneck have the same rate, the link's level. So one level for each link describes
// the fair shares, however many classes there are; a class has the lowest level of its links.
//
// A link's level follows from its capacity and what its classes can have elsewhere. So a change looks
// at the links of the classes that changed, and goes on to those of the classes whose rate is then
// another, the lowest first, until every link has the level that follows from the others.
//
// Levels are whole numbers of a small part of a bit a second, rounded down; where two links have the same
// level, the first is the bottleneck. So neither the order of sums nor what was before matters: an
// instance after many changes has the same levels as a new one.
//
// It is not for use by several goroutines at once.
type Levels struct {
	capacity []float64
	pairs    *pairs // does all of it as long as no class has more than two links; nil: the rest does
	classes  []levelClass
	gone     []pairClass // by class: what pairs did last, until moved has been told
	shift    uint        // levels are bits a second times 1<<shift

	on     [][]linkClass // by link: the classes on it
	inHeap []bool        // by link
	level  []int64       // by link: at which it is full; unheld where it is no bottleneck, and for one link more
	// By link, in coarse units: its capacity without what its classes have, each rounded up, of those that have a
	// bottleneck, while it is none itself.
	spare []int64
	links []levelLink

	asks    asks
	epoch   uint32
	heap    heap[int64] // links whose level may be another, by where that may begin; from the ground up, all
	rows    []sharer    // of the link that is being filled
	reached []int32     // links whose level this solution has changed, some of them back
	felt    []int32     // classes whose bottleneck this solution has changed, likewise
	moves   []move
	changed []pathmap.LinkID
	work    int64

	necks  []int32  // by class: its bottleneck, none where it has no rate yet
	filled []uint32 // by class: the last solution from the ground up that gave it a rate
	water  []water  // by link, in such a solution
	seats  int64    // of classes on links
	skip   int      // how many solutions to come are from the ground up, without trying to follow changes
	vain   int      // what skip was set to by the last that tried, 0 if it followed them to the end
}

// levelLink is what few looks at a link need.
type levelLink struct {
	cap   int64
	total int64  // flows on it
	was   int64  // its level before the solution that last changed it
	epoch uint32 // of that solution
}

const (
	none = -1
	many = -2
)

// NewLevels returns levels of links with those capacities, by LinkID, without classes. Capacities are whole
// bits a second from 1 to 2⁶⁰.
func NewLevels(capacity []float64) *Levels {
	if p := newPairs(capacity); p != nil {
		s := &Levels{capacity: capacity, pairs: p}
		p.work = &s.work
		return s
	}
	return newLevels(capacity)
}

// newLevels is NewLevels for classes of any number of links.
func newLevels(capacity []float64) *Levels {
	n := len(capacity)
	s := &Levels{capacity: capacity, on: make([][]linkClass, n), level: make([]int64, n+1),
		spare: make([]int64, n), links: make([]levelLink, n), inHeap: make([]bool, n)}
	if n > 0 {
		s.shift = uint(max(capacityBits-bits.Len64(uint64(slices.Max(capacity))), 0))
	}
	for l := range s.links {
		s.level[l], s.links[l].cap = unheld, int64(capacity[l])<<s.shift
		s.spare[l] = s.links[l].cap >> coarseBits
	}
	s.level[n] = unheld
	return s
}

// Set gives a class that many flows, each on all of those links; zero flows remove it. The links are
// distinct, at least one, and copied. It counts from the next Solve on.
func (s *Levels) Set(class int32, links []pathmap.LinkID, flows int32) {
	if s.pairs != nil && (flows == 0 || len(links) <= 2) {
		s.pairs.set(class, links, flows)
		return
	}
	s.widen()
	s.asks.add(class, links, flows)
}

// Foresee prefetches the memory of a class that Set and Solve read, and returns its content. Nothing
// depends on the result, so that the cache misses of several classes overlap.
func (s *Levels) Foresee(class int32) int32 {
	if int(class) >= len(s.classes) || int(class) >= len(s.asks.of) {
		return 0
	}
	return s.classes[class].flows + s.asks.of[class]
}

// widen goes on without pairs, for a class that has more than two links.
func (s *Levels) widen() {
	p := s.pairs
	if p == nil {
		return
	}
	*s = *newLevels(s.capacity)
	s.gone = p.classes
	for i := range p.classes {
		if c := &p.classes[i]; c.pending {
			s.Set(int32(i), ends(c.askedA, c.askedB), c.want)
		} else if c.flows > 0 {
			s.Set(int32(i), ends(c.a, c.b), c.flows)
		}
	}
}

// ends returns one link or two.
func ends(a, b int32) []pathmap.LinkID {
	if a == b {
		return []pathmap.LinkID{pathmap.LinkID(a)}
	}
	return []pathmap.LinkID{pathmap.LinkID(a), pathmap.LinkID(b)}
}

// Level returns the rate of the flows whose bottleneck is link l, +Inf if it is the bottleneck of none.
func (s *Levels) Level(l pathmap.LinkID) float64 {
	if s.pairs != nil {
		return s.pairs.level(l)
	}
	if x := s.level[l]; x != unheld {
		return math.Ldexp(float64(x), -int(s.shift))
	}
	return math.Inf(1)
}

// Whole returns that rate rounded down to whole bits a second, false if the link is no bottleneck.
// No link is then given more than its capacity, not even by a bit.
func (s *Levels) Whole(l pathmap.LinkID) (pathmap.BitsPerSecond, bool) {
	if s.pairs != nil {
		return s.pairs.whole(l)
	}
	x := s.level[l]
	return pathmap.BitsPerSecond(x >> s.shift), x != unheld
}

// Neck returns the bottleneck of a class, or none (-1) if it has no flows. The class's rate is that
// link's level.
func (s *Levels) Neck(class int32) int32 {
	if s.pairs != nil {
		return s.pairs.neck(class)
	}
	if int(class) < len(s.gone) {
		return s.gone[class].neck
	}
	if int(class) >= len(s.necks) {
		return none
	}
	return s.necks[class]
}

// Solve brings everything up to date with what was Set. It calls moved with each class whose bottleneck
// is another than before, and returns the links whose level is another, in no order to rely on; the slice is
// borrowed until the next call.
func (s *Levels) Solve(moved func(class, from, to int32)) []pathmap.LinkID {
	if s.pairs != nil {
		return s.pairs.solve(moved)
	}
	for i := range s.gone {
		if c := &s.gone[i]; c.neck != none {
			moved(int32(i), c.neck, none)
		}
	}
	s.gone = nil
	s.changed = s.changed[:0]
	if len(s.asks.all) == 0 {
		return nil
	}
	s.epoch++
	s.attachAll(moved)
	if s.skip > 0 && len(s.heap.items) > 0 {
		s.skip--
		s.refill()
	} else {
		s.follow()
	}
	s.report(moved)
	return s.changed
}

// follow finds the levels that change, one from the other, as long as that is less work than to find all.
func (s *Levels) follow() {
	for before := s.work; len(s.heap.items) > 0; {
		if !s.worth(s.work - before) {
			s.vain = min(2*s.vain+1, maxVain)
			s.skip = s.vain
			s.refill()
			return
		}
		l := s.heap.items[0].id
		s.heap.pop()
		s.inHeap[l] = false
		if now := s.fill(l); now != s.level[l] {
			s.relevel(l, now)
		}
	}
	s.vain = 0
}

// mark is a level and the link that has it. The water meets the lower one first.
type mark struct {
	level int64
	link  int32
}

var dry = mark{unheld, math.MaxInt32}

func (a mark) below(b mark) bool { return a.level < b.level || a.level == b.level && a.link < b.link }

// sharer is a class on a link that is being filled, and the level at which its other links hold it back.
type sharer struct{ held, flows int64 }

// elsewhere returns the level at which a class on link l is held back if not there.
func (s *Levels) elsewhere(l int32, o *linkClass) int64 {
	if p, level := &o.peers, s.level; p[0] != many {
		return min(level[p[0]], level[p[1]], level[p[2]], level[p[3]], level[p[4]])
	}
	return s.heldAt(l, o).level
}

// heldAt returns where a class on link l is held back if not there.
func (s *Levels) heldAt(l int32, o *linkClass) mark {
	least := dry
	for _, p := range s.classes[o.class].places() {
		if m := (mark{s.level[p.link], p.link}); p.link != l && m.below(least) {
			least = m
		}
	}
	return least
}

// below reports whether the i-th sharer of the link that is being filled is held back elsewhere before that
// link has the given level. Only where both have the same level the links matter.
func (s *Levels) below(i int, at mark) bool {
	held := s.rows[i].held
	if held == at.level && held != unheld {
		return s.heldAt(at.link, &s.on[at.link][i]).below(at)
	}
	return held < at.level
}

// fill returns the level of a link that follows from what its classes have elsewhere: those that are
// held back below it take what they have, and the others share the rest. Sharers are then as the
// link's classes.
func (s *Levels) fill(l int32) int64 {
	on, x := s.on[l], &s.links[l]
	s.work += int64(len(on))
	s.rows = slices.Grow(s.rows[:0], len(on))[:len(on)]
	// Mostly the same classes are held back elsewhere as at the level that the link has.
	at, left, open := s.level[l], x.cap, x.total
	most, least := int64(-1), int64(unheld) // of the levels below at, and of the others
	more := false                           // those below at have more than the link: its own level is too high
	for i := range on {
		held, flows := s.elsewhere(l, &on[i]), int64(on[i].flows)
		s.rows[i] = sharer{held, flows}
		if held < at {
			over, has := bits.Mul64(uint64(held), uint64(flows))
			if more = more || over > 0 || has > uint64(left); more {
				continue
			}
			left -= int64(has)
			open -= flows
			most = max(most, held)
		} else {
			least = min(least, held)
		}
	}
	// A set of classes with a level next to the link's own could be one of two that follow from themselves.
	if open > 0 && !more {
		if level := left / open; most+x.total < level && level < least {
			return level
		}
	}
	return s.fillUp(l)
}

// fillUp is fill from the ground up, of the sharers.
func (s *Levels) fillUp(l int32) int64 {
	left, open := s.links[l].cap, s.links[l].total
	for open > 0 {
		at, more := mark{left / open, l}, false
		for i := range s.rows {
			if r := &s.rows[i]; r.held <= at.level && r.flows > 0 && s.below(i, at) {
				left -= r.held * r.flows
				open -= r.flows
				r.flows, more = 0, true
			}
		}
		if !more {
			return at.level
		}
	}
	return unheld
}

// relevel gives a link that has just been filled another level, and opens the links that feel it.
func (s *Levels) relevel(l int32, now int64) {
	x := &s.links[l]
	was := s.level[l]
	s.note(l)
	s.level[l] = now
	spare, low := x.cap>>coarseBits, min(was, now)
	for i := range s.rows {
		held := s.rows[i].held
		if held < low { // elsewhere, before and now
			spare -= coarse(held) * int64(s.on[l][i].flows)
			continue
		}
		before, after := min(held, was), min(held, now)
		o := &s.on[l][i]
		spare -= coarse(after) * int64(o.flows)
		if there := s.below(i, mark{was, l}); there != s.below(i, mark{now, l}) {
			s.feel(o.class)
		} else if there || before == after {
			continue
		}
		s.open(l, o, min(before, after), (coarse(after)-coarse(before))*int64(o.flows))
	}
	s.spare[l] = spare
}

// note remembers the level that a link has before this solution changes it.
func (s *Levels) note(l int32) {
	if x := &s.links[l]; x.epoch != s.epoch {
		x.epoch, x.was = s.epoch, s.level[l]
		s.reached = append(s.reached, l)
	}
}

// coarseBits is how many bits of a level are left out where it is compared with what a link can spare.
const coarseBits = 16

// coarse is a rate in coarse units, of which a link has 2⁴⁵ at most; nothing for what has no bottleneck
// yet. It is above the rate, since a level has been rounded down.
func coarse(level int64) int64 {
	if level == unheld {
		return 0
	}
	return level>>coarseBits + 1
}

// open has the other links of a class filled again whose rate or bottleneck is another, from a level on.
// A link that holds nobody back does not feel that as long as it has enough for all.
func (s *Levels) open(l int32, o *linkClass, from, more int64) {
	if o.peers[0] == many {
		for _, p := range s.classes[o.class].places() {
			if p.link != l {
				s.add(p.link, from, more)
			}
		}
		return
	}
	for _, p := range o.peers {
		if int(p) == len(s.on) {
			break
		}
		s.add(p, from, more)
	}
}

// add counts what a class has more on a link, which is filled again if that can matter. A link that holds
// back others is, and counts anew when it no longer does.
func (s *Levels) add(l int32, from, more int64) {
	if s.level[l] == unheld {
		if s.spare[l] -= more; !s.crowded(l) {
			return
		}
	}
	s.meet(l, from)
}

// crowded reports whether a link may be asked for all that it has.
func (s *Levels) crowded(l int32) bool { return s.spare[l] <= 0 }

// meet has a link filled again.
func (s *Levels) meet(l int32, from int64) {
	if !s.inHeap[l] {
		s.inHeap[l] = true
		s.heap.push(item[int64]{from, l})
	}
}

// feel notes that the bottleneck of a class may be another.
func (s *Levels) feel(class int32) {
	if c := &s.classes[class]; c.epoch != s.epoch {
		c.epoch = s.epoch
		s.felt = append(s.felt, class)
	}
}

// move is a class on the list of those with another bottleneck.
type move struct {
	to    mark
	at    int32 // among the classes of that link
	class int32
}

// report tells of the classes whose bottleneck is another, as the water met them, and lists the links
// whose level is.
func (s *Levels) report(moved func(class, from, to int32)) {
	for _, l := range s.reached {
		if s.level[l] != s.links[l].was {
			s.changed = append(s.changed, pathmap.LinkID(l))
		}
	}
	s.moves = s.moves[:0]
	for _, i := range s.felt {
		c := &s.classes[i]
		to, at := s.least(c)
		if to.link != s.necks[i] {
			s.moves = append(s.moves, move{to, at, i})
		}
	}
	s.reached, s.felt = s.reached[:0], s.felt[:0]
	slices.SortFunc(s.moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(a.to.level, b.to.level), cmp.Compare(a.to.link, b.to.link), cmp.Compare(a.at, b.at))
	})
	for _, m := range s.moves {
		moved(m.class, s.necks[m.class], m.to.link)
		s.necks[m.class] = m.to.link
	}
}
