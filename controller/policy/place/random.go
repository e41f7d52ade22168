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

func (u uniform) pick(free []int32, need int32) southbound.HostID {
	slots := 0
	for _, f := range free {
		if f >= need {
			slots += int(f)
		}
	}
	if slots == 0 {
		return controller.NoHost
	}
	n := int32(u.rng.IntN(slots))
	for h, f := range free {
		switch {
		case f < need:
		case n < f:
			return southbound.HostID(h)
		default:
			n -= f
		}
	}
	panic("place: slots were counted wrongly")
}
