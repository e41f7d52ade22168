package flowsim

import (
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/southbound"
)

// levels is the rates of classes if all host flows with the same bottleneck have the same rate: hosts
// share by themselves, or all coflows got the same rates of ports. Both keep each class in the right
// group as levels change.
type levels struct {
	*classes
	solver *maxmin.Levels        // nil: links have no levels
	number []int32               // by link: its number among those that have levels; none if it limits no host flow
	even   bool                  // all coflows got the same rates of ports
	evened []southbound.CoflowID // those that got them by Rates.Even

	links []pathmap.LinkID        // memory that calls reuse
	tell  []pathmap.BitsPerSecond // likewise, by number
	seen  uint32                  // sum over the reads of foresee and foreseeEnd, so that the compiler keeps them
}

// shareFairly brings levels and groups up to date with the classes that were touched.
func (lv *levels) shareFairly() {
	lv.found()
	lv.update()
	lv.solves++
	for _, l := range lv.solver.Solve(lv.regroup) {
		lv.setLevel(l)
	}
}

// found makes the levels of all links that can bind, where there are none.
func (lv *levels) found() {
	if lv.solver != nil {
		return
	}
	lv.number = make([]int32, len(lv.capacity))
	var capacity []float64
	for l := range lv.capacity {
		if lv.number[l] = none; l >= len(lv.wide) || !lv.wide[l] {
			lv.number[l] = int32(len(capacity))
			capacity = append(capacity, lv.capacity[l])
		}
	}
	n := len(capacity)
	lv.solver, lv.groups = maxmin.NewLevels(capacity), make([]group, n)
	lv.members, lv.isStale = make([]int32, n), make([]bool, n)
	for _, i := range lv.busy {
		lv.touch(i)
	}
}

// update passes the changed classes to the solver.
func (lv *levels) update() {
	if lv.solver == nil {
		return
	}
	for _, i := range lv.touched {
		c := &lv.list[i]
		if c.alone || c.even != lv.even {
			continue
		}
		n, r := c.size, &lv.routes[c.route]
		if r.fate != arrives {
			n = 0
		}
		if n == 0 && c.group == none {
			lv.setRate(i, 0) // it may have had a rate of its own
		}
		if n > 0 || c.group != none {
			links := lv.links[:0]
			for _, l := range lv.tight(r) {
				links = append(links, pathmap.LinkID(lv.number[l]))
			}
			lv.links = links
			lv.solver.Set(i, links, n)
		}
	}
}

// setLevel sets a group's rate to the current level of its link.
func (lv *levels) setLevel(l pathmap.LinkID) {
	g := &lv.groups[l]
	g.sync(lv.clock.Now())
	g.rate = 0
	if bits := lv.solver.Level(l); bits < unbounded {
		g.rate = bits * lv.perBit
	}
	lv.restless(int32(l))
}

// regroup moves a class from one group to another, or into none.
func (lv *levels) regroup(index, _, to int32) {
	c := &lv.list[index]
	now := lv.clock.Now()
	v := lv.vOf(c)
	if c.group != none {
		lv.undue(c)
		lv.members[c.group]--
	}
	c.group, c.rate = to, 0
	if to == none {
		c.v, c.at = v, now
		return
	}
	lv.unplan(index)
	g := &lv.groups[to]
	if lv.members[to]++; lv.members[to] == 1 {
		g.v, g.at = 0, now
	}
	c.v = v - g.vAt(now)
	lv.redue(index)
}

// disband takes every class out of its group, at the rate that it had.
func (lv *levels) disband() {
	for i := range lv.list {
		if c := &lv.list[i]; c.group != none {
			rate := lv.groups[c.group].rate
			lv.regroup(int32(i), c.group, none)
			c.rate = rate
			lv.touch(int32(i))
		}
	}
	for i := range lv.groups {
		lv.clock.Cancel(lv.groups[i].next)
	}
	lv.solver, lv.groups, lv.members, lv.stale, lv.isStale = nil, nil, nil, lv.stale[:0], nil
}

// groupEnd ends the host flows of a group that have nothing left.
func (lv *levels) groupEnd(i int32) {
	g := &lv.groups[i]
	now := lv.clock.Now()
	g.sync(now)
	lv.restless(i)
	for len(g.heap) > 0 {
		index := g.heap[0]
		c := &lv.list[index]
		if d, ok := g.until(c.due); !ok || lv.grid(now+d) > now {
			return
		}
		lv.foreseeEnd(index)
		lv.endFirst(index, g.v+c.v, g.rate)
		lv.thin(index)
		lv.redue(index)
	}
}

// foreseeClass reads what is looked at of a class that a host flow comes to or leaves, here and where
// rates are shared.
func (lv *levels) foreseeClass(index int32) uint32 {
	seen := uint32(lv.list[index].pos)
	if lv.solver != nil {
		seen += uint32(lv.solver.Foresee(index))
	}
	return seen
}

// foreseeEnd reads what the end of a class's first host flow will look at, for the same reason.
func (lv *levels) foreseeEnd(index int32) {
	c := &lv.list[index]
	bu, r := &lv.hostFlows[c.first], &lv.routes[c.route]
	lv.seen += lv.foreseeClass(index) + uint32(bu.pos) + uint32(r.live) + uint32(r.even)
}
