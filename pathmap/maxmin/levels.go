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

	on    [][]linkClass // by link: the classes on it, those first whose bottleneck it is
	level []int64       // by link: at which it is full; unheld where it is no bottleneck, and for one link more
	room  []room        // by link
	links []levelLink
	was   []before // by link

	asks    asks
	epoch   uint32
	heap    heap[int64] // links whose level may be another, by where that may begin; from the ground up, all
	rows    []sharer    // of the link that is being filled
	reached []int32     // links whose level this solution has changed, some of them back
	felt    []int32     // classes whose bottleneck this solution has changed, likewise
	moves   []move
	changed []pathmap.LinkID
	work    int64

	necks  []int32 // by class: its bottleneck, none where it has no flows, or no rate yet
	told   []int32 // by class: its bottleneck after the last solution
	seats  int64   // of classes on links
	ground ground
}

// room is what a change of a rate looks at on each link of a class.
type room struct {
	left int64 // capacity of the link without what classes with another bottleneck have
	need int64 // the link is reviewed with less: always if it holds back flows; if not, a unit for each of its flows
}

const (
	always   = math.MaxInt64
	farBelow = 1 << 62 // what a class has is half of that at most, so that no sum goes around unseen
)

// levelLink is what a solution knows of a link besides. Where it holds back flows, its level is left/open, rounded
// down.
type levelLink struct {
	open   int64 // flows of which it is the bottleneck
	most   int64 // where it holds back flows: no class with another bottleneck has a higher rate; -1: there is none
	total  int64 // flows
	cap    int64
	own    int32 // classes of which it is the bottleneck
	inHeap bool
	refit  bool // it is to be fitted anew: a class is new, or what others have may be more than 64 bits hold
}

// before is the level of a link before the solution that last changed it.
type before struct {
	level int64
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
		room: make([]room, n), links: make([]levelLink, n), was: make([]before, n)}
	if n > 0 {
		s.shift = uint(max(capacityBits-bits.Len64(uint64(slices.Max(capacity))), 0))
	}
	for l := range s.links {
		s.links[l].cap = int64(capacity[l]) << s.shift
		s.clear(int32(l))
	}
	s.level[n] = unheld
	return s
}

// clear makes a link one without classes.
func (s *Levels) clear(l int32) {
	x := &s.links[l]
	x.open, x.most, x.own, x.refit = 0, -1, 0, false
	s.room[l] = room{x.cap, x.total}
	s.level[l] = unheld
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
	if int(class) >= len(s.told) {
		return none
	}
	return s.told[class]
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
	if s.ground.skip > 0 && len(s.heap.items) > 0 {
		s.ground.skip--
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
			s.ground.vain = min(2*s.ground.vain+1, maxVain)
			s.ground.skip = s.ground.vain
			s.refill()
			return
		}
		l := s.heap.items[0].id
		s.heap.pop()
		s.links[l].inHeap = false
		s.review(l)
	}
	s.ground.vain = 0
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

// review gives a link the level that follows from what its classes have elsewhere. Mostly it is the bottleneck
// of the same classes as before: then only these are looked at, and none if the level stays.
func (s *Levels) review(l int32) {
	x, at, left := &s.links[l], s.level[l], s.room[l].left
	switch {
	case x.refit:
	case x.open == 0 && left >= x.total:
		s.know(l, unheld, left, 0)
		return
	case x.open > 0 && left >= 0:
		// A set of classes with a level next to the link's own could be one of two that follow from themselves.
		now := left / x.open
		if x.most+x.total < now && (now <= at || s.above(l, now)) {
			if now != at {
				s.relevel(l, now)
			}
			return
		}
	}
	s.refit(l)
}

// above reports whether all classes of which a link is the bottleneck could have more than a level elsewhere.
func (s *Levels) above(l int32, level int64) bool {
	own := s.on[l][:s.links[l].own]
	s.work += int64(len(own))
	for i := range own {
		if s.elsewhere(l, &own[i]) <= level {
			return false
		}
	}
	return true
}

// relevel gives a link another level, and the classes of which it is the bottleneck.
func (s *Levels) relevel(l int32, now int64) {
	at := s.level[l]
	s.put(l, now)
	own := s.on[l][:s.links[l].own]
	s.work += int64(len(own))
	for i := range own {
		s.pass(l, none, &own[i], change{at, now})
	}
}

// change is the rate of a flow before and after.
type change struct{ was, now int64 }

// more returns how much more flows have; those that have no bottleneck yet have nothing.
func (c change) more(flows int32) int64 {
	if c.was == unheld {
		return c.now * int64(flows)
	}
	return (c.now - c.was) * int64(flows)
}

// pass tells the other links of a class, but for one of them, that its rate is another.
func (s *Levels) pass(l, but int32, o *linkClass, c change) {
	more, from := c.more(o.flows), min(c.was, c.now)
	if o.peers[0] == many {
		for _, p := range s.classes[o.class].places() {
			if p.link != l && p.link != but {
				s.hear(p.link, more, c.now, from)
			}
		}
		return
	}
	for _, p := range o.peers {
		if int(p) == len(s.on) {
			break
		}
		if p != but {
			s.hear(p, more, c.now, from)
		}
	}
}

// hear counts what a class with another bottleneck has more on a link. It is reviewed if that can matter: a link
// that is no bottleneck does not become one as long as it has enough for all, and for more than rounding leaves.
func (s *Levels) hear(l int32, more, rate, from int64) {
	r := &s.room[l]
	if r.left -= more; r.left < r.need {
		s.press(l, rate, from)
	}
}

