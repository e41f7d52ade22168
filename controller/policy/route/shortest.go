package route

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/pending"
	"lightloom/southbound"
)

// Shortest sends every host flow the default path: the first path of the map, and the next with light
// where that has none.
type Shortest struct{}

// Wants implements the part's list of events.
func (Shortest) Wants() controller.KindSet { return Wants() }

// Fill routes coflows.
func (Shortest) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if v.Down == nil { // every first path has light: nothing need be looked up
		fillDefault(v, p)
		return
	}
	fill(v, p, func(_ southbound.CoflowID, _, _ southbound.HostID, opts []option) southbound.Tag {
		if opts[0].path == 0 {
			return southbound.TagDefault
		}
		return southbound.PathTag(opts[0].path)
	})
}

// fillDefault gives the default tag to all host flows that have no route yet.
func fillDefault(v *controller.View, p *controller.Plan) {
	for _, c := range pending.Placed(v, p) {
		p.Route = append(p.Route, controller.Routing{Coflow: c.ID, Tags: make([]southbound.Tag, len(c.Src))})
	}
	coflows := v.Coflows
	if sh := v.Showing; sh != nil && sh.Of == v && sh.Unrouted == 0 {
		coflows = nil
	}
	for i := range coflows {
		if c := &coflows[i]; len(c.Src) > 0 && !c.Routed {
			p.Route = append(p.Route, controller.Routing{Coflow: c.ID, Tags: make([]southbound.Tag, len(c.Src))})
		}
	}
	slices.SortFunc(p.Route, func(a, b controller.Routing) int { return cmp.Compare(a.Coflow, b.Coflow) })
}
