package pushbox

import (
	"cmp"
	"slices"
	"time"

	"lightloom/southbound"
)

// Rule is whose decisions these are.
type Rule uint8

// The rules.
const (
	PushBox        Rule = iota
	Hadoop              // any task of the job whose turn it is, with delay scheduling
	ShuffleWatcher      // Hadoop, but shuffles back off from busy machines, and tasks are placed to shuffle less
	NEAT                // each task on the machine where it is predicted to end first
)

// Options are what an administrator sets, and which parts of PushBox are left out.
type Options struct {
	Rule        Rule
	Concurrency int     // m: receiving tasks of a machine from which on its network counts as congested
	Skips       int     // slots that a job lets go by before it takes one far from its data
	Busy        float64 // ShuffleWatcher: share of a network card's use from which on it counts as busy
	Network     Network // NEAT: how links are shared

	NoHinderTest, NoWildcard bool // "H" and "W" of Figure 8
}

// Defaults are the document's numbers. It leaves Skips open.
func Defaults(r Rule) Options { return Options{Rule: r, Concurrency: 3, Busy: 0.75} }

// Scheduler is one invocation: the jobs that wait, and the machines.
type Scheduler struct {
	Options
	Now      time.Duration
	Machines []Machine
	Links    Links // of NEAT
	Queues   []*Queue

	order []int // machines in the order in which they are offered
}

// Choice is a task with its machine.
type Choice struct {
	Job     *Job
	Task    Task
	Machine int
	Why     Reason
}

// Reason is why a task took a slot.
type Reason string

// The reasons.
const (
	Near      Reason = "its job is next, and its data are here or it receives nothing"
	Uncrowded Reason = "its job is next of those that this network has room for"
	Wild      Reason = "its coflow is smaller than all that this machine receives (wild card)"
	Harmless  Reason = "it computes only, and ends before this network is idle"
	Turn      Reason = "its job is next"
	Busy      Reason = "this network is busy, and it receives nothing"
	Together  Reason = "others of its stage hold slots, and receive nothing before it has one"
	Holds     Reason = "its job is next, and most of its input for each task is here"
	Soonest   Reason = "it is predicted to end first here, of the machines that receive nothing smaller, if any"
)

// Sort puts queues and their jobs into the order in which they are served: the queue with the fewest
// running tasks first, and of these the one that has begun none for the longest; in a fair queue the
// job with the fewest for its weight, in a FIFO queue the one that arrived first.
func (o *Scheduler) Sort() {
	for _, q := range o.Queues {
		for _, j := range q.Jobs {
			s, _ := j.critical()
			j.begun = s != nil && s.Begun
		}
		slices.SortFunc(q.Jobs, q.compare)
	}
	slices.SortFunc(o.Queues, compareQueues)
}

func compareQueues(a, b *Queue) int {
	if a.begun() != b.begun() {
		return before(a.begun())
	}
	return cmp.Or(cmp.Compare(a.Running, b.Running), cmp.Compare(a.Last, b.Last), cmp.Compare(a.Name, b.Name))
}

func (q *Queue) begun() bool { return len(q.Jobs) > 0 && q.Jobs[0].begun }

func before(first bool) int {
	if first {
		return -1
	}
	return 1
}

