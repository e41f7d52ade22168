package flowsim

import (
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
)

// group is the classes that one link holds back while links have levels: all of their bundles have the link's level for a
// rate, and so one clock. Where the link's level changes, that costs the same however many they are; a
// class that another link comes to hold back changes its group.
type group struct {
	rate    float64 // payload bytes a nanosecond, of each bundle
	v       float64 // the clock, in bytes, at instant at
	at      time.Duration
	heap    []int32 // classes that have bundles, by (due, index)
	members int32
	next    des.Event // the next end
	stale   bool      // which may be another
}

func (g *group) vAt(now time.Duration) float64 { return g.v + g.rate*float64(now-g.at) }

func (g *group) sync(now time.Duration) { g.v, g.at = g.vAt(now), now }

// until is how long it takes until the clock shows due. What the clock cannot tell apart any more counts as reached, and so
// does what it would never reach, for it stands where a step is less than its last digit.
func (g *group) until(due float64) (time.Duration, bool) {
	d, ok := until(due-g.v-g.v*0x1p-50, g.rate)
	if ok && g.v+g.rate*float64(d) == g.v {
		d = 0
	}
	return d, ok
}

// shareFairly brings levels and groups up to date with the classes that were touched.
func (f *fluid) shareFairly() {
	f.found()
	f.sit()
	f.solves++
	for _, l := range f.levels.Solve(f.regroup) {
		f.setLevel(l)
	}
}

// found makes the levels of all links that can bind, where there are none.
func (f *fluid) found() {
	if f.levels != nil {
		return
	}
	f.seats = make([]int32, len(f.capacity))
	var capacity []float64
	for l := range f.capacity {
		if f.seats[l] = none; l >= len(f.wide) || !f.wide[l] {
			f.seats[l] = int32(len(capacity))
			capacity = append(capacity, f.capacity[l])
		}
	}
	f.levels, f.groups = maxmin.NewLevels(capacity), make([]group, len(capacity))
	for _, i := range f.busy {
		f.touch(i)
	}
}

// sit tells levels of the classes that were touched.
func (f *fluid) sit() {
	if f.levels == nil {
		return
	}
	for _, i := range f.touched {
		c := &f.classes[i]
		if c.alone || c.even != f.even {
			continue
		}
		n, r := c.size, &f.routes[c.route]
		if r.fate != arrives {
			n = 0
		}
		if n == 0 && c.group == none {
			f.setRate(i, 0) // it may have had a rate of its own
		}
		if n > 0 || c.group != none {
			f.tmp.links = f.tmp.links[:0]
			for _, l := range f.tight(r) {
				f.tmp.links = append(f.tmp.links, pathmap.LinkID(f.seats[l]))
			}
			f.levels.Set(i, f.tmp.links, n)
		}
	}
}

// setLevel gives a group the rate that its link, told by its seat, has come to.
func (f *fluid) setLevel(l pathmap.LinkID) {
	g := &f.groups[l]
	g.sync(f.clock.Now())
	g.rate = 0
	if bits := f.levels.Level(l); bits < unbounded {
		g.rate = bits * f.perBit
	}
	f.restless(int32(l))
}

// restless notes that a group's next end may be another.
func (f *fluid) restless(i int32) {
	if g := &f.groups[i]; !g.stale {
		g.stale = true
		f.stale = append(f.stale, i)
	}
}

// regroup moves a class from one group to another, or into none.
func (f *fluid) regroup(index, _, to int32) {
	c := &f.classes[index]
	now := f.clock.Now()
	v := f.vOf(c)
	if c.group != none {
		f.undue(c)
		f.groups[c.group].members--
	}
	c.group, c.rate = to, 0
	if to == none {
		c.v, c.at = v, now
		return
	}
	f.unplan(index)
	g := &f.groups[to]
	if g.members++; g.members == 1 {
		g.v, g.at = 0, now
	}
	c.v = v - g.vAt(now)
	f.redue(index)
}

