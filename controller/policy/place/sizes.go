package place

import (
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Fits reports whether tasks of those sizes (nil: they take a slot each, and have been counted) find
// room. Jobs placed before them can leave too little on any one host: call it again then.
func Fits(sizes, free []int32) bool {
	return sizes == nil || controller.Pack(sizes, slices.Clone(free)) != nil
}

// take takes the slots of tasks.
func take(free []int32, hosts []southbound.HostID, sizes []int32) {
	for t, h := range hosts {
		if sizes == nil {
			free[h]--
		} else {
			free[h] -= sizes[t]
		}
	}
}

// choose gives hosts to those tasks of a job that have none, and takes their slots: large ones first,
// and where that does not come out, all on the first hosts with room. There must be room.
func choose(c chooser, sizes []int32, hosts []southbound.HostID, free []int32) {
	var order []int
	for t, at := range hosts {
		if at == controller.NoHost {
			order = append(order, t)
		}
	}
	if sizes == nil {
		for _, t := range order {
			hosts[t] = c.pick(free, 1)
			free[hosts[t]]--
		}
		return
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(sizes[b]) - int(sizes[a]) })
	before := slices.Clone(free)
	for _, t := range order {
		if hosts[t] = c.pick(free, sizes[t]); hosts[t] == controller.NoHost {
			copy(free, before)
			pack(order, sizes, hosts, free)
			return
		}
		free[hosts[t]] -= sizes[t]
	}
}

// pack puts tasks of a job on the first hosts with room.
func pack(tasks []int, sizes []int32, hosts []southbound.HostID, free []int32) {
	some := make([]int32, len(tasks))
	for i, t := range tasks {
		some[i] = sizes[t]
	}
	found := controller.Pack(some, free)
	if found == nil {
		panic("place: no room for a job that was let in")
	}
	for i, t := range tasks {
		hosts[t] = found[i]
	}
}
