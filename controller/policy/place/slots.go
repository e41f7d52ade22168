package place

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/southbound"
)

// slotAllocator is what the placement of incremental jobs works on for the length of one decision: the
// slots that are left, and the jobs with their users.
type slotAllocator struct {
	v      *controller.View
	memory *jobMemory
	free   []int32 // slots, by host
	rack   []int32 // slots, by rack
	works  []*work // by id
	users  []*user // by name

	receiving int // tasks of all stages that receive and have begun to take slots, but not to run
	slots     int // of the whole fabric that is alive
	alive     []southbound.HostID
	standing  []bool // by rack: one of its hosts is alive
	ever      []int  // by rack: slots of its hosts that are alive

	fleeting bool // what could be placed can change without an entry of tasks or slots: by time, or by the load of links

	one   [1]int          // of only
	order []int32         // of soonest
	half  []time.Duration // of soonest

	// Of Packer: tasks of stages that wait until each has a slot, and tasks that wait in their slots for
	// senders; and when tasks have ended within Delay: each end was a slot that jobs could have had.
	together, early int
	recent          []time.Duration
}

// user is the owner of jobs. Fair shares are equal: the user with the fewest running tasks is served next.
type user struct {
	name    string
	running int
	works   []*work       // by id
	last    time.Duration // when a task of theirs last began; 0 before one has
	asked   uint64        // userList.asked of the last decision with a job of theirs
}

// work is an incremental job with what this decision has placed of it so far.
type work struct {
	*totals
	job         *controller.Job
	user        *user
	hosts       []southbound.HostID    // by task; ours once own is set
	tasks       []controller.TaskState // by task; nil before any is placed
	waits       []bool                 // by stage
	own         bool
	over        bool  // the job's tasks have changed since
	next        []int // by stage: no task before it is without a host
	open        []int // by stage: tasks without a host
	begun       bool  // its receiving stages have been counted among the receiving
	policyState []int32
	kept        bool // memo stands in the state
	far         []int32
	blocks      []southbound.RackID // guideline.Replicas of each task; nil until asked for
	plan        *planned            // of the CoScheduler; nil before it asks
	aims        *aims               // of Dawn; nil before it asks
	away        bool                // no slot is left in a rack with data of a task without a host: slots only go
	last        time.Duration       // when a task of it last began, or it arrived
}

// newSlotAllocator looks at the incremental jobs of a view; nil where there is none.
func newSlotAllocator(v *controller.View, m *jobMemory) *slotAllocator {
	y := m.begin(v)
	for i := range v.Partial {
		y.add(v.Partial[i].Job, &v.Partial[i])
	}
	for _, j := range v.Waiting {
		if j.Incremental {
			y.add(j, nil)
		}
	}
	if len(y.works) == 0 {
		m.forget()
		return nil
	}
	slices.SortFunc(y.works, func(a, b *work) int { return cmp.Compare(a.job.ID, b.job.ID) })
	y.alive, y.standing, y.ever = alive(v, y.alive), zeros(y.standing, v.Fabric.Racks), zeros(y.ever, v.Fabric.Racks)
	for _, h := range y.alive {
		y.standing[v.Fabric.HostRack[h]] = true
		y.ever[v.Fabric.HostRack[h]] += v.Fabric.Spec.Slots
	}
	users := &userList{asked: 1}
	if m != nil {
		users = &m.users
	}
	for _, w := range y.works {
		y.reread(w)
		y.own(w, users.of(w.totals))
	}
	y.users = users.present()
	y.free, y.rack = usable(v.Free, y.free), zeros(y.rack, v.Fabric.Racks)
	for h := range y.free {
		y.rack[v.Fabric.HostRack[h]] += y.free[h]
	}
	y.slots = len(y.alive) * v.Fabric.Spec.Slots
	return y
}

// workOf returns the work of a job; nil where there is none.
func (y *slotAllocator) workOf(id controller.JobID) *work {
	i, found := slices.BinarySearchFunc(y.works, id, func(w *work, id controller.JobID) int {
		return cmp.Compare(w.job.ID, id)
	})
	if !found {
		return nil
	}
	return y.works[i]
}

func (y *slotAllocator) add(j *controller.Job, p *controller.Partial) {
	t := y.memory.of(y.v, j, p)
	y.works = append(y.works, t.work(y.v, p))
	for _, at := range t.ends {
		if at > y.v.Now-Delay {
			y.recent = append(y.recent, at)
		}
	}
}

// reread chooses where the output of ended tasks is read from whose host is lost: it takes no slot
// there. See copies.
func (y *slotAllocator) reread(w *work) {
	for i := 0; w.lost && i < len(w.tasks); i++ {
		if w.hosts[i] != controller.NoHost || w.tasks[i].Ended < 0 || len(y.alive) == 0 {
			continue
		}
		if !w.own {
			w.own, w.hosts = true, slices.Clone(w.hosts)
		}
		w.hosts[i] = y.alive[y.v.Rand("copies", uint64(w.job.FirstTask)+uint64(i)).IntN(len(y.alive))]
		w.open[w.tasks[i].Stage]--
	}
}

// own gives a job its user, and counts what it runs.
func (y *slotAllocator) own(w *work, u *user) {
	w.user = u
	u.works, u.last = append(u.works, w), max(u.last, w.latest)
	if w.hosts == nil {
		return // none of its tasks has a host
	}
	if w.holds == unknown {
		w.holds = no
		for k := range w.open {
			if w.waits[k] && w.open[k] < w.size(k) {
				w.holds = yes
			}
		}
	}
	for k := range w.open {
		w.user.running += w.size(k) - w.open[k] - w.ended[k]
	}
	if w.begun = w.holds == yes; w.begun {
		all, _ := w.receivers()
		y.receiving += all
	}
}

