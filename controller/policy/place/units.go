package place

import (
	"slices"

	"lightloom/controller"
)

// Units returns the free slots of hosts in units of the largest task of a job, how many slots that is, and
// whether all of its tasks fit so. Policies that count tasks then place jobs of larger tasks like those of
// tasks of one slot.
func Units(j *controller.Job, free []int32) (units []int32, size int32, fits bool) {
	sizes := j.Sizes()
	if sizes == nil {
		return free, 1, true
	}
	size = slices.Max(sizes)
	units = make([]int32, len(free))
	room := 0
	for h, n := range free {
		units[h] = max(n, 0) / size
		room += int(units[h])
	}
	return units, size, room >= len(sizes)
}