// press has a link reviewed because a class with another bottleneck has another rate.
func (s *Levels) press(l int32, rate, from int64) {
	x := &s.links[l]
	x.most = max(x.most, rate)
	x.refit = x.refit || s.room[l].left < -farBelow
	s.meet(l, from)
}

// refit finds anew which classes of a link are held back elsewhere, from the ground up: those take what they
// have, and the others share the rest.
func (s *Levels) refit(l int32) {
	on, x, at := s.on[l], &s.links[l], s.level[l]
	s.work += int64(len(on))
	s.rows = slices.Grow(s.rows[:0], len(on))[:len(on)]
	for i := range on {
		s.rows[i] = sharer{s.elsewhere(l, &on[i]), int64(on[i].flows)}
	}
	now, left, open := s.fillUp(l)
	s.know(l, now, left, open)
	own := x.own
	x.most, x.refit = -1, false
	for i := range on {
		o := &on[i]
		was, is := int32(i) < own, s.rows[i].flows > 0
		switch {
		case was && is:
			if at != now {
				s.pass(l, none, o, change{at, now})
			}
		case was || !is && s.necks[o.class] == none:
			to, had := s.heldAt(l, o), int64(unheld)
			if was {
				had = at
			}
			s.pass(l, to.link, o, change{had, to.level})
			s.enter(to, o, had)
		case is:
			from, had := s.necks[o.class], int64(unheld)
			if from != none {
				had = s.level[from]
			}
			s.pass(l, from, o, change{had, now})
			s.leave(from, o, now)
			s.hold(o.class, l)
		}
		if !is {
			x.most = max(x.most, s.rows[i].held)
		}
	}
	s.part(l)
}

// know notes a link's level, and from what it follows.
func (s *Levels) know(l int32, level, left, open int64) {
	s.put(l, level)
	s.room[l], s.links[l].open = room{left, always}, open
	if open == 0 {
		s.room[l].need = s.links[l].total
	}
}

// fillUp returns the level of a link of which the classes are in rows, what is left of it for those that are not held
// back elsewhere, and how many flows these have. The rows of the others have no flows then.
func (s *Levels) fillUp(l int32) (level, left, open int64) {
	left, open = s.links[l].cap, s.links[l].total
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
			return at.level, left, open
		}
	}
	return unheld, left, 0
}

// part puts those classes of a link first that have flows in rows.
func (s *Levels) part(l int32) {
	own := int32(0)
	for i := range s.rows {
		if s.rows[i].flows > 0 {
			s.swap(l, own, int32(i))
			own++
		}
	}
	s.links[l].own = own
}

// swap exchanges two classes in the list of a link.
func (s *Levels) swap(l, i, j int32) {
	if i == j {
		return
	}
	on := s.on[l]
	on[i], on[j] = on[j], on[i]
	s.placeOn(on[i].class, l).at = i
	s.placeOn(on[j].class, l).at = j
}

// enter makes a link the bottleneck of a class that had a rate below it, unheld if none.
func (s *Levels) enter(to mark, o *linkClass, had int64) {
	x := &s.links[to.link]
	if had != unheld {
		s.room[to.link].left += had * int64(o.flows)
	}
	x.open += int64(o.flows)
	s.swap(to.link, s.placeOn(o.class, to.link).at, x.own)
	x.own++
	s.hold(o.class, to.link)
	s.meet(to.link, to.level)
}

// leave makes a link one that holds a class back no more, which has a rate below its level.
func (s *Levels) leave(l int32, o *linkClass, rate int64) {
	if l == none {
		return
	}
	x := &s.links[l]
	s.room[l].left -= rate * int64(o.flows)
	x.most = max(x.most, rate)
	x.open -= int64(o.flows)
	x.own--
	s.swap(l, s.placeOn(o.class, l).at, x.own)
	s.meet(l, rate)
}

// hold notes the bottleneck of a class.
func (s *Levels) hold(class, l int32) {
	s.necks[class] = l
	s.feel(class)
}

// put notes a link's level.
func (s *Levels) put(l int32, level int64) {
	if s.level[l] == level {
		return
	}
	if w := &s.was[l]; w.epoch != s.epoch {
		*w = before{s.level[l], s.epoch}
		s.reached = append(s.reached, l)
	}
	s.level[l] = level
}

// meet has a link reviewed.
func (s *Levels) meet(l int32, from int64) {
	if x := &s.links[l]; !x.inHeap {
		x.inHeap = true
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
	class int32
}

// report tells of the classes whose bottleneck is another, as the water met them, and lists the links
// whose level is.
func (s *Levels) report(moved func(class, from, to int32)) {
	for _, l := range s.reached {
		if s.level[l] != s.was[l].level {
			s.changed = append(s.changed, pathmap.LinkID(l))
		}
	}
	s.moves = s.moves[:0]
	for _, i := range s.felt {
		if l := s.necks[i]; l != s.told[i] && l != none {
			s.moves = append(s.moves, move{mark{s.level[l], l}, i})
		}
	}
	s.reached, s.felt = s.reached[:0], s.felt[:0]
	slices.SortFunc(s.moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(a.to.level, b.to.level), cmp.Compare(a.to.link, b.to.link), cmp.Compare(a.class, b.class))
	})
	for _, m := range s.moves {
		moved(m.class, s.told[m.class], m.to.link)
		s.told[m.class] = m.to.link
	}
}
