package pushbox

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// sharing is how the line of the toy machine is shared.
type sharing func(all []*toyTask)

// equally gives all that receive the same.
func equally(all []*toyTask) {
	n := 0.0
	for _, t := range all {
		if t.left > 0 {
			n++
		}
	}
	for _, t := range all {
		t.rate = 1 / n
	}
}

// together gives each what makes all end at once.
func together(all []*toyTask) {
	sum := 0.0
	for _, t := range all {
		sum += t.left
	}
	for _, t := range all {
		t.rate = t.left / sum
	}
}

// inOrder gives all to the task that was placed first.
func inOrder(all []*toyTask) {
	free := 1.0
	for _, t := range all {
		if t.rate = 0; t.left > 0 {
			t.rate, free = free, 0
		}
	}
}

type toyTask struct {
	job, index    int
	left, compute float64
	rate          float64
	end           float64 // once it computes
}

// toyJob has its tasks in the order in which they are taken; each is a stage of its own.
type toyJob struct {
	arrival float64
	tasks   [][2]float64 // input and computing time
}

// toy is one machine with a line of 1 and slots that come free at given times.
type toy struct {
	opt     Options
	share   sharing
	slots   []float64
	jobs    []toyJob
	running []*toyTask
	hosts   [][]southbound.HostID
	done    []float64 // by job: when its last task has ended
}

// run returns how long each job took.
func (x *toy) run() []float64 {
	x.done = make([]float64, len(x.jobs))
	left := 0
	for _, j := range x.jobs {
		x.hosts = append(x.hosts, slices.Repeat([]southbound.HostID{-1}, len(j.tasks)))
		left += len(j.tasks)
	}
	for now := 0.0; left > 0; {
		x.place(now)
		x.share(x.running)
		next := math.Inf(1)
		soon := func(at float64) {
			if at > now {
				next = min(next, at)
			}
		}
		for i := range x.jobs {
			soon(x.jobs[i].arrival)
		}
		for _, at := range x.slots {
			soon(at)
		}
		for _, t := range x.running {
			switch {
			case t.left == 0:
				soon(t.end)
			case t.rate > 0:
				soon(now + t.left/t.rate)
			}
		}
		for _, t := range x.running {
			if t.left > 0 {
				if t.left -= t.rate * (next - now); t.left < 1e-12 {
					t.left, t.end = 0, next+t.compute
				}
			}
		}
		now = next
		x.running = slices.DeleteFunc(x.running, func(t *toyTask) bool {
			if t.left > 0 || t.end > now {
				return false
			}
			x.done[t.job] = max(x.done[t.job], now)
			x.slots = append(x.slots, now)
			left--
			return true
		})
	}
	for i := range x.done {
		x.done[i] -= x.jobs[i].arrival
	}
	return x.done
}

// place is one invocation of the scheduler.
func (x *toy) place(now float64) {
	m := Machine{Smallest: math.Inf(1), Rate: 1}
	for _, at := range x.slots {
		if at <= now {
			m.Free++
		}
	}
	for _, t := range x.running {
		if t.left > 0 {
			m.Inputs++
			m.Left += t.left
			m.Smallest = 0
		}
	}
	q := &Queue{FIFO: true}
	for i, j := range x.jobs {
		if j.arrival > now || !slices.Contains(x.hosts[i], -1) {
			continue
		}
		y := &Job{ID: i, Queue: q, Arrival: time.Duration(j.arrival * 1e9), Weight: 1, Hosts: x.hosts[i]}
		for k, t := range j.tasks {
			y.Stages = append(y.Stages, &Stage{First: k, End: k + 1, Input: t[0],
				Compute: func(int, bool) time.Duration { return time.Duration(t[1] * 1e9) }})
		}
		q.Jobs = append(q.Jobs, y)
	}
	o := &Scheduler{Options: x.opt, Machines: []Machine{m}, Queues: []*Queue{q}}
	o.Sort()
	o.TaskArrival(func(c Choice) {
		t := x.jobs[c.Job.ID].tasks[c.Task.Index]
		y := &toyTask{job: c.Job.ID, index: c.Task.Index, left: t[0], compute: t[1]}
		if y.left == 0 {
			y.end = now + y.compute
		}
		x.running = append(x.running, y)
		at := slices.IndexFunc(x.slots, func(at float64) bool { return at <= now })
		x.slots = slices.Delete(x.slots, at, at+1)
	})
}

