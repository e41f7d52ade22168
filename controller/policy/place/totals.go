package place

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// totals is what a decision asks of the tasks of an incremental job together. Slices are by stage, and are
// read only.
type totals struct {
	*jobShape
	job     *controller.Job
	changes uint64 // Partial.Changes

	unplaced  []int           // tasks without a host
	ended     []int           // tasks that have ended
	behind    []bool          // not all tasks that it receives from have ended
	lastBegun time.Duration   // when a task that has a host began last, or the job arrived
	latest    time.Duration   // when a task began last; 0 before one has
	ends      []time.Duration // when tasks ended, as far as that was less than Delay before the tasks were summed
	lastLocal time.Duration   // when a task that reads from no other rack began to compute last, or the job arrived
	running   int             // tasks that have a host and have not ended
	reading   int             // tasks that read their blocks over the network
	lost      bool            // a task that has ended has no host
	holds     tristate        // a task of a stage that waits for edges into it has a host; unknown before own asks

	guide *guided // what the CoScheduler makes of it; nil before it asks
	// What the Packer makes of it, once it has asked: tasks that receive, and stages that may start.
	receiving       []receiver
	candidate       []int
	counted, sought bool
	past            *past
	senders         *senders
	spare           *work // of the last decision; nil before one
	user            *user // of the last decision; nil before one
}

// jobShape is what never changes of a job. Slices are by stage, and are read only.
type jobShape struct {
	first    []int  // a stage's first task, and one more
	receiver []bool // it receives from others of the job
	inputs   []bool // one of its tasks reads a block
	waits    []bool // it waits for edges into it, before a task of the job has a host
	chained  bool   // the job reads what other jobs have written
	// Of Packer; nil before it asks: what it knows of the job beyond its decisions, and pushbox.Stage.Compute and Block.
	graph   *graph
	compute []func(task int, local bool) time.Duration
	block   []func(task int) float64
}

func newJobShape(j *controller.Job) *jobShape {
	n := len(j.Stages)
	flags := make([]bool, 3*n)
	x := &jobShape{first: make([]int, n+1), receiver: flags[:n:n], inputs: flags[n : 2*n : 2*n], waits: flags[2*n:],
		chained: j.Reading()}
	for k := range j.Stages {
		x.first[k+1] = x.first[k] + len(j.Stages[k].Tasks)
		x.inputs[k] = slices.ContainsFunc(j.Stages[k].Tasks, func(t controller.Task) bool { return t.Input > 0 })
	}
	for i := range j.Edges {
		e := &j.Edges[i]
		if e.FollowsTasks() {
			x.waits[e.To] = true
			x.receiver[e.To] = x.receiver[e.To] || e.Kind != controller.Fixed
		}
	}
	return x
}

// newTotals looks at all tasks of a job; p is nil before one has a host.
func newTotals(v *controller.View, j *controller.Job, p *controller.Partial) *totals {
	n := len(j.Stages)
	room := make([]int, 2*n) // one allocation for all, as there are many jobs
	t := &totals{jobShape: newJobShape(j), job: j, unplaced: room[:n:n], ended: room[n:], behind: make([]bool, n)}
	t.sum(v, p)
	return t
}

// sum looks at the tasks of the job again. It uses the memory of what it has summed before.
func (t *totals) sum(v *controller.View, p *controller.Partial) {
	anew := t.lost || t.past == nil || t.past.all != v.AllTaskChanges
	*t = totals{jobShape: t.jobShape, job: t.job, unplaced: t.unplaced, ended: t.ended, behind: t.behind, ends: t.ends[:0],
		lastBegun: t.job.Arrival, lastLocal: t.job.Arrival, spare: t.spare, user: t.user,
		receiving: t.receiving[:0], candidate: t.candidate[:0], senders: t.senders, past: t.past}
	if t.spare != nil {
		t.spare.over = true
	}
	for k := range t.unplaced {
		t.unplaced[k], t.ended[k] = t.first[k+1]-t.first[k], 0
	}
	switch {
	case p == nil:
	case v.AllTaskChanges == 0: // what has ended may change, too
		for k := range t.unplaced {
			for i := t.first[k]; i < t.first[k+1]; i++ {
				t.add(v.Now, k, p.Hosts[i], &p.Tasks[i])
			}
		}
	default:
		if t.past == nil {
			t.past = &past{ended: make([]int, len(t.ended))}
		}
		if anew {
			t.past.reset(t, v.AllTaskChanges)
		}
		t.addAll(v.Now, p, anew)
	}
	t.findBehind()
}

