package flowsim

import (
	"math/bits"
	"slices"

	"lightloom/southbound"
)

// ranked returns the class of the host flows on a route that have a priority.
func (cs *classes) ranked(route int32, priority uint8) int32 {
	key := [2]int32{route, int32(priority)}
	i, known := cs.byPriority[key]
	if priority == 0 {
		return cs.shared(route)
	} else if !known {
		i = cs.newClass()
		cs.list[i].route, cs.list[i].priority = route, priority
		cs.byPriority[key] = i
	}
	return i
}

// prioritise puts the host flows whose priority has changed into other classes.
func (f *fluid) prioritise(all []southbound.Priority) {
	if !f.ranked && len(all) == 0 {
		return // none has one
	}
	if was := f.ranked; was != (len(all) > 0) {
		if f.ranked = !was; f.ranked {
			f.levels.disband()
		}
		f.disturb()
	}
	for _, index := range f.live {
		co := &f.coflows[index]
		now := southbound.PriorityOf(all, co.id)
		if now.Priority == co.priority.Priority && slices.Equal(now.Low, co.priority.Low) {
			continue
		}
		co.priority = southbound.Priority{Coflow: co.id, Priority: now.Priority, Low: slices.Clone(now.Low)}
		for b := co.first; b < co.end; b++ {
			if f.hostFlows[b].class != gone {
				f.again(b)
			}
		}
	}
}

// shareRanked gives every host flow what those of higher priorities leave it.
func (f *fluid) shareRanked() {
	f.solves++
	cs, r := &f.classes, &f.rankedDemand
	if !cs.noting || r.Proportional { // proportional shares begin at the prices of the last call
		r.Reset()
		cs.noted = append(cs.noted[:0], cs.busy...)
	}
	for _, i := range cs.noted {
		r.Set(i, cs.rankedClass(i))
	}
	cs.noting, cs.noted = true, cs.noted[:0]
	set := slices.Grow(f.tmp.set[:0], (len(cs.busy)+63)/64)[:(len(cs.busy)+63)/64] // of their places
	clear(set)
	for _, i := range r.Solve(f.capacity) {
		pos := cs.list[i].pos
		set[pos>>6] |= 1 << (pos & 63)
	}
	for w, word := range set { // events of one instant come in the order of places
		for ; word != 0; word &= word - 1 {
			i := cs.busy[w<<6|bits.TrailingZeros64(word)]
			cs.setRate(i, r.classes[i].Rate)
		}
	}
	f.tmp.set = set
}

// rankedClass is what decides the rates of a class while hosts share by priorities.
func (cs *classes) rankedClass(index int32) rankedClass {
	c := &cs.list[index]
	r := &cs.routes[c.route]
	out := rankedClass{Place: c.pos, Priority: c.priority, Given: c.rate}
	if r.fate == arrives && c.pos != none {
		out.Flows = c.size
		out.lead(cs.tight(r))
	}
	return out
}

// note records that a class has more host flows, or fewer, or another place.
func (cs *classes) note(index int32) {
	if cs.noting {
		cs.noted = append(cs.noted, index)
	}
}
