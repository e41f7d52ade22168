package place

import (
	"math/rand/v2"

	"lightloom/controller"
	"lightloom/southbound"
)

// Random puts each task on a slot drawn uniformly from all free slots.
type Random struct{}

// Wants implements the part's list of events.
func (Random) Wants() controller.KindSet { return Wants() }

// Fill places jobs.
func (Random) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	fill(v, p, func(j *controller.Job) chooser { return uniform{v.Rand("place", uint64(j.ID))} })
}

type uniform struct{ rng *rand.Rand }

func (u uniform) pick(free []int32) southbound.HostID {
	n := int32(u.rng.IntN(Slots(free)))
	for h, f := range free {
		if f = max(f, 0); n < f {
			return southbound.HostID(h)
		} else {
			n -= f
		}
	}
	panic("place: no free slot")
}