// tristate is what may not be known yet.
type tristate uint8

const (
	unknown tristate = iota
	no
	yes
)

// past is the sums of the tasks that had ended when the job was last summed. These stay as they are but for what
// changes many jobs, or while an output is lost.
type past struct {
	all                          uint64  // View.AllTaskChanges of that time
	open                         []int32 // the other tasks
	ended                        []int   // by stage
	lastBegun, latest, lastLocal time.Duration
	ends                         []time.Duration // within Delay
}

// reset forgets that tasks have ended.
func (x *past) reset(t *totals, all uint64) {
	x.all, x.open, x.ends = all, x.open[:0], x.ends[:0]
	for i := range t.first[len(t.first)-1] {
		x.open = append(x.open, int32(i))
	}
	clear(x.ended)
	x.lastBegun, x.latest, x.lastLocal = t.job.Arrival, 0, t.job.Arrival
}

// addAll counts the tasks that had ended, then the others. Unless anything was lost, what has no host waits.
func (t *totals) addAll(now time.Duration, p *controller.Partial, anew bool) {
	x := t.past
	t.lastBegun, t.latest, t.lastLocal = x.lastBegun, x.latest, x.lastLocal
	for k, n := range x.ended {
		t.ended[k] += n
		t.unplaced[k] -= n
	}
	for _, at := range x.ends {
		if at > now-Delay {
			t.ends = append(t.ends, at)
		}
	}
	x.ends = append(x.ends[:0], t.ends...)
	k, kept := 0, x.open[:0]
	for _, i := range x.open {
		for int(i) >= t.first[k+1] {
			k++
		}
		if at := p.Hosts[i]; at != controller.NoHost || anew {
			t.add(now, k, at, &p.Tasks[i])
			if s := &p.Tasks[i]; s.Ended >= 0 && s.Host != controller.NoHost {
				x.settle(now, k, s)
				continue
			}
		}
		kept = append(kept, i)
	}
	x.open = kept
}

// settle takes a task that has ended for good.
func (x *past) settle(now time.Duration, stage int, s *controller.TaskState) {
	x.ended[stage]++
	x.latest, x.lastBegun = max(x.latest, s.Begun()), max(x.lastBegun, s.Begun())
	if !s.NonLocal {
		x.lastLocal = max(x.lastLocal, s.Started)
	}
	if s.Ended > now-Delay {
		x.ends = append(x.ends, s.Ended)
	}
}

// add counts a task that a policy has put on a host.
func (t *totals) add(now time.Duration, stage int, at southbound.HostID, x *controller.TaskState) {
	begun := x.Begun()
	t.latest = max(t.latest, begun)
	if !x.NonLocal {
		t.lastLocal = max(t.lastLocal, x.Started)
	}
	if x.Host != controller.NoHost {
		t.unplaced[stage]--
		t.lastBegun = max(t.lastBegun, begun)
	}
	if x.Reading {
		t.reading++
	}
	switch {
	case x.Ended >= 0:
		t.ended[stage]++
		t.lost = t.lost || x.Host == controller.NoHost
		if x.Ended > now-Delay {
			t.ends = append(t.ends, x.Ended)
		}
	case at != controller.NoHost:
		t.running++
	}
}

