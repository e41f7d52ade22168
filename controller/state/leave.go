package state

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// Keep says how long what is over stays in the state. It is the same on every replica, and set before
// the first entry.
type Keep struct {
	// Ended is how long a job stays after its end has been applied: longer than a leader takes to draw the
	// consequences. One that was cancelled stays much longer, since each new leader tells the hosts again.
	// 0: for good.
	Ended time.Duration
	// Requests is how long the id of a request is known after it was granted; 0: for good.
	Requests time.Duration
	// Together is how many jobs leave at once at least, since all jobs are looked at each time; 0: 32.
	Together int
	// Left gets the jobs that leave, in the order of the log, each time the same. It is called while
	// entries are applied; can be nil.
	Left func([]Left)
}

// Left is a job that has left the state, for good: neither it nor its ids come back.
type Left struct {
	Job     *Job      `json:"job"`
	Tasks   []Task    `json:"tasks,omitempty"`
	Coflows []*Coflow `json:"coflows,omitempty"`
}

// leavers are the jobs that have ended and can leave, by when.
type leavers struct {
	kept    Keep
	leaving []leaver
}

type leaver struct {
	Leaves time.Duration
	job    controller.JobID
}

// KeepEnded says how long what is over stays; by default, it stays for good.
func (s *State) KeepEnded(k Keep) { s.kept = k }

const cancelledStays = 60 // times as long as others

// over queues a job that has ended.
func (s *State) over(j *Job, e *Entry) {
	if s.kept.Ended == 0 {
		return
	}
	stays := s.kept.Ended
	if j.Cancelled {
		stays *= cancelledStays
	}
	j.Leaves = max(s.d.At, e.At) + stays
	s.queueLeaving(j)
}

func (s *State) queueLeaving(j *Job) {
	i := len(s.leaving)
	for i > 0 && s.leaving[i-1].Leaves > j.Leaves {
		i--
	}
	s.leaving = slices.Insert(s.leaving, i, leaver{j.Leaves, j.ID})
}

// leave lets jobs go whose time is over, unless a circuit reservation is for one of their coflows.
func (s *State) leave() {
	due, _ := slices.BinarySearchFunc(s.leaving, s.d.At+1, func(l leaver, at time.Duration) int {
		return cmp.Compare(l.Leaves, at)
	})
	if due < max(cmp.Or(s.kept.Together, 32), len(s.d.Jobs)/8) {
		return
	}
	begun := s.ledger.carried()
	var left []Left
	stay := s.leaving[:0]
	for i, l := range s.leaving {
		j := s.Job(l.job)
		if i >= due || slices.ContainsFunc(coflowsOf(j), func(id southbound.CoflowID) bool {
			return begun[id] || s.ledger.reserved(id)
		}) {
			stay = append(stay, l)
			continue
		}
		left = append(left, s.d.leftOf(j))
	}
	s.leaving = stay
	s.remove(left)
	if s.kept.Left != nil && len(left) > 0 {
		s.kept.Left(left)
	}
}

// leftOf is a job of the state as one that has left.
func (d *Data) leftOf(j *Job) Left {
	x := Left{Job: j, Tasks: slices.Clone(d.TasksOf(j))}
	for _, id := range coflowsOf(j) {
		x.Coflows = append(x.Coflows, d.Coflow(id))
	}
	return x
}

// LeftSince returns the jobs of d that had left a state before another was taken of it: d has all jobs,
// live has those that stayed, and may be older.
func (d *Data) LeftSince(live *Data) []Left {
	var left []Left
	for _, j := range d.Jobs {
		if _, stays := live.jobAt(j.ID); !stays && j.ID < live.Next.Job {
			left = append(left, d.leftOf(j))
		}
	}
	return left
}

// remove takes jobs out.
func (s *State) remove(left []Left) {
	for _, x := range left {
		x.Job.left = true
		if len(x.Tasks) > 0 {
			s.d.Turnover = max(s.d.Turnover, x.Job.Placed, x.Job.Ended)
		}
	}
	rest, tasks := s.d.Tasks, s.d.Tasks[:0]
	if s.sharedTasks {
		tasks, s.sharedTasks = nil, false
	}
	for _, j := range s.d.Jobs {
		n := j.Tasks()
		if !j.left {
			tasks = append(tasks, rest[:n]...)
		}
		rest = rest[n:]
	}
	s.d.Tasks = tasks
	s.d.Coflows = slices.DeleteFunc(s.d.Coflows, func(c *Coflow) bool { return s.Job(c.Job).left })
	s.d.Jobs = slices.DeleteFunc(s.d.Jobs, func(j *Job) bool { return j.left })
}

// carried returns the coflows that begun reservations are for.
func (l *ledger) carried() map[southbound.CoflowID]bool {
	out := map[southbound.CoflowID]bool{}
	for in := range l.holds {
		if r := l.holding(southbound.Port(in)); r != nil {
			out[r.Coflow] = true
		}
	}
	return out
}

// reserved reports whether a coflow has reservations that have not begun.
func (l *ledger) reserved(c southbound.CoflowID) bool { return l.opened.Get(opening(c)) != nil }