// TestToyCases are the four cases of section 2.3 with δ = 0. PushBox receives for one task at a time,
// as the ideal network of these cases lets it.
func TestToyCases(t *testing.T) {
	one := Defaults(PushBox)
	one.Concurrency = 1
	small, large := [2]float64{1, 1}, [2]float64{3, 3}
	skewed := toyJob{tasks: [][2]float64{large, small}}
	even := toyJob{tasks: [][2]float64{{2, 2}, {2, 2}}}
	b := toyJob{arrival: 2, tasks: [][2]float64{{0, 1}}}
	for _, tc := range []struct {
		name  string
		opt   Options
		share sharing
		slots []float64
		jobs  []toyJob
		want  []float64
	}{
		{"1: R1 first", Defaults(Hadoop), equally, []float64{0, 2},
			[]toyJob{{tasks: [][2]float64{small, large}}},
			[]float64{8}},
		{"1: R2 first", Defaults(Hadoop), equally, []float64{0, 2}, []toyJob{skewed}, []float64{7}},
		{"2: R2's flows first", Defaults(Hadoop), inOrder, []float64{0, 2}, []toyJob{skewed}, []float64{6}},
		{"2: PushBox", one, inOrder, []float64{0, 2}, []toyJob{skewed}, []float64{6}},
		{"3: ShuffleWatcher", Defaults(ShuffleWatcher), inOrder, []float64{0, 2}, []toyJob{skewed, b},
			[]float64{6, 4}},
		{"3: PushBox", one, inOrder, []float64{0, 2}, []toyJob{skewed, b}, []float64{6, 1}},
		{"4: all flows end together", Defaults(Hadoop), together, []float64{0, 0}, []toyJob{even, b},
			[]float64{6, 5}},
		{"4: R1's flows first", Defaults(PushBox), inOrder, []float64{0, 0}, []toyJob{even, b}, []float64{6, 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := &toy{opt: tc.opt, share: tc.share, slots: slices.Clone(tc.slots), jobs: tc.jobs}
			if got := x.run(); !slices.Equal(got, tc.want) {
				t.Errorf("jobs take %v, want %v", got, tc.want)
			}
		})
	}
}

// crowd is machines and jobs at random; every job has a stage of maps or single tasks that receive.
func crowd(r *rand.Rand, opt Options, machines, jobs int) *Scheduler {
	o := &Scheduler{Options: opt, Links: idle(machines)}
	for i := range machines {
		m := Machine{Rack: southbound.RackID(i), Free: r.IntN(3), Inputs: r.IntN(5), Rate: 1e9,
			Smallest: math.Inf(1),
			Use:      r.Float64()}
		if m.Inputs > 0 {
			m.Left, m.Smallest = r.Float64()*1e10, float64(r.IntN(20))*1e9
			o.Links.Down[i].Left = []Inflow{{m.Smallest, m.Left}}
		}
		o.Machines = append(o.Machines, m)
	}
	queues := []*Queue{{Name: "a"}, {Name: "b", FIFO: true}}
	for i := range jobs {
		q := queues[r.IntN(2)]
		j := &Job{ID: i, Queue: q, Arrival: time.Duration(r.IntN(5)) * time.Second,
			Weight:  1 + float64(r.IntN(2)),
			Running: r.IntN(4), Coflow: float64(r.IntN(20)) * 1e9, Skipped: r.IntN(2 * machines)}
		n := 1 + r.IntN(3)
		j.Hosts = slices.Repeat([]southbound.HostID{-1}, n)
		compute := time.Duration(r.IntN(20)) * time.Second
		how := func(int, bool) time.Duration { return compute }
		if r.IntN(2) == 0 {
			for range Replicas * n {
				j.Copies = append(j.Copies, southbound.RackID(r.IntN(machines)))
			}
			j.Stages = []*Stage{{End: n, Reads: true, Compute: how}}
		} else {
			for k := range n {
				input, from := float64(1+n-k)*1e9, r.IntN(machines)
				j.Stages = append(j.Stages, &Stage{First: k, End: k + 1, Input: input, Compute: how,
					Outputs: func() []Output { return []Output{{from, input / 2}, {(from + 1) % machines, input / 2}} }})
			}
		}
		q.Jobs = append(q.Jobs, j)
		q.Running += j.Running
	}
	o.Queues = queues
	return o
}

