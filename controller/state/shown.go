package state

import (
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// shown is what of the coflows in the view that was filled last is out of date.
type shown struct {
	showing *controller.Showing
	changed []southbound.CoflowID // since then
	all     bool                  // others can have changed, too
	blind   bool                  // the view has only the number of rows of what coflows have left
}

// manyShown is from how many changes of coflows on a view is filled anew. A replica that does not lead fills none, and
// would list changes without end.
const manyShown = 1 << 12

// noteShown notes which coflows an entry that has been applied can have changed. copyOnWrite goes by the same rule.
func (s *State) noteShown(e *Entry) {
	x := &s.shown
	if x.all {
		return
	}
	switch j := s.jobOf(e); {
	case j == nil:
		x.all = s.changesTasks(e) && e.Kind != JobAccepted
	case e.Kind == Routed:
		x.changed = append(x.changed, e.Routing.Coflow)
	case !s.changesTasks(e):
		x.changed = append(x.changed, e.Coflow)
	default:
		for i := range j.Edges {
			x.changed = append(x.changed, j.FirstCoflow+southbound.CoflowID(i))
		}
		x.changed = append(append(x.changed, j.Redo...), j.Blocks...)
	}
	if len(x.changed) > manyShown {
		x.all = true
	}
}

// showCoflows brings the coflows of a view up to date, but for what is left of them, and returns those that can have
// changed.
func (s *State) showCoflows(v *controller.View) (changed []southbound.CoflowID) {
	x := &s.shown
	if x.showing == nil {
		x.showing = new(controller.Showing)
	}
	sh := x.showing
	full := x.all || v.Showing != sh || sh.Of != v
	slices.Sort(x.changed)
	sh.Changed, x.changed = slices.Compact(x.changed), sh.Changed[:0]
	sh.Of, sh.Full, v.Showing = v, full, sh
	sh.Number++
	// While a job lacks hosts, showAll leaves out coflows of other jobs as well, so that the next view is filled anew,
	// too. For the first one the loss of the host, or a snapshot, has set this.
	x.all = len(s.evicted) > 0
	if full {
		s.showAll(v)
		sh.Unrouted = 0
		for i := range v.Coflows {
			sh.Unrouted += unrouted(&v.Coflows[i])
		}
		return sh.Changed
	}
	for _, id := range sh.Changed {
		at, was := v.FindCoflow(id)
		_, is := slices.BinarySearch(s.active, id)
		if was {
			sh.Unrouted -= unrouted(&v.Coflows[at])
		}
		switch {
		case is && !was:
			v.Coflows = slices.Insert(v.Coflows, at, controller.CoflowView{})
		case was && !is:
			v.Coflows = slices.Delete(v.Coflows, at, at+1)
		}
		if is {
			c := s.Coflow(id)
			viewCoflow(&v.Coflows[at], c, s.Job(c.Job))
			sh.Unrouted += unrouted(&v.Coflows[at])
		}
	}
	return sh.Changed
}

// unrouted returns 1 for a coflow that has host flows and no routes.
func unrouted(c *controller.CoflowView) int {
	if len(c.Src) > 0 && !c.Routed {
		return 1
	}
	return 0
}

func (s *State) showAll(v *controller.View) {
	v.Coflows = v.Coflows[:0]
	for _, id := range s.active {
		c := s.Coflow(id)
		j := s.Job(c.Job)
		if len(s.evicted) > 0 && c.Started == Unset && !s.housed(j, c) {
			continue // it is laid out anew once its tasks have hosts
		}
		n := len(v.Coflows)
		v.Coflows = slices.Grow(v.Coflows, 1)[:n+1]
		viewCoflow(&v.Coflows[n], c, j)
	}
}
