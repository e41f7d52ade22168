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
	unit     float64     // of levels, in bits a second

	level []int64 // by link: at which it is full; unheld where it is no bottleneck
	cap   []int64 // by link
	links []levelLink
	on    []seating   // by class
	long  []longClass // by class, where some class has more than few links

	asks  asks
	epoch uint32
	queue queue       // links whose level may be another
	heap  heap[int64] // from the ground up: links with classes, by where they are full
	rows  []sharer    // of the link that is being filled
	news
	work int64

	necks []int32 // by class: its bottleneck, none where it has no flows, or no rate yet
	told  []int32 // by class: its bottleneck after the last solution
	seats int64   // of classes on links

	overlaps []*overlaps // by link, where some holds back many classes
	crowded  int         // links of which they are counted

	ground ground
}

// news is what a solution has changed.
type news struct {
	reached []before // links whose level it has changed, some of them back
	felt    []int32  // classes whose bottleneck it has changed, likewise
	moves   []move
	changed []pathmap.LinkID
}

// farBelow is about twice what a class can have: a sum is below -farBelow before it goes around.
const farBelow = 1 << 62

// levelLink is what a solution knows of a link besides its level and capacity, in one line of a cache. Where it holds
// back flows, its level is left/open, rounded down.
type levelLink struct {
	on     []seat // the classes on it, those first whose bottleneck it is
	left   int64  // capacity without what classes with another bottleneck have, or count for, where it is not exact
	total  int64  // flows
	open   int64  // flows of which it is the bottleneck
	most   int64  // where that is some: no class with another bottleneck has a higher rate; -1: there is none; or unsure
	own    int32  // classes of which it is the bottleneck
	queued bool
	seen   bool  // in reached
	exact  bool  // it is told of every change; always where it holds back flows
	plenty uint8 // with 1<<plenty left besides a unit a flow, it need not be exact
}

// unsure has a link fitted anew: a class is new, or what others have may be more than 64 bits hold.
const unsure = math.MaxInt64

// before is the level that a link had before this solution.
type before struct {
	level int64
	link  int32
}

const none = -1

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
	s := &Levels{capacity: capacity, level: make([]int64, n), cap: make([]int64, n), links: make([]levelLink, n)}
	s.queue.next = make([]int32, n)
	if n > 0 {
		s.shift = uint(max(capacityBits-bits.Len64(uint64(slices.Max(capacity))), 0))
	}
	s.unit = math.Ldexp(1, -int(s.shift))
	for l := range s.links {
		s.cap[l] = int64(capacity[l]) << s.shift
		s.clear(int32(l))
	}
	return s
}

// clear makes a link one without classes.
func (s *Levels) clear(l int32) {
	x := &s.links[l]
	x.left, x.open, x.most, x.own, x.exact = s.cap[l], 0, -1, 0, false
	x.plenty = uint8(max(bits.Len64(uint64(s.cap[l]))-1-plenty, 0))
	s.level[l] = unheld
}

// Set gives a class that many flows, each on all of those links; zero flows remove it. The links are
// distinct, at least one, and copied. Flows over the same two links are fewer than 2³¹ in all. It counts from the next
// Solve on.
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
		return float64(x) * s.unit
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
	if s.queue.len > 0 && !s.ground.patience.tries() {
		s.refill()
	} else {
		s.follow()
	}
	s.report(moved)
	return s.changed
}

