package program

import (
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// placing is what a program that places jobs has been told.
type placing struct {
	*process
	waits map[controller.JobID]bool
	free  []int32
}

func (a *placing) answer(v *controller.View) ([]controller.Placement, error) {
	if len(v.Waiting) == 0 { // what has changed is told with the next job
		return nil, nil
	}
	if a.know(v) {
		a.waits, a.free = nil, nil
	}
	q := &Question{Now: v.Now}
	a.writeJobs(v, q)
	a.writeFree(v, q)
	got, err := a.ask(q)
	if err != nil {
		return nil, err
	}
	for _, p := range got.Place {
		delete(a.waits, p.Job)
	}
	return got.Place, nil
}

// writeJobs names the jobs that have come and those that have gone.
func (a *placing) writeJobs(v *controller.View, q *Question) {
	now := make(map[controller.JobID]bool, len(v.Waiting))
	for _, j := range v.Waiting {
		now[j.ID] = true
		if !a.waits[j.ID] {
			q.Jobs = append(q.Jobs, j)
		}
	}
	for id := range a.waits {
		if !now[id] {
			q.Gone = append(q.Gone, id)
		}
	}
	slices.Sort(q.Gone)
	slices.SortFunc(q.Jobs, func(a, b *controller.Job) int { return int(a.ID) - int(b.ID) })
	a.waits = now
}

func (a *placing) writeFree(v *controller.View, q *Question) {
	if a.free == nil {
		a.free = slices.Repeat([]int32{-1}, len(v.Free))
	}
	for h, n := range v.Free {
		if n = max(n, 0); n != a.free[h] {
			a.free[h] = n
			q.Free = append(q.Free, FreeSlots{southbound.HostID(h), n})
		}
	}
}