func (w *work) size(stage int) int { return w.first[stage+1] - w.first[stage] }

// receivers is how many tasks the job's receiving stages have that wait for what they receive, and how many
// the largest of these has.
func (w *work) receivers() (all, widest int) {
	for k, waits := range w.waits {
		if waits {
			all, widest = all+w.size(k), max(widest, w.size(k))
		}
	}
	return all, widest
}

// parentsEnded reports whether all tasks that a stage receives from have ended.
func (w *work) parentsEnded(stage int) bool { return !w.behind[stage] }

// source reports whether a stage receives nothing.
func (w *work) source(stage int) bool { return !w.receiver[stage] }

// mayPlaceReduces reports whether tasks of a receiving stage may take slots. A receiving task takes its
// slot before it can run, and two jobs that each held half of what both need would deadlock. So a job
// begins to take such slots only if all that have begun could hold all that they need at once: every
// other task ends by itself. Of one whose stages need more together each can hold what it needs while no
// other job does, since they come one after the other.
func (y *slotAllocator) mayPlaceReduces(w *work) bool {
	all, widest := w.receivers()
	return w.begun || y.receiving+all <= y.slots || y.receiving == 0 && widest <= y.slots
}

// task returns the first task of a stage without a host; false where all have one.
func (w *work) task(stage int) (int, bool) {
	for ; w.next[stage] < w.first[stage+1]; w.next[stage]++ {
		if w.hosts == nil || w.hosts[w.next[stage]] == controller.NoHost {
			return w.next[stage], true
		}
	}
	return 0, false
}

// put places a task.
func (y *slotAllocator) put(w *work, stage, task int, h southbound.HostID) {
	if !w.own {
		w.own = true
		if w.hosts == nil {
			w.hosts = slices.Repeat([]southbound.HostID{controller.NoHost}, w.job.Tasks())
		} else {
			w.hosts = slices.Clone(w.hosts)
		}
	}
	if !w.begun && w.waits[stage] {
		w.begun = true
		all, _ := w.receivers()
		y.receiving += all
	}
	w.hosts[task] = h
	w.open[stage]--
	w.user.running++
	y.free[h]--
	y.rack[y.v.Fabric.HostRack[h]]--
	if w.job.Stages[stage].Tasks[task-w.first[stage]].Input > 0 &&
		!w.near(task, southbound.RackID(y.v.Fabric.HostRack[h])) {
		w.far = append(w.far, int32(task))
	}
}

// near reports whether a rack holds a copy of a task's block.
func (w *work) near(task int, rack southbound.RackID) bool {
	const n = guideline.Replicas
	return len(w.blocks) >= n*(task+1) && slices.Contains(w.blocks[n*task:n*task+n], rack)
}

// total is how many slots are free.
func (y *slotAllocator) total() int {
	sum := 0
	for _, n := range y.rack {
		sum += int(n)
	}
	return sum
}

// host returns the host of a rack with the most free slots, the first among equals; false where none is
// free.
func (y *slotAllocator) host(rack int) (southbound.HostID, bool) {
	f := y.v.Fabric
	best := f.FirstHost[rack]
	for h := best; h < f.FirstHost[rack+1]; h++ {
		if y.free[h] > y.free[best] {
			best = h
		}
	}
	if y.rack[rack] <= 0 || best == f.FirstHost[rack+1] || y.free[best] <= 0 {
		return 0, false
	}
	return southbound.HostID(best), true
}

// places adds what was placed to the plan.
func (y *slotAllocator) places(p *controller.Plan) {
	from := NewSources(y.v)
	for _, w := range y.works {
		if !w.own {
			continue
		}
		slices.Sort(w.far)
		place := controller.Placement{Job: w.job.ID, Hosts: w.hosts, NonLocal: w.far}
		if w.blocks != nil {
			from.choose(&place, w.job, w.blocks)
		}
		if !w.kept {
			place.PolicyState = w.policyState
		}
		p.Place = append(p.Place, place)
	}
}

// rest returns a view with the slots that are left and without incremental jobs: what the placement
// of gang-scheduled jobs sees.
func rest(of *controller.View, free []int32) *controller.View {
	v := *of
	v.Free = free
	v.Waiting = nil
	for _, j := range of.Waiting {
		if !j.Incremental {
			v.Waiting = append(v.Waiting, j)
		}
	}
	return &v
}

// zeros returns as many zero values, in the memory of a slice.
func zeros[T any](in []T, n int) []T {
	in = slices.Grow(in[:0], n)[:n]
	clear(in)
	return in
}

// usable returns free slots by host, none where there are fewer than none, in the memory of a slice.
func usable(free, in []int32) []int32 {
	out := append(in[:0], free...)
	for h := range out {
		out[h] = max(out[h], 0)
	}
	return out
}

// serve gives slots away, a task at a time, to the user with the fewest running tasks, until no user
// takes one more or none is left; among equals, to the first by name. Where fewer slots are free than users wait, some
// users would never get one: there the slot goes to the user whose last task began the longest ago.
// next places one task of a user, if it can.
func (y *slotAllocator) serve(next func(u *user) bool) {
	waiting := slices.Clone(y.users)
	scarce := y.total() < len(waiting)
	for len(waiting) > 0 && y.total() > 0 {
		least := 0
		for i, u := range waiting {
			if x := waiting[least]; u.running < x.running || scarce && u.running == x.running && u.last < x.last {
				least = i
			}
		}
		if !next(waiting[least]) {
			waiting = slices.Delete(waiting, least, least+1)
		}
	}
}
