package flowsim

import (
	"time"

	"lightloom/emulator/des"
)

// group is the classes that one link holds back while links have levels: all of their host flows have
// the link's level for a rate, and so one clock. Where the link's level changes, that costs the same
// however many they are; a class that another link comes to hold back changes its group. Many do
// at each event, so that a group fills one line of a cache, and tells its next end without a look at its classes.
type group struct {
	rate float64 // payload bytes a nanosecond, of each host flow
	v    float64 // the clock, in bytes, at instant at
	at   time.Duration
	due  float64   // the clock at the next end, if there is one
	heap []int32   // classes that have host flows, by (due, index)
	next des.Event // the next end
}

func (g *group) vAt(now time.Duration) float64 { return g.v + g.rate*float64(now-g.at) }

func (g *group) sync(now time.Duration) { g.v, g.at = g.vAt(now), now }

// until is how long it takes until the clock shows due. What the clock cannot tell apart any more
// counts as reached, and so does what it would never reach, for it stands where a step is less than its
// last digit.
func (g *group) until(due float64) (time.Duration, bool) {
	d, ok := until(due-g.v-g.v*0x1p-50, g.rate)
	if ok && g.v+g.rate*float64(d) == g.v {
		d = 0
	}
	return d, ok
}

// restless records that a group's next end may be another.
func (cs *classes) restless(i int32) {
	if !cs.isStale[i] {
		cs.isStale[i] = true
		cs.stale = append(cs.stale, i)
	}
}

// redue puts a class to where it belongs in its group's heap.
func (cs *classes) redue(index int32) {
	c := &cs.list[index]
	if c.size == 0 {
		cs.undue(c)
		return
	}
	due := cs.hostFlows[c.first].mark - c.v
	g := &cs.groups[c.group]
	switch {
	case c.slot == none:
		c.due = due
		g.heap = append(g.heap, index)
		cs.raise(g, len(g.heap)-1, index)
	case due == c.due:
		return
	default:
		c.due = due
		cs.moveTo(g, int(c.slot), index)
	}
	cs.restless(c.group)
}

// undue takes a class out of its group's heap.
func (cs *classes) undue(c *class) {
	if c.slot == none {
		return
	}
	g := &cs.groups[c.group]
	i, last := int(c.slot), len(g.heap)-1
	c.slot = none
	moved := g.heap[last]
	g.heap = g.heap[:last]
	if i < last {
		cs.moveTo(g, i, moved)
	}
	cs.restless(c.group)
}

// rescheduleGroups moves the events of groups to their next ends.
func (cs *classes) rescheduleGroups() {
	for _, i := range cs.stale {
		g := &cs.groups[i]
		cs.isStale[i] = false
		if len(g.heap) > 0 && g.rate > 0 {
			g.sync(cs.clock.Now())
			if d, ok := g.until(g.due); ok {
				cs.schedule(&g.next, cs.grid(g.at+d), event{kind: groupEnds, index: i})
				continue
			}
		}
		cs.clock.Cancel(g.next)
	}
	cs.stale = cs.stale[:0]
}

// The heap of a group: classes by (due, index), four children a node. Each class knows its slot.

func (cs *classes) sooner(a, b int32) bool {
	x, y := cs.list[a].due, cs.list[b].due
	return x < y || x == y && a < b
}

func (cs *classes) putAt(g *group, i int, index int32) {
	c := &cs.list[index]
	if g.heap[i], c.slot = index, int32(i); i == 0 {
		g.due = c.due
	}
}

func (cs *classes) moveTo(g *group, i int, index int32) {
	if i > 0 && cs.sooner(index, g.heap[(i-1)/arity]) {
		cs.raise(g, i, index)
		return
	}
	cs.lower(g, i, index)
}

func (cs *classes) raise(g *group, i int, index int32) {
	for i > 0 && cs.sooner(index, g.heap[(i-1)/arity]) {
		cs.putAt(g, i, g.heap[(i-1)/arity])
		i = (i - 1) / arity
	}
	cs.putAt(g, i, index)
}

func (cs *classes) lower(g *group, i int, index int32) {
	heap := g.heap
	for first := arity*i + 1; first < len(heap); first = arity*i + 1 {
		least := first
		for k := first + 1; k < min(first+arity, len(heap)); k++ {
			if cs.sooner(heap[k], heap[least]) {
				least = k
			}
		}
		if !cs.sooner(heap[least], index) {
			break
		}
		cs.putAt(g, i, heap[least])
		i = least
	}
	cs.putAt(g, i, index)
}
