package route

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// Shortest sends every bundle the default way: the first path of the map, and the next with light where that has none.
type Shortest struct{}

// Wants implements the part's list of events.
func (Shortest) Wants() controller.KindSet { return Wants() }

// Fill routes coflows.
func (Shortest) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	fill(v, p, func(_ southbound.CoflowID, _, _ southbound.HostID, opts []option) southbound.Tag {
		if opts[0].path == 0 {
			return southbound.TagDefault
		}
		return southbound.PathTag(opts[0].path)
	})
}
