package explain

import (
	"fmt"
	"slices"
	"sync"

	"lightloom/controller"
	"lightloom/controller/policy/route"
)

// Memory keeps what policies last said of jobs, for those who ask why a job is where it is. It belongs
// to one replica: what another leader has decided is not in it.
type Memory struct {
	mu    sync.Mutex
	jobs  map[controller.JobID]*remembered
	order []controller.JobID // in which their first lines came
}

// remembered are the latest lines of a job.
type remembered struct {
	lines   []string
	dropped int // earlier ones
}

// Bounds of a Memory.
const (
	mostJobs  = 512
	mostLines = 64 // of a job
)

// NewMemory returns an empty one.
func NewMemory() *Memory { return &Memory{jobs: map[controller.JobID]*remembered{}} }

// Teller returns the function that a policy reports its reasons to.
func (m *Memory) Teller() route.Explainer {
	return func(v *controller.View, w route.Why) {
		id, known := jobOf(v, w)
		if !known {
			return
		}
		var line Line
		line.why(v, w)
		m.add(id, fmt.Sprintf("at %.2f s: %s", v.Now.Seconds(), line.says()))
	}
}

// jobOf returns the job that a reason is about.
func jobOf(v *controller.View, w route.Why) (controller.JobID, bool) {
	if w.Job != nil {
		return w.Job.ID, true
	}
	for i := range v.Coflows {
		if v.Coflows[i].ID == w.Coflow {
			return v.Coflows[i].Job, true
		}
	}
	return 0, false
}

func (m *Memory) add(id controller.JobID, line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.jobs[id]
	if r == nil {
		if len(m.order) == mostJobs {
			delete(m.jobs, m.order[0])
			m.order = slices.Delete(m.order, 0, 1)
		}
		r = &remembered{}
		m.jobs[id], m.order = r, append(m.order, id)
	}
	if r.lines = append(r.lines, line); len(r.lines) > mostLines {
		r.lines = slices.Delete(r.lines, 0, 1)
		r.dropped++
	}
}

// Of returns what was said of a job, the earliest first; nothing where the policy gives no reasons.
func (m *Memory) Of(id controller.JobID) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.jobs[id]
	if r == nil {
		return nil
	}
	out := slices.Clone(r.lines)
	if r.dropped > 0 {
		out = slices.Insert(out, 0, fmt.Sprintf("%d earlier decisions are not kept", r.dropped))
	}
	return out
}
