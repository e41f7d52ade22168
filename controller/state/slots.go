package state

import (
	"fmt"

	"lightloom/southbound"
)

// size returns how many slots a task takes, by its number within its job.
func (s *State) size(j *Job, i int) int32 {
	stage := int(s.task(j, i).Stage)
	first, _ := j.StageTasks(stage)
	return j.Job.Stages[stage].Tasks[i-first].Size()
}

// take has a task take its slots of a host in held, which counts what others of the same plan take, if there are so
// many.
func (s *State) take(j *Job, i int, h southbound.HostID, held map[southbound.HostID]int32) error {
	size := s.size(j, i)
	if held[h] += size; held[h] <= s.free[h] {
		return nil
	}
	if size > 1 {
		return fmt.Errorf("place job %d: host %d has not %d slots left for task %d", j.ID, h, size, i)
	}
	return fmt.Errorf("place job %d: host %d has no slot left", j.ID, h)
}
