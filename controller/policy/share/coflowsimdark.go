package share

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// CoflowsimDark is Aalo by the rules of coflowsim (its DARK): rates change when a coflow starts or
// ends, and only then does a coflow move, by one queue at a time, to the end of the next one; what is
// left after all is not given away. The queues are memory: an instance that is made in mid-run begins
// with all coflows in the first.
type CoflowsimDark struct {
	Ordered
	queue [queues][]southbound.CoflowID
}

// Fill sets the rates of all coflows.
func (p *CoflowsimDark) Fill(v *controller.View, ev []controller.Event, plan *controller.Plan) {
	o := &p.Ordered
	o.start(v, plan)
	all := o.demands(v, ev)
	slices.SortFunc(all, func(a, b demand) int { return cmp.Compare(a.c.ID, b.c.ID) })
	p.arrange(all)
	for q := range p.queue {
		for _, id := range p.queue[q] {
			i := at(all, id)
			from, to := o.spread(v, all[i:i+1])
			o.rates.Spread = append(o.rates.Spread, southbound.Spread{Coflow: id, From: from, To: to})
		}
	}
	o.finish(plan)
}

// at returns the place of a coflow among demands sorted by id, -1 if it is not there.
func at(all []demand, id southbound.CoflowID) int {
	i, ok := slices.BinarySearchFunc(all, id, func(d demand, id southbound.CoflowID) int {
		return cmp.Compare(d.c.ID, id)
	})
	if !ok {
		return -1
	}
	return i
}

// arrange drops coflows that are over, puts new ones at the end of the first queue, and moves coflows
// that have sent more than their queue holds to the end of the next. A coflow that was just moved is
// checked again there: it moves on only if it is below its due queue.
func (p *CoflowsimDark) arrange(all []demand) {
	known := map[southbound.CoflowID]bool{}
	for q := range p.queue {
		p.queue[q] = slices.DeleteFunc(p.queue[q], func(id southbound.CoflowID) bool { return at(all, id) < 0 })
		for _, id := range p.queue[q] {
			known[id] = true
		}
	}
	for i := range all {
		if !known[all[i].c.ID] {
			p.queue[0] = append(p.queue[0], all[i].c.ID)
		}
	}
	for q := range queues - 1 {
		var moved []southbound.CoflowID
		p.queue[q] = slices.DeleteFunc(p.queue[q], func(id southbound.CoflowID) bool {
			if darkQueue(all[at(all, id)].attained()) > q {
				moved = append(moved, id)
				return true
			}
			return false
		})
		p.queue[q+1] = append(p.queue[q+1], moved...)
	}
}

// darkQueue returns the queue of a coflow by the bytes that it has sent: one that has sent just the
// limit stays.
func darkQueue(sent float64) int {
	q := 0
	for limit := float64(firstQueue); limit < sent*(1-tie); limit *= queueRatio {
		q++
	}
	return q
}
