package flowsim

import (
	"cmp"
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
	for _, i := range r.Solve(f.capacity) {
		if r.classes[i].Rate*f.perBit != cs.list[i].rate {
			cs.noted = append(cs.noted, i)
		}
	}
	slices.SortFunc(cs.noted, func(a, b int32) int { return cmp.Compare(cs.list[a].pos, cs.list[b].pos) })
	for _, i := range cs.noted {
		cs.setRate(i, r.classes[i].Rate)
	}
	cs.noted = cs.noted[:0]
}

// rankedClass is what decides the rates of a class while hosts share by priorities.
func (cs *classes) rankedClass(index int32) rankedClass {
	c := &cs.list[index]
	r := &cs.routes[c.route]
	out := rankedClass{Place: c.pos, Priority: c.priority}
	if r.fate == arrives && c.pos != none {
		out.Links, out.Flows = cs.tight(r), c.size
	}
	return out
}

// note records that a class has more host flows, or fewer, or another place.
func (cs *classes) note(index int32) {
	if cs.noting {
		cs.noted = append(cs.noted, index)
	}
}
