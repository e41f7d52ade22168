package state

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Next are the ids that the next job, its first task and its first coflow get. No id is given twice.
type Next struct {
	Job    controller.JobID    `json:"job"`
	Task   southbound.TaskID   `json:"task"`
	Coflow southbound.CoflowID `json:"coflow"`
}

// Job returns a job by its id, nil if it is not there.
func (d *Data) Job(id controller.JobID) *Job {
	if i, ok := d.jobAt(id); ok {
		return d.Jobs[i]
	}
	return nil
}

// Coflow returns a coflow by its id, nil if it is not there.
func (d *Data) Coflow(id southbound.CoflowID) *Coflow {
	if i, ok := d.coflowAt(id); ok {
		return d.Coflows[i]
	}
	return nil
}

// TasksOf returns the tasks of a job that is there.
func (d *Data) TasksOf(j *Job) []Task {
	n := j.Tasks()
	if n == 0 {
		return nil
	}
	return d.Tasks[d.tasksAt(j):][:n:n]
}

// jobAt returns the place of a job. If no job between the first and it has left, that is its distance
// from the first.
func (d *Data) jobAt(id controller.JobID) (int, bool) {
	if len(d.Jobs) == 0 {
		return 0, false
	}
	if i := int(id) - int(d.Jobs[0].ID); i >= 0 && i < len(d.Jobs) && d.Jobs[i].ID == id {
		return i, true
	}
	return slices.BinarySearchFunc(d.Jobs, id,
		func(j *Job, id controller.JobID) int { return cmp.Compare(j.ID, id) })
}

func (d *Data) coflowAt(id southbound.CoflowID) (int, bool) {
	if len(d.Coflows) == 0 {
		return 0, false
	}
	if i := int(id) - int(d.Coflows[0].ID); i >= 0 && i < len(d.Coflows) && d.Coflows[i].ID == id {
		return i, true
	}
	return slices.BinarySearchFunc(d.Coflows, id, func(c *Coflow, id southbound.CoflowID) int {
		return cmp.Compare(c.ID, id)
	})
}

// tasksAt returns the place of the first task of a job that has some.
func (d *Data) tasksAt(j *Job) int {
	i := int(j.FirstTask) - int(d.Jobs[0].FirstTask)
	if i >= 0 && i < len(d.Tasks) && d.Tasks[i].Job == j.ID && (i == 0 || d.Tasks[i-1].Job != j.ID) {
		return i
	}
	i, _ = slices.BinarySearchFunc(d.Tasks, j.ID,
		func(t Task, id controller.JobID) int { return cmp.Compare(t.Job, id) })
	return i
}

// Task returns a task and its job, nil if they are not there. Borrowed.
func (s *State) Task(id southbound.TaskID) (*Job, *Task) {
	d := &s.d
	if len(d.Tasks) == 0 || id < d.Jobs[0].FirstTask {
		return nil, nil
	}
	if i := int(id - d.Jobs[0].FirstTask); i < len(d.Tasks) {
		if j := d.Job(d.Tasks[i].Job); d.tasksAt(j)+int(id-j.FirstTask) == i {
			return j, &d.Tasks[i]
		}
	}
	k, found := slices.BinarySearchFunc(d.Jobs, id, func(j *Job, id southbound.TaskID) int {
		return cmp.Compare(j.FirstTask, id)
	})
	if !found {
		k-- // of jobs without tasks that have the same first task, the one with tasks is the last
	}
	for ; k < len(d.Jobs) && d.Jobs[k].FirstTask <= id; k++ {
		if j := d.Jobs[k]; id < j.FirstTask+southbound.TaskID(j.Tasks()) {
			return j, s.task(j, int(id-j.FirstTask))
		}
	}
	return nil, nil
}
