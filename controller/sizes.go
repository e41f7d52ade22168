package controller

import (
	"fmt"
	"slices"

	"lightloom/southbound"
)

// checkSizes returns what is wrong with how many slots the tasks of a stage take, on hosts of that many
// each.
func (s *Stage) checkSizes(j *Job, slots int) error {
	for k := range s.Tasks {
		switch t := &s.Tasks[k]; {
		case t.Slots < 0:
			return fmt.Errorf("has a task %d of %d slots; take 1 or more", k, t.Slots)
		case t.Size() > 1 && j.Incremental:
			return fmt.Errorf("has a task %d of %d slots, and the tasks of an incremental job take one each", k, t.Slots)
		case int(t.Size()) > slots && t.Slots > 1:
			return fmt.Errorf("has a task %d of %d slots, and no host has more than %d: make it smaller, or give hosts more "+
				"slots (slots= in the fabric)", k, t.Slots, slots)
		}
	}
	return nil
}

// fits reports whether the tasks of a job can all have a host of an empty fabric at once.
func (j *Job) fits(slots, hosts int) bool {
	sizes := j.Sizes()
	if sizes == nil {
		return true // Check has counted them
	}
	return Pack(sizes, slices.Repeat([]int32{int32(slots)}, hosts)) != nil
}

// Pack finds hosts for tasks of those sizes, the largest first, each on the first host with room: nil
// if that does not come out. It finds room wherever sizes are one, and for others nearly always where
// there is some: who needs to know for certain has to search. free, by host, is what it takes the slots
// from; below zero counts as none.
func Pack(sizes, free []int32) []southbound.HostID {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(sizes[b]) - int(sizes[a]) })
	hosts := make([]southbound.HostID, len(sizes))
	h, last := 0, int32(0)
	for _, i := range order {
		if sizes[i] != last {
			h, last = 0, sizes[i] // a host that was too full for a larger one can take this
		}
		for h < len(free) && free[h] < sizes[i] {
			h++
		}
		if h == len(free) {
			return nil
		}
		free[h] -= sizes[i]
		hosts[i] = southbound.HostID(h)
	}
	return hosts
}
