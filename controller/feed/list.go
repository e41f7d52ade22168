package feed

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/state"
)

// Job implements api.JobReader.
func (f *Feed) Job(id controller.JobID) (out *apiv1.GetJobResponse, err error) {
	f.cfg.View(func(uint64) {
		if j := f.cfg.State.Job(id); j != nil {
			out = f.whole(live(f.cfg.State, j))
		}
	})
	if out != nil {
		return out, nil
	}
	l, known, err := f.cfg.History.Job(id) // what has left meanwhile is there
	if !known || err != nil {
		return nil, err
	}
	f.cfg.View(func(uint64) { out = f.whole(past(l)) }) // the epoch is the state's
	return out, nil
}

// mostSeen bounds the jobs that are looked at for a page, of the state and of the history each.
const mostSeen = 4096

// Jobs implements api.JobReader.
func (f *Feed) Jobs(q api.JobQuery) (page []*apiv1.JobInfo, next controller.JobID, err error) {
	if ids := q.Filter.GetIds(); len(ids) > 0 {
		return f.named(q, ids)
	}
	b := browse{q: q, next: api.NoJob}
	f.cfg.View(func(uint64) { b.state(f) })
	if !liveOnly(q.Filter.GetPhases()) {
		err = b.past(f)
	}
	page, next = b.page()
	return page, next, err
}

// liveOnly reports whether only jobs of the state can be in one of the phases.
func liveOnly(phases []apiv1.JobPhase) bool {
	return len(phases) > 0 && !slices.Contains(phases, apiv1.JobPhase_JOB_PHASE_ENDED) &&
		!slices.Contains(phases, apiv1.JobPhase_JOB_PHASE_CANCELLED)
}

// named is Jobs of a filter that names them.
func (f *Feed) named(q api.JobQuery, ids []int32) (page []*apiv1.JobInfo, next controller.JobID, err error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b int32) int { return order(q, controller.JobID(a), controller.JobID(b)) })
	for _, id := range slices.Compact(ids) {
		if order(q, controller.JobID(id), q.From) < 0 {
			continue
		}
		if len(page) == q.Most {
			return page, controller.JobID(id), nil
		}
		j, err := f.Job(controller.JobID(id))
		if err != nil {
			return nil, api.NoJob, err
		}
		if j != nil && api.Matches(q.Filter, j.Job) {
			j.Job.Hosts = j.Job.Hosts[:min(len(j.Job.Hosts), someHosts)]
			page = append(page, j.Job)
		}
	}
	return page, api.NoJob, nil
}

// order compares two ids in the order of a query.
func order(q api.JobQuery, a, b controller.JobID) int {
	if q.Down {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// browse collects one page.
type browse struct {
	q     api.JobQuery
	found []*apiv1.JobInfo
	next  controller.JobID // the first job that was not looked at; NoJob: all were
}

// stop notes that jobs from an id on were not looked at.
func (b *browse) stop(at controller.JobID) {
	if b.next == api.NoJob || order(b.q, at, b.next) < 0 {
		b.next = at
	}
}

// mayMatch is a cheap test before all is known of a job.
func (b *browse) mayMatch(j *state.Job) bool {
	return api.Matches(b.q.Filter, &apiv1.JobInfo{Phase: phase(j), User: j.User, Name: j.Name})
}

// state looks at the jobs of the state.
func (b *browse) state(f *Feed) {
	jobs := f.cfg.State.Live().Jobs
	at, there := slices.BinarySearchFunc(jobs, b.q.From, func(j *state.Job, id controller.JobID) int {
		return cmp.Compare(j.ID, id)
	})
	step := 1
	if b.q.Down {
		if step = -1; !there {
			at--
		}
	}
	for seen := 0; at >= 0 && at < len(jobs); at, seen = at+step, seen+1 {
		if seen == mostSeen || len(b.found) == b.q.Most {
			b.stop(jobs[at].ID)
			return
		}
		if b.mayMatch(jobs[at]) {
			b.found = append(b.found, f.info(live(f.cfg.State, jobs[at]), someHosts))
		}
	}
}

// past looks at the jobs of the history.
func (b *browse) past(f *Feed) error {
	walk := f.cfg.History.Jobs
	if b.q.Down {
		walk = f.cfg.History.JobsDown
	}
	seen, found := 0, 0
	return walk(b.q.From, func(l state.Left) bool {
		if seen == mostSeen || found == b.q.Most {
			b.stop(l.Job.ID)
			return false
		}
		if seen++; b.mayMatch(l.Job) {
			found++
			f.cfg.View(func(uint64) { b.found = append(b.found, f.info(past(l), someHosts)) })
		}
		return true
	})
}

// page returns what was found up to the first job that was not looked at. A job that has left the state
// meanwhile was found twice.
func (b *browse) page() ([]*apiv1.JobInfo, controller.JobID) {
	slices.SortStableFunc(b.found, func(x, y *apiv1.JobInfo) int {
		return order(b.q, controller.JobID(x.Id), controller.JobID(y.Id))
	})
	page := slices.CompactFunc(b.found, func(x, y *apiv1.JobInfo) bool { return x.Id == y.Id })
	for i, j := range page {
		if id := controller.JobID(j.Id); i == b.q.Most || b.next != api.NoJob && order(b.q, id, b.next) >= 0 {
			if i == b.q.Most {
				b.stop(id)
			}
			return page[:i], b.next
		}
	}
	return page, b.next
}