func (q *Queue) compare(a, b *Job) int {
	if a.begun != b.begun { // slots that wait for others are of no use to anybody
		return before(a.begun)
	}
	if !q.FIFO {
		if c := cmp.Compare(float64(a.Running)*b.Weight, float64(b.Running)*a.Weight); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
}

// canBePlaced is Algorithm 1's: the network of the machine has room, or under Fair the wild card holds.
func (o *Scheduler) canBePlaced(j *Job, t Task, m *Machine) (Reason, bool) {
	switch {
	case m.Inputs < o.Concurrency:
		return Uncrowded, true
	case !o.NoWildcard && !j.Queue.FIFO && j.coflow(t) < m.Smallest:
		return Wild, true
	}
	return "", false
}

// notHinderTask is Algorithm 1's: the task has ended when the machine's network falls idle. Case 3 of
// section 2.3 needs it to hold where both are the same instant, so it is not "less than" as printed.
func (o *Scheduler) notHinderTask(t Task, m *Machine) bool {
	return o.NoHinderTest || t.Compute <= m.Transfer()
}

// SlotChange is Algorithm 2: the task that takes a slot of the machine; false leaves the slot free.
func (o *Scheduler) SlotChange(machine int) (Choice, bool) {
	m := &o.Machines[machine]
	yielded := false
	for _, q := range o.Queues {
		for _, j := range q.Jobs {
			t, ok := o.selectTask(j, m.Rack)
			if !ok {
				yielded = yielded || j.at < len(j.Stages)
				continue
			}
			if t.Input <= 0 {
				if !yielded {
					return Choice{j, t, machine, Near}, true
				}
				if o.notHinderTask(t, m) {
					return Choice{j, t, machine, Harmless}, true
				}
				continue
			}
			if t.begun {
				return Choice{j, t, machine, Together}, true
			}
			if why, ok := o.canBePlaced(j, t, m); ok {
				return Choice{j, t, machine, why}, true
			}
			yielded = true
		}
	}
	return Choice{}, false
}

// TaskArrival is Algorithm 3: tasks for the free slots of all machines, the machine whose transfers end
// first being offered first. As printed, a task near its data is neither removed nor its slot taken, so
// that it would be placed for ever: here both happen. A machine that takes no task of the first job is
// offered to the next jobs, as in Algorithm 2.
func (o *Scheduler) TaskArrival(place func(Choice)) {
	if o.Rule == NEAT {
		o.neat(place)
		return
	}
	o.sortMachines()
	refused := make([]*Job, len(o.Machines)) // the first job when the machine took none; a machine with slots has nil
	for {
		c, ok := o.offer(refused)
		if !ok {
			return
		}
		place(c)
		o.Take(c)
		o.moved(c.Machine)
	}
}

// offer returns what the first machine takes that takes anything.
func (o *Scheduler) offer(refused []*Job) (Choice, bool) {
	first := o.firstJob()
	if first == nil {
		return Choice{}, false
	}
	for _, i := range o.order {
		if o.Machines[i].Free <= 0 || refused[i] == first {
			continue
		}
		if c, ok := o.choose(i); ok {
			return c, true
		}
		refused[i] = first
	}
	return Choice{}, false
}

// choose decides on one machine by the rule.
func (o *Scheduler) choose(machine int) (Choice, bool) {
	switch o.Rule {
	case Hadoop:
		return o.turn(machine, false)
	case ShuffleWatcher:
		return o.watch(machine)
	}
	return o.SlotChange(machine)
}

// turn returns the next task of the first job that has one; with quiet, one that receives nothing.
func (o *Scheduler) turn(machine int, quiet bool) (Choice, bool) {
	for _, q := range o.Queues {
		for _, j := range q.Jobs {
			t, ok := o.selectTask(j, o.Machines[machine].Rack)
			switch {
			case !ok || quiet && t.Input > 0:
				continue
			case quiet:
				return Choice{j, t, machine, Busy}, true
			}
			return Choice{j, t, machine, Turn}, true
		}
	}
	return Choice{}, false
}

func (o *Scheduler) firstJob() *Job {
	for _, q := range o.Queues {
		if len(q.Jobs) > 0 {
			return q.Jobs[0]
		}
	}
	return nil
}

// Take carries a choice out: the task waits no more, its slot is taken, and its job moves down the order.
func (o *Scheduler) Take(c Choice) {
	j, q := c.Job, c.Job.Queue
	j.Hosts[c.Task.Index] = southbound.HostID(c.Machine)
	j.Running++
	if !c.Task.Blocks || j.near(c.Task.Index, o.Machines[c.Machine].Rack) {
		j.Skipped, j.Patient = 0, false
	}
	q.Running++
	q.Last = o.Now
	o.Machines[c.Machine].take(j, c.Task)
	o.carry(j, c.Task, c.Machine)
	if j.receivers != nil && c.Task.Input > 0 {
		j.receivers[c.Machine]++
	}
	s, _ := j.critical()
	if j.begun = s == c.Task.stage && s.All; j.begun {
		s.Begun = true
	}
	if at := slices.Index(q.Jobs, j); s == nil {
		q.Jobs = slices.Delete(q.Jobs, at, at+1)
	} else {
		settle(q.Jobs, at, q.compare)
	}
	settle(o.Queues, slices.Index(o.Queues, q), compareQueues)
}

// settle moves an entry to where it belongs in a list that is sorted otherwise.
func settle[T any](all []T, i int, compare func(a, b T) int) {
	x := all[i]
	if to, _ := slices.BinarySearchFunc(all[i+1:], x, compare); to > 0 {
		copy(all[i:], all[i+1:i+1+to])
		all[i+to] = x
		return
	}
	to, _ := slices.BinarySearchFunc(all[:i], x, compare)
	copy(all[to+1:i+1], all[to:i])
	all[to] = x
}

// sortMachines puts machines into the order in which they are offered: PushBox packs a task as early as
// possible; the others have the machine with the most free slots ask first, as heartbeats spread tasks.
func (o *Scheduler) sortMachines() {
	o.order = o.order[:0]
	for i := range o.Machines {
		if o.Machines[i].Free > 0 {
			o.order = append(o.order, i)
		}
	}
	slices.SortFunc(o.order, o.compareMachines)
}

func (o *Scheduler) compareMachines(a, b int) int {
	x, y := &o.Machines[a], &o.Machines[b]
	if o.Rule == PushBox {
		if c := cmp.Compare(x.Transfer(), y.Transfer()); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(y.Free, x.Free), cmp.Compare(a, b))
}

// moved puts a machine that has taken a task to where it belongs.
func (o *Scheduler) moved(machine int) {
	settle(o.order, slices.Index(o.order, machine), o.compareMachines)
}
