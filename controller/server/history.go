package server

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"lightloom/controller/api"
	"lightloom/controller/history"
	"lightloom/controller/state"
)

// historyFile is where a replica keeps, in its state directory, the jobs that have left its state.
const historyFile = "history.db"

// DefaultRetention is how long a controller knows jobs after their end.
const DefaultRetention = 24 * time.Hour

// jobsStay is how long jobs stay in the state of each replica after their end.
const jobsStay = 10 * time.Second

// openHistory has jobs leave the state for a file.
func (p *replicaProcess) openHistory() (err error) {
	path := filepath.Join(p.config.Dir, historyFile)
	if p.history, err = history.Open(path, p.config.Retention, p.log); err == nil {
		p.state.KeepEnded(state.Keep{Ended: jobsStay, Requests: p.config.requestsStay(), Left: p.history.Put})
	}
	return err
}

// requestsStay is how long the state knows requests: somewhat longer than the API takes them again, for
// its clock is not that of the log.
func (c *ReplicaConfig) requestsStay() time.Duration {
	if c.Retention == 0 {
		return 0
	}
	return c.Retention + requestMargin
}

const requestMargin = 2 * time.Minute

// requestsKnown is how long the API takes a request again; 0: for good.
func (p *replicaProcess) requestsKnown() time.Duration {
	var r state.Retention
	p.node.View(func(uint64) { r, _ = p.state.Retention() })
	return max(0, r.Requests-requestMargin)
}

// snapshot returns the state as it stands, with the jobs that have left it if all is set.
func (p *replicaProcess) snapshot(all bool) (s api.Snapshot, err error) {
	at, frozen := p.node.Freeze()
	s.Index, s.Digest = at, frozen.Digest()
	if !all {
		s.JSON, err = frozen.Snapshot()
		return s, err
	}
	d := *frozen.(*state.Frozen).Data()
	if err := withHistory(&d, p.history); err != nil {
		return s, err
	}
	s.JSON, err = json.Marshal(&d)
	return s, err
}

// withHistory adds the jobs that have left a state. Its slices are replaced, not written to.
func withHistory(d *state.Data, h *history.Store) error {
	var jobs []*state.Job
	var tasks []state.Task
	coflows := slices.Clone(d.Coflows)
	live := d.Jobs
	stays := func(upTo func(*state.Job) bool) {
		for ; len(live) > 0 && upTo(live[0]); live = live[1:] {
			jobs, tasks = append(jobs, live[0]), append(tasks, d.TasksOf(live[0])...)
		}
	}
	err := h.Jobs(0, func(l state.Left) bool {
		stays(func(j *state.Job) bool { return j.ID < l.Job.ID })
		if len(live) == 0 || live[0].ID != l.Job.ID { // else it has left since the state was frozen
			jobs, tasks, coflows = append(jobs, l.Job), append(tasks, l.Tasks...), append(coflows, l.Coflows...)
		}
		return true
	})
	stays(func(*state.Job) bool { return true })
	slices.SortFunc(coflows, func(a, b *state.Coflow) int { return cmp.Compare(a.ID, b.ID) })
	d.Jobs, d.Tasks, d.Coflows = jobs, tasks, coflows
	return err
}