// follow finds the levels that change, one from the other, as long as that is less work than to find all.
func (s *Levels) follow() {
	for before := s.work; s.queue.len > 0; {
		if !s.worth(s.work - before) {
			s.ground.patience.after(false)
			s.refill()
			return
		}
		s.review(s.pop())
	}
	s.ground.patience.after(true)
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

// elsewhere returns the level at which a class on a link is held back if not there: what it has now, if it is held
// back elsewhere.
func (s *Levels) elsewhere(l int32, o seat) int64 {
	if neck := s.necks[o.class]; neck != l && neck != none {
		return s.level[neck]
	}
	c, least := &s.classes[o.class], int64(unheld)
	if c.n > few {
		return s.leastOf(o).level
	}
	for rest := c.exact &^ (1 << o.k); rest != 0; rest &= rest - 1 {
		least = min(least, s.level[c.links[bits.TrailingZeros8(rest)]])
	}
	return least
}

// heldAt returns where that is.
func (s *Levels) heldAt(l int32, o seat) mark {
	if neck := s.necks[o.class]; neck != l && neck != none {
		return mark{s.level[neck], neck}
	}
	return s.leastOf(o)
}

// leastOf returns which link of a class but for the one of the seat holds it back first.
func (s *Levels) leastOf(o seat) mark {
	least := dry
	for k, p := range s.linksOf(o.class) {
		if m := (mark{s.level[p], p}); k != int(o.k) && m.below(least) {
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
		return s.heldAt(at.link, s.links[at.link].on[i]).below(at)
	}
	return held < at.level
}

// review gives a link the level that follows from what its classes have elsewhere. Mostly it is the bottleneck
// of the same classes as before: then only these are looked at, and none if the level stays. A class that has more then
// than another of its links can give it is for that link to take over: it is told, and reviewed.
func (s *Levels) review(l int32) {
	x, at := &s.links[l], s.level[l]
	switch {
	case x.most == unsure:
	case x.open == 0:
		if s.spares(l) {
			s.put(l, unheld)
			return
		}
	case x.left >= 0:
		// A set of classes with a level next to the link's own could be one of two that follow from themselves.
		now := x.left / x.open
		if x.most+x.total < now {
			if now != at {
				s.relevel(l, now)
			}
			return
		}
	}
	s.refit(l)
}

// relevel gives a link another level, and the classes of which it is the bottleneck.
func (s *Levels) relevel(l int32, now int64) {
	c := changeOf(s.level[l], now)
	s.put(l, now)
	if with, counted := s.overlapsOf(l); counted {
		s.passAll(with, &c)
		return
	}
	own := s.links[l].on[:s.links[l].own]
	s.work += int64(len(own))
	for _, o := range own {
		s.pass(o, none, &c)
	}
}

// change is the rate of a flow before and after, and that by which it counts on links that are not exact.
type change struct{ was, now, more, rough int64 }

// changeOf returns a change of a rate; a class that has none yet, unheld, has nothing.
func changeOf(was, now int64) change {
	if was == unheld {
		return change{was, now, now, roughly(now)}
	}
	return change{was, now, now - was, roughly(now) - roughly(was)}
}

// pass tells the other links of a class, but for one of them, that its rate is another.
func (s *Levels) pass(o seat, but int32, c *change) {
	k := &s.classes[o.class]
	flows, from := int64(k.flows), min(c.was, c.now)
	if k.n > few {
		s.passLong(o, but, c)
		return
	}
	more := c.more * flows
	for rest := k.exact &^ (1 << o.k); rest != 0; rest &= rest - 1 {
		if p := k.links[bits.TrailingZeros8(rest)]; p != but {
			s.hear(p, more, c.now, from)
		}
	}
	if c.rough == 0 && c.was != unheld {
		return
	}
	more = c.rough * flows
	for rest := ^k.exact & (1<<k.n - 1); rest != 0; rest &= rest - 1 {
		s.hearRoughly(k.links[bits.TrailingZeros8(rest)], more, from)
	}
}

// passLong is pass for a class of more than few links.
func (s *Levels) passLong(o seat, but int32, c *change) {
	flows, from := int64(s.classes[o.class].flows), min(c.was, c.now)
	for k, p := range s.long[o.class].links {
		switch {
		case k == int(o.k) || p == but:
		case s.links[p].exact:
			s.hear(p, c.more*flows, c.now, from)
		default:
			s.hearRoughly(p, c.rough*flows, from)
		}
	}
}

// hear counts what a class with another bottleneck has more on an exact link. It is reviewed if that can matter:
// a link that is no bottleneck does not become one as long as it has enough for all, and for more than rounding
// leaves. With plenty, it need not be exact any more.
func (s *Levels) hear(l int32, more, rate, from int64) {
	x := &s.links[l]
	x.lose(more)
	x.most = max(x.most, rate)
	if x.open > 0 || uint64(x.left-x.total)>>x.plenty > 0 {
		s.meet(l, from)
	}
}

// hearRoughly is hear for a link that is not exact.
func (s *Levels) hearRoughly(l int32, more, from int64) {
	x := &s.links[l]
	if x.lose(more); x.left < x.total {
		s.meet(l, from)
	}
}

// lose counts what classes with another bottleneck have more. The sum does not go around unseen.
func (x *levelLink) lose(more int64) {
	if x.left -= more; x.left < -farBelow {
		x.most = unsure
	}
}

// refit finds anew which classes of a link are held back elsewhere, from the ground up: those take what they
// have, and the others share the rest.
func (s *Levels) refit(l int32) {
	s.beExact(l)
	x, at := &s.links[l], s.level[l]
	on := x.on
	s.work += int64(len(on))
	s.rows = slices.Grow(s.rows[:0], len(on))[:len(on)]
	for i, o := range on {
		s.rows[i] = sharer{s.elsewhere(l, o), int64(s.classes[o.class].flows)}
	}
	now, left, open := s.fillUp(l)
	s.know(l, now, left, open)
	own, stay := x.own, changeOf(at, now)
	x.most = -1
	for i, o := range on {
		was, is := int32(i) < own, s.rows[i].flows > 0
		switch neck := s.necks[o.class]; {
		case was && is:
			if at != now {
				s.pass(o, none, &stay)
			}
		case was || !is && neck == none:
			to, had := s.leastOf(o), int64(unheld)
			if was {
				had = at
			}
			c := changeOf(had, to.level)
			s.pass(o, to.link, &c)
			s.enter(to, o.class, had)
		case is:
			had := int64(unheld)
			if neck != none {
				had = s.level[neck]
			}
			c := changeOf(had, now)
			s.pass(o, neck, &c)
			s.leave(neck, o.class, now)
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
	s.links[l].left, s.links[l].open = left, open
}

// fillUp returns the level of a link of which the classes are in rows, what is left of it for those that are not held
// back elsewhere, and how many flows these have. The rows of the others have no flows then.
func (s *Levels) fillUp(l int32) (level, left, open int64) {
	left, open = s.cap[l], s.links[l].total
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
	on := s.links[l].on
	on[i], on[j] = on[j], on[i]
	s.placesOf(on[i].class)[on[i].k] = i
	s.placesOf(on[j].class)[on[j].k] = j
}

// enter makes a link the bottleneck of a class that had a rate below it, unheld if none.
func (s *Levels) enter(to mark, class int32, had int64) {
	x, flows := &s.links[to.link], int64(s.classes[class].flows)
	if had != unheld {
		x.left += had * flows
	}
	x.open += flows
	s.swap(to.link, s.placeOn(class, to.link), x.own)
	x.own++
	s.hold(class, to.link)
	s.meet(to.link, to.level)
}

// leave makes a link one that holds a class back no more, which has a rate below its level.
func (s *Levels) leave(l, class int32, rate int64) {
	if l == none {
		return
	}
	x, flows := &s.links[l], int64(s.classes[class].flows)
	x.lose(rate * flows)
	x.most = max(x.most, rate)
	x.open -= flows
	x.own--
	s.swap(l, s.placeOn(class, l), x.own)
	s.meet(l, rate)
}

// hold notes the bottleneck of a class.
func (s *Levels) hold(class, l int32) {
	if s.crowded > 0 {
		flows := s.classes[class].flows
		if from := s.necks[class]; from != none {
			s.add(from, class, -flows)
		}
		s.add(l, class, flows)
	}
	s.necks[class] = l
	s.feel(class)
}

// put notes a link's level.
func (s *Levels) put(l int32, level int64) {
	if s.level[l] == level {
		return
	}
	if x := &s.links[l]; !x.seen {
		x.seen = true
		s.reached = append(s.reached, before{s.level[l], l})
	}
	s.level[l] = level
}

// meet has a link reviewed. One that holds back no flows comes later than those that do: most often it is short only
// until they have given their classes less, too.
func (s *Levels) meet(l int32, from int64) {
	switch x := &s.links[l]; {
	case x.queued:
	case x.open == 0:
		s.push(l, 2*from)
	default:
		s.push(l, from)
	}
}

// feel notes that the bottleneck of a class may be another.
func (s *Levels) feel(class int32) {
	if c := &s.on[class]; c.epoch != s.epoch {
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
	for _, w := range s.reached {
		s.links[w.link].seen = false
		if s.level[w.link] != w.level {
			s.changed = append(s.changed, pathmap.LinkID(w.link))
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