// idle are links of so many machines, each a rack, that carry nothing.
func idle(machines int) Links {
	l := Links{make([]Link, machines), make([]Link, machines), make([]Link, machines), make([]Link, machines)}
	for _, all := range [][]Link{l.Up, l.Down, l.RackUp, l.RackDown} {
		for i := range all {
			all[i].Rate = 1e9
		}
	}
	return l
}

// TestSlotChange holds Algorithm 2 against its lines written down one by one.
func TestSlotChange(t *testing.T) {
	for seed := range tries.Of[uint64](3000, 30000) {
		r := rand.New(rand.NewPCG(seed, 1))
		opt := Defaults(PushBox)
		opt.Skips = 1 + r.IntN(8)
		opt.NoHinderTest, opt.NoWildcard = r.IntN(4) == 0, r.IntN(4) == 0
		machines, jobs := 1+r.IntN(5), r.IntN(6)
		again := r.Uint64()
		o, ref := crowd(rand.New(rand.NewPCG(again, 2)), opt, machines,
			jobs), crowd(rand.New(rand.NewPCG(again, 2)), opt,
			machines, jobs)
		o.Sort()
		at := r.IntN(machines)
		got, want := "nothing", printed(ref, at)
		if c, ok := o.SlotChange(at); ok {
			got = fmt.Sprint(c.Job.ID, " ", c.Task.Index)
		}
		if got != want {
			t.Fatalf("seed %d: %s takes the slot, want %s", seed, got, want)
		}
	}
}

// printed is Algorithm 2 as printed, over all jobs sorted anew.
func printed(o *Scheduler, machine int) string {
	type entry struct {
		q *Queue
		j *Job
	}
	var jobs []entry
	for _, q := range o.Queues {
		for _, j := range q.Jobs {
			jobs = append(jobs, entry{q, j})
		}
	}
	key := func(x entry) []float64 {
		k := []float64{float64(x.q.Running), float64(x.q.Name[0]), float64(x.j.Running) / x.j.Weight,
			float64(x.j.Arrival),
			float64(x.j.ID)}
		if x.q.FIFO {
			k[2] = 0
		}
		return k
	}
	slices.SortFunc(jobs, func(a, b entry) int { return slices.Compare(key(a), key(b)) })
	m, slotYield := &o.Machines[machine], false
	for _, x := range jobs {
		task, local := -1, true
		s := x.j.Stages[0]
		if s.Reads {
			for i := range x.j.Hosts {
				if task < 0 && slices.Contains(x.j.Copies[Replicas*i:Replicas*i+Replicas], m.Rack) {
					task = i
				}
			}
			if task < 0 && x.j.Skipped >= o.Skips {
				task = 0
			}
		} else {
			task, local = 0, false // the largest
		}
		hinders := s.Compute(0, true).Seconds() > m.Left/m.Rate && !o.NoHinderTest
		room := m.Inputs < o.Concurrency || !x.q.FIFO && x.j.Coflow < m.Smallest && !o.NoWildcard
		switch {
		case task < 0:
			slotYield = true
		case local && (!slotYield || !hinders), !local && room:
			return fmt.Sprint(x.j.ID, " ", task)
		case !local:
			slotYield = true
		}
	}
	return "nothing"
}

// TestTaskArrival: whatever comes, by every rule, no machine gives a slot twice, no task is placed
// twice, and only PushBox keeps a slot from a task that it may have.
func TestTaskArrival(t *testing.T) {
	for seed := range tries.Of[uint64](1000, 10000) {
		for rule := range NEAT + 1 {
			r := rand.New(rand.NewPCG(seed, 3))
			opt := Defaults(rule)
			opt.Skips = 1 + r.IntN(8)
			o := crowd(r, opt, 1+r.IntN(6), r.IntN(12))
			o.Sort()
			o.TaskArrival(func(c Choice) {
				if o.Machines[c.Machine].Free <= 0 || c.Job.Hosts[c.Task.Index] >= 0 || c.Why == "" {
					t.Fatalf("seed %d: rule %d: %+v", seed, rule, c)
				}
			})
			for _, q := range o.Queues {
				if !slices.IsSortedFunc(q.Jobs, q.compare) {
					t.Fatalf("seed %d: rule %d: queue %s is out of order", seed, rule, q.Name)
				}
				for _, j := range q.Jobs {
					s, _ := j.critical()
					if s == nil {
						t.Fatalf("seed %d: rule %d: job %d waits for nothing", seed, rule, j.ID)
					}
					idle := slices.ContainsFunc(o.Machines, func(m Machine) bool { return m.Free > 0 })
					if rule != PushBox && !s.Reads && idle {
						t.Fatalf("seed %d: rule %d: job %d waits beside a free slot", seed, rule, j.ID)
					}
				}
			}
		}
	}
}

