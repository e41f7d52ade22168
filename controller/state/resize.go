package state

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// Resized returns a task as it is once its vCPUs are changed, and how long it then takes. Its errors say why they
// cannot be; ErrStale where the task has ended.
func (s *State) Resized(r *controller.Resize, now time.Duration) (Task, time.Duration, error) {
	j, t := s.Task(r.Task)
	switch {
	case t == nil && r.Task >= 0 && r.Task < s.d.Next.Task, t != nil && t.Ended != Unset:
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d, which has ended: %w", r.Task, ErrStale)
	case t == nil:
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d: no such task", r.Task)
	}
	i := int(r.Task - j.FirstTask)
	first, _ := j.StageTasks(int(t.Stage))
	stage := &j.Job.Stages[t.Stage]
	has := int64(0)
	if t.Host >= 0 {
		has = int64(s.fabric.VCPUs(int(t.Host))) * controller.MilliVCPUs
	}
	switch asks := int64(r.MilliVCPUs) + int64(r.ExtraMilli); {
	case t.Started == Unset || t.Host < 0:
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d: it has not begun", r.Task)
	case stage.Tasks[i-first].Load == 0:
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d: it has no load, and takes as long on any number", r.Task)
	case r.MilliVCPUs <= 0 || r.ExtraMilli < 0:
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d to %d and %d thousandths: take 1 up, and 0 up beside them",
			r.Task, r.MilliVCPUs, r.ExtraMilli)
	case asks > has:
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d: it asks for %d thousandths, and host %d has %d in all", r.Task,
			asks, t.Host, has)
	case r.MilliVCPUs == t.MilliVCPUs && r.ExtraMilli == t.ExtraMilli:
		return Task{}, 0, ErrStale
	}
	after := stage.Resized(s.fabric, i-first, *t, r, now)
	return after, stage.Runs(s.fabric, i-first, &after), nil
}

// resize changes the vCPUs of a running task. What it is given for good must be free, and what it is lent beside that
// as well.
func (s *State) resize(e *Entry) error {
	after, _, err := s.Resized(e.Resize, e.At)
	if err != nil {
		return err
	}
	j, t := s.Task(e.Resize.Task)
	i, h := int(e.Resize.Task-j.FirstTask), t.Host
	left := s.vcpus[h] + s.milli(j, i) - int64(after.MilliVCPUs)
	if lent := s.lent[h] - int64(t.ExtraMilli) + int64(after.ExtraMilli); after.ExtraMilli > t.ExtraMilli && lent > left ||
		left < min(0, s.vcpus[h]) {
		return fmt.Errorf("change vCPUs of task %d: host %d has %d thousandths left, and lends %d", e.Resize.Task, h, left,
			lent)
	}
	s.vacate(j, i)
	*t = after
	s.occupy(j, i)
	return nil
}

// checkLent returns why tasks cannot have the vCPUs that a placement gives them: a plan takes back first what hosts
// lend.
func (s *State) checkLent(j *Job, p *controller.Placement) error {
	given := map[southbound.HostID]int64{}
	for i, milli := range p.MilliVCPUs {
		if h := p.Hosts[i]; milli > 0 {
			if given[h] += int64(milli); s.lent[h] > 0 && given[h]+s.lent[h] > s.vcpus[h] {
				return fmt.Errorf("place job %d: host %d has %d thousandths of a vCPU left, gives %d, and lends %d", j.ID, h,
					s.vcpus[h], given[h], s.lent[h])
			}
		}
	}
	return nil
}

// noteLoaded keeps the list of placed jobs with loads.
func (s *State) noteLoaded(j *Job) {
	i, listed := slices.BinarySearch(s.loaded, j.ID)
	switch live := j.Placed != Unset && j.Ended == Unset && (listed || j.Malleable()); {
	case live && !listed:
		s.loaded = slices.Insert(s.loaded, i, j.ID)
	case !live && listed:
		s.loaded = slices.Delete(s.loaded, i, i+1)
	}
}
