package place

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Reschedule places the tasks that have lost their host, jobs in the order of their ids, and returns
// the slots that are left. A job whose lost tasks do not all fit waits for slots; its other tasks go
// on, and no other job waits for it. find returns the hosts of all of a job's tasks: given ones stay,
// those of ended tasks have been chosen, and there are slots enough.
func Reschedule(v *controller.View, p *controller.Plan,
	find func(h *controller.Evicted, free []int32) []southbound.HostID) []int32 {
	free := slices.Clone(v.Free)
	if len(v.Evicted) == 0 {
		return free
	}
	order := make([]int, len(v.Evicted))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v.Evicted[a].Job.ID, v.Evicted[b].Job.ID) })
	alive := alive(v, nil)
	for _, i := range order {
		h := v.Evicted[i]
		h.Hosts = slices.Clone(h.Hosts)
		if len(alive) == 0 || !Fits(unplaced(&h), free) {
			continue
		}
		copies(v, &h, alive)
		hosts, sizes := find(&h, free), h.Job.Sizes()
		for t, at := range hosts {
			switch {
			case h.Hosts[t] != controller.NoHost:
			case sizes == nil:
				free[at]--
			default:
				free[at] -= sizes[t]
			}
		}
		p.Place = append(p.Place, controller.Placement{Job: h.Job.ID, Hosts: hosts})
	}
	return free
}

// unplaced returns the sizes of the tasks of a job that are to be given slots.
func unplaced(h *controller.Evicted) []int32 {
	out, sizes := []int32{}, h.Job.Sizes()
	for t, at := range h.Hosts {
		switch {
		case at != controller.NoHost || h.Ended[t]:
		case sizes == nil:
			out = append(out, 1)
		default:
			out = append(out, sizes[t])
		}
	}
	return out
}

// alive returns the hosts that are not lost, in the memory of a slice.
func alive(v *controller.View, in []southbound.HostID) []southbound.HostID {
	out := slices.Grow(in[:0], len(v.Free))
	for h := range v.Free {
		if _, lost := slices.BinarySearch(v.Lost, southbound.HostID(h)); !lost {
			out = append(out, southbound.HostID(h))
		}
	}
	return out
}

// copies chooses where the output of ended tasks is read from: a file system holds copies of it on
// other hosts, which the scheduler has not chosen.
func copies(v *controller.View, h *controller.Evicted, alive []southbound.HostID) {
	rng := v.Rand("copies", uint64(h.Job.ID))
	for t, at := range h.Hosts {
		if at == controller.NoHost && h.Ended[t] {
			h.Hosts[t] = alive[rng.IntN(len(alive))]
		}
	}
}

// reschedule places lost tasks one by one as fill does, and returns a view with the slots that are left.
func reschedule(v *controller.View, p *controller.Plan,
	chooserOf func(j *controller.Job) chooser) *controller.View {
	if len(v.Evicted) == 0 {
		return v
	}
	rest := *v
	rest.Free = Reschedule(v, p, func(h *controller.Evicted, free []int32) []southbound.HostID {
		hosts := slices.Clone(h.Hosts)
		choose(chooserOf(h.Job), h.Job.Sizes(), hosts, slices.Clone(free))
		return hosts
	})
	return &rest
}
