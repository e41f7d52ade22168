package joint

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/place"
	"lightloom/southbound"
)

// together bounds how many jobs are placed in more orders than one.
const together = 8

// planned is places for some jobs, in their order, and, where there are several, the sum of all jobs' ends with them.
type planned struct {
	hosts [][]southbound.HostID
	sum   float64
}

// plan finds places for jobs that fit together: one after the other as they are and, where there are
// several but not too many, by their tasks and by their bytes, either way. The best of these orders
// counts, the first among equals.
func (c *CrossLayer) plan(v *controller.View, jobs []*controller.Job, free []int32) [][]southbound.HostID {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	best := c.planInOrder(v, jobs, order, free)
	if len(jobs) == 1 || len(jobs) > together {
		return best.hosts
	}
	for k := range 4 {
		slices.SortStableFunc(order, func(a, b int) int {
			if k%2 == 1 {
				a, b = b, a
			}
			if k < 2 {
				return cmp.Compare(jobs[a].Tasks(), jobs[b].Tasks())
			}
			return cmp.Compare(bytesOf(jobs[a]), bytesOf(jobs[b]))
		})
		if p := c.planInOrder(v, jobs, order, free); p.sum < best.sum-alike {
			best = p
		}
	}
	return best.hosts
}

func bytesOf(j *controller.Job) (sum uint64) {
	for k := range j.Edges {
		sum += uint64(j.Edges[k].Bytes)
	}
	return sum
}

func (c *CrossLayer) planInOrder(v *controller.View, jobs []*controller.Job, order []int,
	free []int32) planned {
	f, p := newForecast(v, c.blind, -1), planned{hosts: make([][]southbound.HostID, len(jobs))}
	free = slices.Clone(free)
	waits := 0.0
	for _, i := range order {
		j := jobs[i]
		units, size, fits := place.Units(j, free)
		if !fits {
			waits++
			continue
		}
		blocks := place.Blocks(v, j)
		p.hosts[i] = search(f, j, slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks()), units,
			blocks)
		for _, h := range p.hosts[i] {
			free[h] -= size // smaller ones of the job leave more, for the next decision
		}
		if len(jobs) > 1 {
			p.sum = f.keep(j, p.hosts[i], blocks)
		}
	}
	p.sum += waits * forever
	return p
}
