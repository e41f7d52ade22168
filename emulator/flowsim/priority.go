package flowsim

import (
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
	busy := f.classes.busy
	rates := f.rankedDemand.Solve(f.capacity, southbound.MaxPriority, len(busy), func(i int) rankedClass {
		c := &f.classes.list[busy[i]]
		r := &f.routes[c.route]
		if r.fate != arrives {
			return rankedClass{}
		}
		return rankedClass{Links: f.tight(r), Flows: int(c.size), Priority: c.priority}
	})
	for i, rate := range rates {
		f.classes.setRate(busy[i], rate)
	}
}
