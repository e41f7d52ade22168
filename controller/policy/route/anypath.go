package route

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// AnyPath sends every host flow a path drawn uniformly from all that the map has and that have light,
// long ones too: the random routing that cross-layer scheduling is compared with. ECMP keeps to the
// shortest.
type AnyPath struct{}

// Wants implements the part's list of events.
func (AnyPath) Wants() controller.KindSet { return Wants() }

// Fill routes coflows.
func (AnyPath) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	fill(v, p, func(c southbound.CoflowID, src, dst southbound.HostID, opts []option) southbound.Tag {
		return southbound.PathTag(opts[Hash(v.Seed, c, src, dst)%uint64(len(opts))].path)
	})
}
