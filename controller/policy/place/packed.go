package place

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Packed puts each job into as few racks as it can: into the fullest rack that holds all of it, else
// rack after rack, that with the most free slots first; within a rack onto the hosts with the most.
type Packed struct{}

// Wants implements the part's list of events.
func (Packed) Wants() controller.KindSet { return Wants() }

// Fill places jobs.
func (Packed) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	fill(v, p, func(j *controller.Job) chooser {
		return &packing{v: v, left: int32(j.Slots()), slots: make([]int32, v.Fabric.Racks)}
	})
}

// packing is the packing of one job.
type packing struct {
	v     *controller.View
	left  int32
	slots []int32 // free, by rack
	rack  int     // that is being filled
	begun bool
}

func (x *packing) pick(free []int32, need int32) southbound.HostID {
	if !x.begun || x.host(free, need) == controller.NoHost {
		x.begun = true
		x.next(free, need)
	}
	x.left -= need
	return x.host(free, need)
}

// host returns the host of the rack with the most free slots.
func (x *packing) host(free []int32, need int32) southbound.HostID {
	best := controller.NoHost
	for h := x.v.Fabric.FirstHost[x.rack]; h < x.v.Fabric.FirstHost[x.rack+1]; h++ {
		if free[h] >= need && (best == controller.NoHost || free[h] > free[best]) {
			best = southbound.HostID(h)
		}
	}
	return best
}

// next chooses the rack to fill.
func (x *packing) next(free []int32, need int32) {
	clear(x.slots)
	for h, n := range free {
		x.slots[x.v.HostRack(southbound.HostID(h))] += max(n, 0)
	}
	order := make([]int, 0, len(x.slots))
	was := x.rack
	for r := range x.slots {
		if x.rack = r; x.host(free, need) != controller.NoHost {
			order = append(order, r)
		}
	}
	if x.rack = was; len(order) == 0 {
		return
	}
	x.rack = slices.MinFunc(order, func(a, b int) int {
		holdsA, holdsB := x.slots[a] >= x.left, x.slots[b] >= x.left
		switch {
		case holdsA != holdsB && holdsA:
			return -1
		case holdsA != holdsB:
			return 1
		case holdsA:
			return cmp.Or(cmp.Compare(x.slots[a], x.slots[b]), cmp.Compare(a, b))
		}
		return cmp.Or(cmp.Compare(x.slots[b], x.slots[a]), cmp.Compare(a, b))
	})
}
