package flowsim

import (
	"math"
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// unbounded is the wish of a host flow that takes whatever it gets.
var unbounded = math.Inf(1)

// class is host flows that have the same rate at all times: the same route, and the same wish. One
// clock counts what each of its host flows has received since the class began; a host flow that joins
// with n bytes left ends when the clock has gone n further, so a change of rate costs the same however
// many host flows there are, and an end costs O(log n).
//
// It fills one line of a cache: on a fabric of circuits it has one host flow, and is met once in a long
// while. What that takes no part in is apart.
type class struct {
	route   int32
	alone   bool // one host flow that has fallen out of its coflow's pace, with a wish of its own
	even    bool // of host flows with the rates of their ports
	planned bool // its next end has been on the clock
	// of its host flows, while hosts share by themselves
	priority uint8

	rate float64       // payload bytes a nanosecond, of each host flow
	v    float64       // the clock, in bytes, at instant at
	at   time.Duration //
	pos  int32         // in classes.busy; none while empty

	size  int32 // how many host flows it has
	first int32 // its host flow that ends first, if it has any

	// While hosts share by themselves, the clock is that of a group, and v more; rate and at are not used.
	group int32   // none: it has its own clock
	slot  int32   // in the group's heap
	due   float64 // the group's clock at the next end
}

// classes is the host flows that have the rate of their class: what is set for their pair, or what
// links leave them.
type classes struct {
	*state
	list    []class
	rests   []classRest             // by class
	free    []int32                 // which can be used again
	busy    []int32                 // with host flows
	touched []int32                 // whose next end may have moved
	aside   int                     // host flows in classes that are not even
	told    []pathmap.BitsPerSecond // by link: the rates of ports of all coflows, if set

	groups  []group // by number of levels; empty while links have no levels
	members []int32 // by group: how many classes are in it
	stale   []int32 // groups whose next end may be another
	isStale []bool  // by group

	byPriority map[[2]int32]int32 // by route and priority above 0
	noting     bool               // rates of priorities are shared, and noted are the classes to share for anew
	noted      []int32
}

// classRest is what few classes need.
type classRest struct {
	wish float64   // of a class that is alone: bits a second at layer 2
	next des.Event // the next end, by a clock of its own
	heap []int32   // the host flows but the first, which would be before them
}

// vAt returns the class's clock at an instant.
func (c *class) vAt(now time.Duration) float64 { return c.v + c.rate*float64(now-c.at) }

// vOf returns a class's clock as of now, whether its group or the class itself drives it.
func (cs *classes) vOf(c *class) float64 {
	if c.group != none {
		return cs.groups[c.group].vAt(cs.clock.Now()) + c.v
	}
	return c.vAt(cs.clock.Now())
}

func (c *class) sync(now time.Duration) { c.v, c.at = c.vAt(now), now }

// shared returns the class of the host flows on a route that have no wish of their own.
func (cs *classes) shared(route int32) int32 {
	r := &cs.routes[route]
	if r.shared == none {
		r.shared = cs.newClass()
		cs.list[r.shared].route = route
	}
	return r.shared
}

// leveled returns the class of the host flows on a route that have the rates of their ports.
func (cs *classes) leveled(route int32) int32 {
	r := &cs.routes[route]
	if r.even == none {
		r.even = cs.newClass()
		cs.list[r.even].route, cs.list[r.even].even = route, true
	}
	return r.even
}

// solo returns a class for one host flow that requests a rate in bits a second.
func (cs *classes) solo(route int32, wish float64) int32 {
	i := cs.newClass()
	cs.list[i].route, cs.list[i].alone, cs.rests[i].wish = route, true, wish
	return i
}

func (cs *classes) newClass() int32 {
	if n := len(cs.free); n > 0 {
		i := cs.free[n-1]
		cs.free = cs.free[:n-1]
		cs.list[i], cs.rests[i] = class{pos: none, group: none,
			slot: none}, classRest{heap: cs.rests[i].heap[:0]}
		return i
	}
	cs.rests = append(cs.rests, classRest{})
	cs.list = append(cs.list, class{pos: none, group: none, slot: none})
	return int32(len(cs.list) - 1)
}

// join puts a host flow with left bytes left into a class.
func (cs *classes) join(index, b int32, left float64) {
	c := &cs.list[index]
	if c.pos == none {
		c.pos = int32(len(cs.busy))
		cs.busy = append(cs.busy, index)
		if c.group == none {
			c.v, c.at = 0, cs.clock.Now()
		}
	}
	bu := &cs.hostFlows[b]
	bu.class, bu.mark = index, cs.vOf(c)+left
	cs.push(index, b)
	cs.touch(index)
	cs.note(index)
	cs.disturb()
}

// leave takes a host flow out of its class and returns what is left of it.
func (cs *classes) leave(b int32) float64 {
	bu := &cs.hostFlows[b]
	index := bu.class
	left := max(bu.mark-cs.vOf(&cs.list[index]), 0)
	cs.drop(index, bu.pos)
	cs.thin(index)
	return left
}

// thin tidies up after a host flow left a class.
func (cs *classes) thin(index int32) {
	c := &cs.list[index]
	cs.touch(index)
	cs.note(index)
	cs.relax()
	if c.size > 0 {
		return
	}
	moved := takeOut(&cs.busy, c.pos)
	cs.list[moved].pos = c.pos
	cs.note(moved)
	c.pos, c.rate = none, 0
	cs.unplan(index)
	if c.alone {
		cs.free = append(cs.free, index)
	}
}

func (cs *classes) touch(index int32) { cs.touched = append(cs.touched, index) }

// end ends the host flows of a class that have nothing left.
func (cs *classes) end(index int32) {
	c := &cs.list[index]
	c.sync(cs.clock.Now())
	if cs.runsOut(c, c.v, c.rate) {
		cs.endFirst(index, c.v, c.rate)
	}
	cs.thin(index)
}

// runsOut reports whether the first host flow of a class has nothing left, at the class's present clock
// and rate.
func (cs *classes) runsOut(c *class, v, rate float64) bool {
	least := float64(nothing)
	if cs.quantum > 0 {
		least = max(least, rate*float64(slackness)) // what grid took for ended
	}
	return c.size > 0 && cs.hostFlows[c.first].mark-v < least
}

// endFirst ends the first host flow of a class, and whatever others have nothing left.
func (cs *classes) endFirst(index int32, v, rate float64) {
	c := &cs.list[index]
	for again := true; again; again = cs.runsOut(c, v, rate) {
		b := c.first
		cs.drop(index, 0)
		if c.alone {
			cs.coflows[cs.hostFlows[b].coflow].late--
		}
		cs.finish(b, c.route) // which is at hand sooner than the host flow
	}
}

// wish returns the rate that each host flow of a class requests, in bits a second at layer 2.
func (cs *classes) wish(index int32) float64 {
	c := &cs.list[index]
	r := &cs.routes[c.route]
	switch {
	case r.fate != arrives:
		return 0
	case c.alone:
		return cs.rests[index].wish
	case r.capped:
		return min(cs.routes[r.plain].rate, cs.capacity[r.door])
	case c.even:
		return cs.toldOf(r)
	}
	return r.rate
}

// toldOf returns what the ports of a route give each host flow, in bits a second.
func (cs *classes) toldOf(r *route) float64 {
	rate := math.Inf(1)
	for _, l := range cs.tight(r) {
		rate = min(rate, float64(cs.told[l]))
	}
	return rate
}

// setRate gives every host flow of a class a rate in bits a second at layer 2.
func (cs *classes) setRate(index int32, bits float64) {
	c := &cs.list[index]
	if rate := bits * cs.perBit; rate != c.rate {
		c.sync(cs.clock.Now())
		c.rate = rate
		cs.touch(index)
	}
}

// reschedule moves the events of what was touched to their next ends.
func (cs *classes) reschedule() {
	for _, c := range cs.touched {
		cs.rescheduleClass(c)
	}
	cs.touched = cs.touched[:0]
	cs.rescheduleGroups()
}

func (cs *classes) rescheduleClass(index int32) {
	c := &cs.list[index]
	if c.group != none {
		cs.redue(index)
		return
	}
	if c.size > 0 {
		if end := cs.endOf(cs.hostFlows[c.first].mark-c.v, c.rate, c.at); end != southbound.Never {
			c.planned = true
			cs.schedule(&cs.rests[index].next, end, event{kind: classEnds, index: index})
			return
		}
	}
	cs.unplan(index)
}

// unplan takes a class's next end off the clock.
func (cs *classes) unplan(index int32) {
	if c := &cs.list[index]; c.planned {
		c.planned = false
		cs.clock.Cancel(cs.rests[index].next)
	}
}

// addTo adds what classes ask for to the loads of links, and reports whether all ask for something that
// has a bound.
func (cs *classes) addTo(d *linkDemand) (bounded bool) {
	bounded = true
	for _, i := range cs.busy {
		c := &cs.list[i]
		each := cs.wish(i)
		if each == 0 {
			continue
		}
		bounded = bounded && !math.IsInf(each, 1)
		for _, l := range cs.tight(&cs.routes[c.route]) {
			d.Put(l, each*float64(c.size))
		}
	}
	return bounded
}

// fill passes the busy classes to the solver.
func (cs *classes) fill(d *linkDemand) {
	for _, i := range cs.busy {
		c := &cs.list[i]
		d.Add(cs.tight(&cs.routes[c.route]), int(c.size), cs.wish(i))
	}
}

// take gives the busy classes their parts of what was shared.
func (cs *classes) take(rates []float64) {
	for k, rate := range rates {
		i := cs.busy[k]
		cs.setRate(i, rate)
		cs.strained = cs.strained || short(rate, cs.wish(i))
	}
}