// disband takes every class out of its group, at the rate that it had.
func (f *fluid) disband() {
	for i := range f.classes {
		if c := &f.classes[i]; c.group != none {
			rate := f.groups[c.group].rate
			f.regroup(int32(i), c.group, none)
			c.rate = rate
			f.touch(int32(i))
		}
	}
	for i := range f.groups {
		f.clock.Cancel(f.groups[i].next)
	}
	f.levels, f.groups, f.stale = nil, nil, f.stale[:0]
}

// redue puts a class to where it belongs in its group's heap.
func (f *fluid) redue(index int32) {
	c := &f.classes[index]
	if c.size == 0 {
		f.undue(c)
		return
	}
	due := f.bundles[c.first].mark - c.v
	g := &f.groups[c.group]
	switch {
	case c.slot == none:
		c.due = due
		g.heap = append(g.heap, index)
		f.raise(g, len(g.heap)-1, index)
	case due == c.due:
		return
	default:
		c.due = due
		f.reseat(g, int(c.slot), index)
	}
	f.restless(c.group)
}

// undue takes a class out of its group's heap.
func (f *fluid) undue(c *class) {
	if c.slot == none {
		return
	}
	g := &f.groups[c.group]
	i, last := int(c.slot), len(g.heap)-1
	c.slot = none
	moved := g.heap[last]
	g.heap = g.heap[:last]
	if i < last {
		f.reseat(g, i, moved)
	}
	f.restless(c.group)
}

// groupEnd ends the bundles of a group that have nothing left.
func (f *fluid) groupEnd(i int32) {
	g := &f.groups[i]
	now := f.clock.Now()
	g.sync(now)
	f.restless(i)
	for len(g.heap) > 0 {
		index := g.heap[0]
		c := &f.classes[index]
		if d, ok := g.until(c.due); !ok || f.grid(now+d) > now {
			return
		}
		f.foreseeEnd(index)
		f.endFirst(index, g.v+c.v, g.rate)
		f.thin(index)
		f.redue(index)
	}
}

// rescheduleGroups moves the events of groups to their next ends.
func (f *fluid) rescheduleGroups() {
	for _, i := range f.stale {
		g := &f.groups[i]
		g.stale = false
		if len(g.heap) > 0 && g.rate > 0 {
			g.sync(f.clock.Now())
			if d, ok := g.until(f.classes[g.heap[0]].due); ok {
				f.schedule(&g.next, f.grid(g.at+d), event{kind: groupEnds, index: i})
				continue
			}
		}
		f.clock.Cancel(g.next)
	}
	f.stale = f.stale[:0]
}

// The heap of a group: classes by (due, index), four children a node. Each class knows its slot.

func (f *fluid) sooner(a, b int32) bool {
	x, y := f.classes[a].due, f.classes[b].due
	return x < y || x == y && a < b
}

func (f *fluid) seat(g *group, i int, index int32) {
	g.heap[i] = index
	f.classes[index].slot = int32(i)
}

func (f *fluid) reseat(g *group, i int, index int32) {
	if i > 0 && f.sooner(index, g.heap[(i-1)/arity]) {
		f.raise(g, i, index)
		return
	}
	f.lower(g, i, index)
}

func (f *fluid) raise(g *group, i int, index int32) {
	for i > 0 && f.sooner(index, g.heap[(i-1)/arity]) {
		f.seat(g, i, g.heap[(i-1)/arity])
		i = (i - 1) / arity
	}
	f.seat(g, i, index)
}

func (f *fluid) lower(g *group, i int, index int32) {
	for first := arity*i + 1; first < len(g.heap); first = arity*i + 1 {
		least := first
		for k := first + 1; k < min(first+arity, len(g.heap)); k++ {
			if f.sooner(g.heap[k], g.heap[least]) {
				least = k
			}
		}
		if !f.sooner(g.heap[least], index) {
			break
		}
		f.seat(g, i, g.heap[least])
		i = least
	}
	f.seat(g, i, index)
}
