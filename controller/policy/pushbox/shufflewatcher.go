package pushbox

import (
	"slices"

	"lightloom/southbound"
)

// ShuffleWatcher's three techniques (Ahmad et al., "ShuffleWatcher: Shuffle-aware Scheduling in
// Multi-tenant MapReduce Clusters", ATC 2014): a busy network delays a job's shuffle, maps go to as few
// nodes as the copies of their blocks allow, and reduces to the nodes that hold the maps' output.

// watch is the task that takes a slot of a machine, or of one that holds more of its input.
func (o *Scheduler) watch(machine int) (Choice, bool) {
	busy := o.Machines[machine].Use >= o.Busy
	if busy {
		if c, ok := o.turn(machine, true); ok {
			return c, true
		}
	}
	c, ok := o.turn(machine, false)
	if !ok || c.Task.Input <= 0 {
		return c, ok
	}
	if at := o.holder(&c, busy); at != machine {
		c.Machine, c.Why = at, Holds
	}
	return c, true
}

// holder is the machine with a slot that holds most of a task's input for each task of its job that
// receives there or would, so that they are where the output is in proportion to it: first by rack, as
// what stays in a rack does not pass the core. A busy machine is as good as others where the one that
// offers its slot is busy, too.
func (o *Scheduler) holder(c *Choice, busy bool) int {
	h, best := c.Task.stage.held(o), c.Machine
	hosts, racks := o.receiving(c.Job), make([]int, len(h.rack))
	for i, n := range hosts {
		racks[o.Machines[i].Rack] += n
	}
	share := func(i int) (rack, host float64) {
		r := o.Machines[i].Rack
		return h.rack[r] / float64(1+racks[r]), h.host[i] / float64(1+hosts[i])
	}
	rack, host := share(best)
	for i := range o.Machines {
		if o.Machines[i].Free <= 0 || !busy && o.Machines[i].Use >= o.Busy {
			continue
		}
		if r, x := share(i); r > rack || r == rack && x > host {
			best, rack, host = i, r, x
		}
	}
	return best
}

// home reports whether a rack is one of those that the tasks of a stage go to which read blocks, and make
// what others receive.
func (o *Scheduler) home(j *Job, s *Stage, rack southbound.RackID) bool {
	if s.homes == nil {
		s.homes = o.homes(j, s)
	}
	return s.homes[rack]
}

// homes are, by rack, those that hold output of a stage already, and then as few as have a copy of each
// block: next whichever has a copy of the most blocks that no home has.
func (o *Scheduler) homes(j *Job, s *Stage) []bool {
	racks := o.racks()
	homes, count, left := make([]bool, racks), make([]int, racks), []int(nil)
	for t := s.First; t < s.End; t++ {
		if at := j.Hosts[t]; at >= 0 {
			homes[o.Machines[at].Rack] = true
		}
	}
	for t := s.First; t < s.End; t++ {
		if j.Hosts[t] < 0 && !j.reaches(homes, t) {
			left = append(left, t)
			j.copies(count, t, 1)
		}
	}
	for len(left) > 0 {
		best := 0
		for r := range count {
			if count[r] > count[best] {
				best = r
			}
		}
		if count[best] == 0 {
			break // the others have no copy anywhere
		}
		homes[best] = true
		left = slices.DeleteFunc(left, func(t int) bool {
			if !j.reaches(homes, t) {
				return false
			}
			j.copies(count, t, -1)
			return true
		})
	}
	return homes
}

// copies counts the copies of a task's block by rack.
func (j *Job) copies(count []int, task, by int) {
	for _, r := range j.block(task) {
		if r >= 0 && int(r) < len(count) {
			count[r] += by
		}
	}
}

// reaches reports whether one of the racks has a copy of a task's block.
func (j *Job) reaches(racks []bool, task int) bool {
	return slices.ContainsFunc(j.block(task), func(r southbound.RackID) bool {
		return r >= 0 && int(r) < len(racks) && racks[r]
	})
}
