package state

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// Asked is what the entries of one plan take of hosts. Each is checked as if those before it were applied, so that none
// is refused only when it is.
type Asked struct {
	slots   map[southbound.HostID]int32
	vcpus   map[southbound.HostID]int64 // thousandths for good; nil: nothing follows in the plan
	lent    map[southbound.HostID]int64
	resized map[southbound.TaskID]bool
}

// NewAsked returns that of a plan of which nothing has been checked yet.
func NewAsked() *Asked {
	return &Asked{slots: map[southbound.HostID]int32{}, vcpus: map[southbound.HostID]int64{},
		lent: map[southbound.HostID]int64{}, resized: map[southbound.TaskID]bool{}}
}

// alone is that of one entry.
func alone() *Asked { return &Asked{slots: map[southbound.HostID]int32{}} }

// Reset is that of the next plan.
func (a *Asked) Reset() {
	clear(a.slots)
	clear(a.vcpus)
	clear(a.lent)
	clear(a.resized)
}

// Resized returns a task as it is once its vCPUs are changed, and how long it then takes. Its errors say why they
// cannot be; ErrStale where the task has ended. What it is given for good must be free, and what it is lent beside that
// as well; asked grows by both.
func (s *State) Resized(r *controller.Resize, asked *Asked, now time.Duration) (Task, time.Duration, error) {
	j, t := s.Task(r.Task)
	switch {
	case t == nil && r.Task >= 0 && r.Task < s.d.Next.Task, t != nil && t.Ended != Unset:
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d, which has ended: %w", r.Task, ErrStale)
	case t == nil:
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d: no such task", r.Task)
	}
	if err := s.checkResize(j, t, r); err != nil {
		return Task{}, 0, err
	}
	if asked.resized[r.Task] {
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d: the plan has changed them already", r.Task)
	}
	i, h := int(r.Task-j.FirstTask), t.Host
	more, lends := int64(r.MilliVCPUs)-s.milli(j, i), int64(r.ExtraMilli-t.ExtraMilli)
	left, lent := s.vcpus[h]-asked.vcpus[h]-more, s.lent[h]+asked.lent[h]+lends
	if lends > 0 && lent > left || left < min(0, s.vcpus[h]-asked.vcpus[h]) {
		return Task{}, 0, fmt.Errorf("change vCPUs of task %d: host %d has %d thousandths left, and lends %d", r.Task, h,
			left, lent)
	}
	if asked.vcpus != nil {
		asked.vcpus[h] += more
		asked.lent[h] += lends
		asked.resized[r.Task] = true
	}
	first, _ := j.StageTasks(int(t.Stage))
	stage := &j.Job.Stages[t.Stage]
	after := stage.Resized(s.fabric, i-first, *t, r, now)
	return after, stage.Runs(s.fabric, i-first, &after), nil
}

// checkResize returns why no host could change the vCPUs of a task so; ErrStale where nothing would change.
func (s *State) checkResize(j *Job, t *Task, r *controller.Resize) error {
	first, _ := j.StageTasks(int(t.Stage))
	has := int64(0)
	if t.Host >= 0 {
		has = int64(s.fabric.VCPUs(int(t.Host))) * controller.MilliVCPUs
	}
	switch asks := int64(r.MilliVCPUs) + int64(r.ExtraMilli); {
	case t.Started == Unset || t.Host < 0:
		return fmt.Errorf("change vCPUs of task %d: it has not begun", r.Task)
	case j.Job.Stages[t.Stage].Tasks[int(r.Task-j.FirstTask)-first].Load == 0:
		return fmt.Errorf("change vCPUs of task %d: it has no load, and takes as long on any number", r.Task)
	case r.MilliVCPUs <= 0 || r.ExtraMilli < 0:
		return fmt.Errorf("change vCPUs of task %d to %d and %d thousandths: take 1 up, and 0 up beside them",
			r.Task, r.MilliVCPUs, r.ExtraMilli)
	case asks > has:
		return fmt.Errorf("change vCPUs of task %d: it asks for %d thousandths, and host %d has %d in all", r.Task,
			asks, t.Host, has)
	case r.MilliVCPUs == t.MilliVCPUs && r.ExtraMilli == t.ExtraMilli:
		return ErrStale
	}
	return nil
}

// resize changes the vCPUs of a running task.
func (s *State) resize(e *Entry) error {
	after, _, err := s.Resized(e.Resize, alone(), e.At)
	if err != nil {
		return err
	}
	j, t := s.Task(e.Resize.Task)
	i := int(e.Resize.Task - j.FirstTask)
	s.vacate(j, i)
	*t = after
	s.occupy(j, i)
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
