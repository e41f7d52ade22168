package flowsim

import (
	"math"
	"time"

	"lightloom/emulator/des"
)

// unbounded is the wish of a bundle that takes whatever it gets.
var unbounded = math.Inf(1)

// class is bundles that have the same rate at all times: the same route, and the same wish. One clock counts what each
// of its bundles has received since the class began; a bundle that joins with n bytes left ends when the clock has gone
// n further, so a change of rate costs the same however many bundles there are, and an end costs O(log n).
//
// It fills one line of a cache: on a fabric of circuits it has one bundle, and is met once in a long while. What that
// takes no part in is apart.
type class struct {
	route   int32
	alone   bool // one bundle that has fallen out of its coflow's pace, with a wish of its own
	even    bool // of bundles that have what their ports were told
	planned bool // its next end has been on the clock

	rate float64       // payload bytes a nanosecond, of each bundle
	v    float64       // the clock, in bytes, at instant at
	at   time.Duration //
	pos  int32         // in fluid.busy; none while empty

	size  int32 // how many bundles it has
	first int32 // the one that ends first, if it has any

	// While hosts share by themselves, the clock is that of a group, and v more; rate and at are not used.
	group int32   // none: it has its own clock
	slot  int32   // in the group's heap
	due   float64 // the group's clock at the next end
}

// classRest is what few classes need.
type classRest struct {
	wish float64   // of a class that is alone: bits a second at layer 2
	next des.Event // the next end, by a clock of its own
	heap []int32   // the bundles but the first, which would be before them
}

// vAt returns the class's clock at an instant.
func (c *class) vAt(now time.Duration) float64 { return c.v + c.rate*float64(now-c.at) }

// vOf returns a class's clock as of now, whoever drives it.
func (f *fluid) vOf(c *class) float64 {
	if c.group != none {
		return f.groups[c.group].vAt(f.clock.Now()) + c.v
	}
	return c.vAt(f.clock.Now())
}

func (c *class) sync(now time.Duration) { c.v, c.at = c.vAt(now), now }

// shared returns the class of the bundles on a route that have no wish of their own.
func (f *fluid) shared(route int32) int32 {
	r := &f.routes[route]
	if r.shared == none {
		r.shared = f.newClass()
		f.classes[r.shared].route = route
	}
	return r.shared
}

// leveled returns the class of the bundles on a route that have what their ports were told.
func (f *fluid) leveled(route int32) int32 {
	r := &f.routes[route]
	if r.even == none {
		r.even = f.newClass()
		f.classes[r.even].route, f.classes[r.even].even = route, true
	}
	return r.even
}

// solo returns a class for one bundle that asks for a rate in bits a second.
func (f *fluid) solo(route int32, wish float64) int32 {
	i := f.newClass()
	f.classes[i].route, f.classes[i].alone, f.rests[i].wish = route, true, wish
	return i
}

func (f *fluid) newClass() int32 {
	if n := len(f.free); n > 0 {
		i := f.free[n-1]
		f.free = f.free[:n-1]
		f.classes[i], f.rests[i] = class{pos: none, group: none, slot: none}, classRest{heap: f.rests[i].heap[:0]}
		return i
	}
	f.rests = append(f.rests, classRest{})
	f.classes = append(f.classes, class{pos: none, group: none, slot: none})
	return int32(len(f.classes) - 1)
}

// join puts a bundle with so many bytes left into a class.
func (f *fluid) join(index, b int32, left float64) {
	c := &f.classes[index]
	if c.pos == none {
		c.pos = int32(len(f.busy))
		f.busy = append(f.busy, index)
		if c.group == none {
			c.v, c.at = 0, f.clock.Now()
		}
	}
	bu := &f.bundles[b]
	bu.class, bu.mark = index, f.vOf(c)+left
	f.push(index, b)
	f.touch(index)
	f.disturb()
}

// leave takes a bundle out of its class and returns what is left of it.
func (f *fluid) leave(b int32) float64 {
	bu := &f.bundles[b]
	index := bu.class
	left := max(bu.mark-f.vOf(&f.classes[index]), 0)
	f.drop(index, bu.pos)
	f.thin(index)
	return left
}

// thin tidies up after a bundle left a class.
func (f *fluid) thin(index int32) {
	c := &f.classes[index]
	f.touch(index)
	f.relax()
	if c.size > 0 {
		return
	}
	last := f.busy[len(f.busy)-1]
	f.busy[c.pos] = last
	f.classes[last].pos = c.pos
	f.busy = f.busy[:len(f.busy)-1]
	c.pos, c.rate = none, 0
	f.unplan(index)
	if c.alone {
		f.free = append(f.free, index)
	}
}

// disturb notes that every rate may have to change.
func (f *fluid) disturb() { f.dirty = true }

// relax notes that somebody sends less: others may have more, if they share or were given less than they asked for.
func (f *fluid) relax() { f.dirty = f.dirty || f.fair || f.strained }

func (f *fluid) touch(index int32) { f.touched = append(f.touched, index) }

// classEnd ends the bundles of a class that have nothing left.
func (f *fluid) classEnd(index int32) {
	c := &f.classes[index]
	c.sync(f.clock.Now())
	if f.runsOut(c, c.v, c.rate) {
		f.endFirst(index, c.v, c.rate)
	}
	f.thin(index)
}

// runsOut says whether the first bundle of a class has nothing left, the class's clock and rate being what they are.
func (f *fluid) runsOut(c *class, v, rate float64) bool {
	least := float64(nothing)
	if f.quantum > 0 {
		least = max(least, rate*float64(slackness)) // what grid took for ended
	}
	return c.size > 0 && f.bundles[c.first].mark-v < least
}

// endFirst ends the first bundle of a class, and whatever others have nothing left.
func (f *fluid) endFirst(index int32, v, rate float64) {
	c := &f.classes[index]
	for again := true; again; again = f.runsOut(c, v, rate) {
		b := c.first
		f.drop(index, 0)
		if c.alone {
			f.coflows[f.bundles[b].coflow].late--
		}
		f.finish(b, c.route) // which is at hand sooner than the bundle
	}
}

// setRate gives every bundle of a class a rate in bits a second at layer 2.
func (f *fluid) setRate(index int32, bits float64) {
	c := &f.classes[index]
	if rate := bits * f.perBit; rate != c.rate {
		c.sync(f.clock.Now())
		c.rate = rate
		f.touch(index)
	}
}

// reschedule moves a class's event to its next end.
func (f *fluid) reschedule(index int32) {
	c := &f.classes[index]
	if c.group != none {
		f.redue(index)
		return
	}
	if c.size > 0 && c.rate > 0 {
		if d, ok := until(f.bundles[c.first].mark-c.v, c.rate); ok {
			c.planned = true
			f.schedule(&f.rests[index].next, f.grid(c.at+d), event{kind: classEnds, index: index})
			return
		}
	}
	f.unplan(index)
}

// unplan takes a class's next end off the clock.
func (f *fluid) unplan(index int32) {
	if c := &f.classes[index]; c.planned {
		c.planned = false
		f.clock.Cancel(f.rests[index].next)
	}
}

// schedule moves an event, or adds it where it is not pending.
func (f *fluid) schedule(e *des.Event, at time.Duration, ev event) {
	if !f.clock.Move(*e, at) {
		*e = f.clock.At(at, ev)
	}
}