// work returns the job as a decision begins: the one of the last decision, unless that has placed tasks of it. p is nil
// before a task has a host.
func (t *totals) work(v *controller.View, p *controller.Partial) *work {
	w := t.spare
	if w == nil {
		n := len(t.job.Stages)
		room := make([]int, 2*n)
		w = &work{over: true, next: room[:n:n], open: room[n:]}
		t.spare = w
	}
	if w.over || w.own {
		*w = work{totals: t, job: t.job, next: w.next, open: w.open}
		copy(w.next, t.first)
		copy(w.open, t.unplaced)
	}
	w.user, w.begun, w.plan, w.away, w.last, w.aims = nil, false, nil, false, t.lastBegun, w.aims.on(v.Fabric)
	w.waits, w.policyState, w.kept, w.blocks = t.waits, nil, false, nil
	if p != nil {
		w.hosts, w.tasks, w.waits = p.Hosts, p.Tasks, p.Waits
		w.policyState, w.kept = p.PolicyState, p.PolicyState != nil
	}
	return w
}

// findBehind finds the stages that receive from one that goes on.
func (t *totals) findBehind() {
	clear(t.behind)
	for i := range t.job.Edges {
		if e := &t.job.Edges[i]; e.Kind != controller.Fixed {
			t.behind[e.To] = t.behind[e.To] || t.ended[e.From] < t.first[e.From+1]-t.first[e.From]
		}
	}
}

// jobMemory keeps the totals and users of the jobs of the last decision. It is scratch: what it holds would be summed
// again.
type jobMemory struct {
	waiting, begun totalsList
	users          userList
	slots          slotAllocator // for its memory
}

// begin starts a decision.
func (m *jobMemory) begin(v *controller.View) *slotAllocator {
	if m == nil {
		return &slotAllocator{v: v}
	}
	m.waiting.begin()
	m.begun.begin()
	m.users.asked++
	y := &m.slots
	clear(y.works)
	*y = slotAllocator{v: v, memory: m, works: y.works[:0], alive: y.alive, standing: y.standing, ever: y.ever,
		free: y.free, rack: y.rack, recent: y.recent[:0]}
	return y
}

// of returns the totals of a job; p is nil before one of its tasks has a host. It remembers nothing where the view
// counts no changes. Jobs are asked for by id; what is asked for out of order is summed again.
func (m *jobMemory) of(v *controller.View, j *controller.Job, p *controller.Partial) *totals {
	if m == nil || v.TaskChanges == 0 || p != nil && p.Changes == 0 {
		return newTotals(v, j, p)
	}
	changes, in := uint64(0), &m.waiting
	if p != nil {
		changes, in = p.Changes, &m.begun
	}
	t := in.find(j.ID)
	switch {
	case t == nil || t.job != j:
		t = newTotals(v, j, p)
	case t.changes != changes:
		t.sum(v, p)
	}
	t.changes = changes
	in.now = append(in.now, t)
	return t
}

// forget drops the totals of all jobs, which are over.
func (m *jobMemory) forget() {
	if m != nil {
		*m = jobMemory{}
	}
}

// totalsList is the totals of jobs, by id: those of this decision, and from one on those of the one before.
type totalsList struct {
	now, was []*totals
	at       int
}

func (l *totalsList) begin() {
	clear(l.was)
	l.now, l.was, l.at = l.was[:0], l.now, 0
}

// find returns what the last decision has kept of a job; nil for nothing.
func (l *totalsList) find(id controller.JobID) *totals {
	for ; l.at < len(l.was) && l.was[l.at].job.ID <= id; l.at++ {
		if t := l.was[l.at]; t.job.ID == id {
			return t
		}
	}
	return nil
}

// userList is the users of jobs, by name.
type userList struct {
	all   []*user
	asked uint64 // decisions
}

// of returns the user of a job, without what the last decision knew of it.
func (l *userList) of(t *totals) *user {
	if t.user == nil || t.user.asked+1 < l.asked {
		i, found := slices.BinarySearchFunc(l.all, t.job.User, func(u *user, name string) int {
			return cmp.Compare(u.name, name)
		})
		if !found {
			l.all = slices.Insert(l.all, i, &user{name: t.job.User})
		}
		t.user = l.all[i]
	}
	u := t.user
	if u.asked != l.asked {
		clear(u.works)
		*u = user{name: u.name, works: u.works[:0], asked: l.asked}
	}
	return u
}

// present drops the users who have no job any more, and returns the others.
func (l *userList) present() []*user {
	l.all = slices.DeleteFunc(l.all, func(u *user) bool { return u.asked != l.asked })
	return l.all
}