func TestRate(t *testing.T) {
	for _, tc := range []struct {
		received float64
		since    time.Duration
		want     float64
	}{
		{0, 0, 100},
		{100, time.Second, 100},
		{50, time.Second, 100/math.E + 50*(1-1/math.E)},
		{0, time.Hour, 1},
		{3600 * 30, time.Hour, 30},
	} {
		if got := Rate(100, tc.received, tc.since); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%v bytes in %v: %v, want %v", tc.received, tc.since, got, tc.want)
		}
	}
}

// BenchmarkDecision is one decision on a slot that has come free, with so many coflows waiting (section
// 7.4): the task is chosen, and machine and order of jobs are brought up to date. Algorithm 2 as
// printed sorts all jobs at each call.
func BenchmarkDecision(b *testing.B) {
	for _, how := range []string{"ours", "printed"} {
		for _, coflows := range []int{400, 600, 800, 1000, 1200, 1400} {
			b.Run(fmt.Sprintf("%s/%d", how, coflows), func(b *testing.B) {
				opt := Defaults(PushBox)
				opt.Skips = 20
				var o *Scheduler
				machine, left := 0, 0
				for b.Loop() {
					if left == 0 {
						b.StopTimer()
						o = crowd(rand.New(rand.NewPCG(1, 4)), opt, 20, coflows)
						o.Sort()
						machine, left = 0, coflows/2
						b.StartTimer()
					}
					left--
					machine = (machine + 1) % len(o.Machines)
					if how == "printed" {
						o.Sort()
					}
					if c, ok := o.SlotChange(machine); ok {
						o.Take(c)
					}
				}
			})
		}
	}
}

// TestLargestReducerFirst: of a stage whose tasks receive unlike parts, the largest takes the first slot, and
// its machine has as much to receive; NEAT counts what its senders hold for it alone.
func TestLargestReducerFirst(t *testing.T) {
	stage := &Stage{First: 1, End: 4, Input: 10, Parts: []float64{0.5, 2, 0.5}, All: true,
		Outputs: func() []Output { return []Output{{Machine: 0, Bytes: 30}} },
		Compute: func(int, bool) time.Duration { return time.Second }}
	j := &Job{Coflow: 30, Weight: 1, Stages: []*Stage{stage},
		Hosts: []southbound.HostID{0, -1, -1, -1}}
	o := &Scheduler{Options: Defaults(PushBox), Machines: []Machine{{Rack: 0}, {Rack: 1}}}
	var inputs []float64
	for range 3 {
		x, ok := o.selectTask(j, 0)
		if !ok {
			t.Fatal("no task waits")
		}
		inputs = append(inputs, x.Input)
		j.Hosts[x.Index] = 1
	}
	if want := []float64{20, 5, 5}; !slices.Equal(inputs, want) || j.Hosts[2] != 1 {
		t.Errorf("they receive %v, want %v", inputs, want)
	}
	o.Rule, o.Links = NEAT, Links{Up: []Link{{Rate: 1}, {Rate: 1}}, Down: []Link{{Rate: 1}, {Rate: 1}},
		RackUp: []Link{{Rate: 1}, {Rate: 1}}, RackDown: []Link{{Rate: 1}, {Rate: 1}}}
	for at, want := range map[int]float64{1: 5, 2: 20} {
		if got, _ := o.senders(j, j.task(stage, at, true)).receive(o, 1); got != want {
			t.Errorf("task %d has received after %v s, want %v", at, got, want)
		}
	}
}
