package place

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// filler is a part.
type filler interface {
	Fill(*controller.View, []controller.Event, *controller.Plan)
}

func parts() map[string]func() filler {
	return map[string]func() filler{
		"fair":            func() filler { return new(Fair) },
		"corral":          func() filler { return new(Corral) },
		"finder":          func() filler { return new(found) },
		"planner":         func() filler { return &found{plans: true} },
		"coscheduler":     func() filler { return new(CoScheduler) },
		"strict":          func() filler { return &CoScheduler{Strict: true} },
		"without reduces": func() filler { return &CoScheduler{NoReduces: true} },
		"pushbox":         func() filler { return NewPacker(pushbox.PushBox, nil) },
		"pushbox-fifo":    func() filler { return NewPacker(pushbox.PushBox, AllFIFO) },
		"pushbox early": func() filler {
			k := NewPacker(pushbox.PushBox, nil)
			k.SlowStart, k.Random, k.Error = SlowStart, true, 2
			return k
		},
		"hadoop":         func() filler { return NewPacker(pushbox.Hadoop, nil) },
		"shufflewatcher": func() filler { return NewPacker(pushbox.ShuffleWatcher, nil) },
		"neat":           func() filler { return NewPacker(pushbox.NEAT, AllFIFO) },
		"without data":   func() filler { return &CoScheduler{NoData: true, Error: 0.5} },
	}
}

// found has a finder that takes the first free slots for tasks that read nothing, or a planner that
// takes them for all.
type found struct {
	Incremental
	plans bool
}

func (x *found) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	first := func(n int, free []int32) (out []southbound.HostID) {
		for h := 0; len(out) < n; {
			if free[h] == 0 {
				h++
				continue
			}
			free[h]--
			out = append(out, southbound.HostID(h))
		}
		return out
	}
	var plan Planner
	if x.plans {
		plan = func(j *controller.Job, _ []southbound.RackID, free []int32) []southbound.HostID {
			return first(j.Tasks(), free)
		}
	}
	spread(x.Incremental.Fill(v, p, func(_ *controller.Job, _ []southbound.HostID, tasks []int,
		free []int32) []southbound.HostID {
		return first(len(tasks), free)
	}, plan), p)
}

// allocatorFabric has racks of two hosts.
func allocatorFabric(t testing.TB, racks, slots int) *topo.Fabric {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: racks, Hosts: 2, Slots: slots, EPS: pathmap.Gbps,
		OCS: 10 * pathmap.Gbps, Dark: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const block = pathmap.Bytes(100)

// mapReduce is an incremental job.
func mapReduce(user string, arrival time.Duration, maps, reduces int,
	shuffle pathmap.Bytes) *controller.Job {
	j := &controller.Job{Name: fmt.Sprintf("%d×%d", maps, reduces), User: user, Arrival: arrival,
		Incremental: true}
	j.Stages = []controller.Stage{{Name: "map", Tasks: make([]controller.Task, maps)}}
	for i := range maps {
		j.Stages[0].Tasks[i] = controller.Task{Compute: 10 * time.Second, Input: block,
			NonLocal: 7 * time.Second}
	}
	if reduces > 0 {
		j.Stages = append(j.Stages, controller.Stage{Name: "reduce", Tasks: make([]controller.Task, reduces)})
		for i := range reduces {
			j.Stages[1].Tasks[i] = controller.Task{Compute: 5 * time.Second}
		}
		j.Edges = []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: shuffle}}
	}
	return j
}

// apart makes a stage of each reduce, so that each receives as soon as it has a slot.
func apart(j *controller.Job) {
	if len(j.Stages) < 2 {
		return
	}
	reduces, bytes := j.Stages[1].Tasks, j.Edges[0].Bytes
	j.Stages, j.Edges = j.Stages[:1], nil
	for i, t := range reduces {
		j.Stages = append(j.Stages, controller.Stage{Name: "reduce", Tasks: []controller.Task{t}})
		j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, To: i + 1,
			Bytes: 1 + bytes/pathmap.Bytes(len(reduces))})
	}
}

// cluster runs jobs in virtual time: shuffles take a second, whatever they hold.
type cluster struct {
	t     testing.TB
	s     *state.State
	make  func() filler
	now   time.Duration
	ends  map[southbound.TaskID]time.Duration
	after func(v *controller.View, p *controller.Plan) // of each decision
	each  func()                                       // before each decision; may be nil
	heed  []time.Duration                              // instants at which something is to be done by each, ascending
}

// run lets jobs arrive and goes on until all have ended.
func (c *cluster) run(jobs []*controller.Job) {
	c.t.Helper()
	c.ends = map[southbound.TaskID]time.Duration{}
	part, next := c.make(), 0
	for steps := 0; c.s.Finished() < len(jobs); steps++ {
		for next < len(jobs) && jobs[next].Arrival <= c.now {
			c.apply(state.Entry{Kind: state.JobAccepted, Job: jobs[next]})
			next++
		}
		if c.each != nil {
			c.each()
		}
		wake := c.decide(part)
		for len(c.s.ReadyStages())+len(c.s.ReadyCoflows()) > 0 {
			c.start()
		}
		at := wake
		if next < len(jobs) {
			at = min(at, jobs[next].Arrival)
		}
		for _, end := range c.ends {
			at = min(at, end)
		}
		for _, t := range c.heed {
			if t > c.now {
				at = min(at, t)
			}
		}
		for _, id := range c.s.Active() {
			if x := c.s.Coflow(id); x.Started != state.Unset {
				at = min(at, x.Started+time.Second)
			}
		}
		if at == southbound.Never || steps > 100_000 {
			c.t.Fatalf("stands still at %v with %d of %d jobs ended", c.now, c.s.Finished(), len(jobs))
		}
		c.now = at
		c.end()
	}
}

func (c *cluster) apply(e state.Entry) {
	c.t.Helper()
	e.At = c.now
	if err := c.s.Apply(&e); err != nil {
		c.t.Fatalf("at %v: %+v: %v", c.now, e, err)
	}
}

func (c *cluster) decide(part filler) time.Duration {
	c.t.Helper()
	v := controller.View{Now: c.now, Seed: 7, Delta: 20 * time.Millisecond, ElephantThreshold: 1000}
	if _, late := part.(*Packer); late {
		c.s.FillBlindView(&v)
		v.Unread = func(v *controller.View) { c.s.FillRemaining(v, nil) }
	} else {
		c.s.FillView(&v, nil)
	}
	v.TaskChanges, v.AllTaskChanges = c.s.TaskChanges(), c.s.AllTaskChanges()
	p := controller.Plan{Wake: southbound.Never}
	part.Fill(&v, nil, &p)
	v.ReadRemaining()
	again := controller.Plan{Wake: southbound.Never}
	c.make().Fill(&v, nil, &again)
	if !reflect.DeepEqual(p, again) {
		c.t.Fatalf("at %v: %+v, and a fresh part says %+v", c.now, p, again)
	}
	if c.after != nil {
		c.after(&v, &p)
	}
	for i := range p.Place {
		c.apply(state.Entry{Kind: state.Placed, Placement: &p.Place[i]})
	}
	return p.Wake
}

func (c *cluster) start() {
	for _, ref := range slices.Clone(c.s.ReadyStages()) {
		c.apply(state.Entry{Kind: state.StageStarted, JobID: ref.Job, Stage: ref.Stage})
		j := c.s.Job(ref.Job)
		first, end := j.StageTasks(int(ref.Stage))
		for i := first; i < end; i++ {
			id := j.FirstTask + southbound.TaskID(i)
			if t := &c.s.Data().Tasks[id]; t.Started == c.now && t.Ended == state.Unset {
				c.ends[id] = c.now + j.Job.Stages[ref.Stage].Tasks[i-first].Takes(t.NonLocal)
			}
		}
	}
	for _, id := range slices.Clone(c.s.ReadyCoflows()) {
		c.apply(state.Entry{Kind: state.CoflowStarted, Coflow: id})
	}
}

func (c *cluster) end() {
	for _, id := range slices.Clone(c.s.Active()) {
		if x := c.s.Coflow(id); x.Started != state.Unset && x.Started+time.Second <= c.now {
			for row := range int32(len(x.Done)) {
				if int(row) < len(x.Done) && !x.Done[row] { // it is over with its last row, and others may have been lost
					c.apply(state.Entry{Kind: state.HostFlowEnded, Coflow: id, Row: row})
				}
			}
		}
	}
	var over []southbound.TaskID
	for id, end := range c.ends {
		if end <= c.now {
			over = append(over, id)
		}
	}
	slices.Sort(over)
	for _, id := range over {
		delete(c.ends, id)
		c.apply(state.Entry{Kind: state.TaskEnded, Task: id})
	}
}

// TestEveryJobEnds: whatever comes, nothing waits for ever, no slot is given twice (Apply would
// refuse), and a fresh part decides as the old one.
func TestEveryJobEnds(t *testing.T) {
	seeds := tries.Of[uint64](8, 40)
	for name, make := range parts() {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds {
				r := rand.New(rand.NewPCG(seed, 5))
				f := allocatorFabric(t, 2+r.IntN(5), 1+r.IntN(3))
				slots := f.Hosts() * f.Spec.Slots
				var jobs []*controller.Job
				for i := range 2 + r.IntN(12) {
					split := r.IntN(2) == 0
					maps, reduces := 1+r.IntN(2*slots), r.IntN(slots+1)
					j := mapReduce(fmt.Sprint("u", r.IntN(3)),
						time.Duration(i)*time.Duration(r.IntN(9))*700*time.Millisecond, maps, reduces, // while others shuffle, too
						pathmap.Bytes(1+r.IntN(40_000)))
					if r.IntN(2) == 0 {
						wrong := 0.01 + 10*r.Float64() // a prediction may be wrong by any factor
						j.Predicted = &controller.Prediction{Input: block * pathmap.Bytes(maps),
							Shuffle: pathmap.Bytes(float64(20_000) * wrong), Maps: maps,
							Reduces: reduces, MapTime: 10 * time.Second, RedTime: 5 * time.Second}
					}
					if split {
						apart(j)
					}
					jobs = append(jobs, j)
				}
				slices.SortStableFunc(jobs, func(a, b *controller.Job) int { return int(a.Arrival - b.Arrival) })
				c := &cluster{t: t, s: state.New(f), make: make}
				c.run(jobs)
			}
		})
	}
}

// TestManyReceive: jobs whose receiving stages have more tasks together than there are slots end, too.
func TestManyReceive(t *testing.T) {
	t.Parallel()
	for name, part := range parts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range tries.Of[uint64](8, 40) {
				r := rand.New(rand.NewPCG(seed, 6))
				f := allocatorFabric(t, 2, 2)
				slots := f.Hosts() * f.Spec.Slots
				jobs := make([]*controller.Job, 1+r.IntN(5))
				for i := range jobs {
					j := mapReduce(fmt.Sprint("u", r.IntN(3)), time.Duration(i)*time.Second, 1+r.IntN(2*slots), slots-r.IntN(2),
						20_000)
					j.Stages = append(j.Stages, controller.Stage{Name: "again", Tasks: slices.Clone(j.Stages[1].Tasks)})
					j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: 1, To: 2, Bytes: 10_000})
					jobs[i] = j
				}
				c := &cluster{t: t, s: state.New(f), make: part}
				c.run(jobs)
			}
		})
	}
}

// TestNearTheData: with slots to spare every map reads from its own rack; without, one waits for Delay
// and then does not.
func TestNearTheData(t *testing.T) {
	for name, make := range parts() {
		t.Run(name, func(t *testing.T) {
			c := &cluster{t: t, s: state.New(allocatorFabric(t, 8, 8)), make: make}
			c.run([]*controller.Job{mapReduce("a", 0, 6, 2, 10)})
			for i, task := range c.s.Data().Tasks {
				if task.NonLocal && name != "planner" { // which looks at no data
					t.Errorf("task %d reads from afar", i)
				}
			}
		})
	}
	// Thirty maps on eight slots in four racks: a map that finds no slot nearby takes one elsewhere, but
	// not before Delay.
	c := &cluster{t: t, s: state.New(allocatorFabric(t, 8, 1)), make: func() filler { return new(Fair) }}
	c.run([]*controller.Job{mapReduce("a", 0, 60, 0, 0)})
	far := 0
	for _, task := range c.s.Data().Tasks {
		if task.NonLocal {
			far++
		}
	}
	if far > 15 {
		t.Errorf("%d of 60 maps read from afar", far)
	}
}

// TestUsersShare: of two users, one with ten times the work, each has half of the slots while both want
// them.
func TestUsersShare(t *testing.T) {
	for _, name := range []string{"fair", "corral", "coscheduler"} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{t: t, s: state.New(allocatorFabric(t, 4, 4)), make: parts()[name]}
			running := map[string]int{}
			c.after = func(v *controller.View, p *controller.Plan) {
				if v.Now > 0 {
					return
				}
				for _, pl := range p.Place {
					for _, h := range pl.Hosts {
						if h != controller.NoHost {
							running[v.Waiting[pl.Job].User]++
						}
					}
				}
			}
			c.run([]*controller.Job{mapReduce("many", 0, 200, 0, 0), mapReduce("few", 0, 20, 0, 0)})
			if running["many"] != 16 || running["few"] != 16 {
				t.Errorf("slots at first: %v, want 16 each", running)
			}
		})
	}
}

// TestTogether is the point of Co-scheduler: a shuffle-heavy job's maps stand on R_map racks and its
// reduces on few, so that every pair of racks has an elephant; Fair spreads the same job until none
// has.
func TestTogether(t *testing.T) {
	racksOf := func(c *cluster, first, end int) int {
		seen := map[int32]bool{}
		for _, task := range c.s.Data().Tasks[first:end] {
			seen[c.s.Fabric().HostRack[task.Host]] = true
		}
		return len(seen)
	}
	// input 4000, T_e 1000: R_map 2, then R_red 2
	heavy := func() *controller.Job { return mapReduce("a", 0, 40, 8, 4400) }
	var got [2][2]int
	for i, name := range []string{"coscheduler", "fair"} {
		c := &cluster{t: t, s: state.New(allocatorFabric(t, 12, 20)), make: parts()[name]}
		c.run([]*controller.Job{heavy()})
		got[i] = [2]int{racksOf(c, 0, 40), racksOf(c, 40, 48)}
	}
	if got[0] != [2]int{2, 2} && got[0] != [2]int{1, 2} && got[0] != [2]int{2, 1} {
		t.Errorf("coscheduler: maps on %d racks, reduces on %d", got[0][0], got[0][1])
	}
	if got[1][0] < 5 || got[1][1] < 4 {
		t.Errorf("fair: maps on %d racks, reduces on %d", got[1][0], got[1][1])
	}
	if guideline.Replicas != 3 {
		t.Error("three copies")
	}
}

// TestCorralStays: a recurring job's maps and reduces share their racks.
func TestCorralStays(t *testing.T) {
	j := mapReduce("a", 0, 40, 10, 1_000_000_000)
	j.Predicted = &controller.Prediction{Input: 4000, Shuffle: 1_000_000_000, Maps: 40, Reduces: 10,
		MapTime: 10 * time.Second, RedTime: 5 * time.Second}
	c := &cluster{t: t, s: state.New(allocatorFabric(t, 12, 30)), make: parts()["corral"]}
	c.run([]*controller.Job{j})
	seen := map[int32]bool{}
	for _, task := range c.s.Data().Tasks {
		seen[c.s.Fabric().HostRack[task.Host]] = true
	}
	// One rack has 60 slots: one wave, and nothing crosses.
	if len(seen) != 1 {
		t.Errorf("on %d racks", len(seen))
	}
}

// TestMapsByTheirOwnData: where no slot is left in a rack with a map's block, the map waits, and no
// reduce is placed in its stead by where blocks would lie that it does not have.
func TestMapsByTheirOwnData(t *testing.T) {
	for _, name := range []string{"fair", "corral", "finder", "coscheduler", "without data"} {
		tried := 0
		for seed := range uint64(20) {
			f := allocatorFabric(t, 8, 1)
			j := mapReduce("a", 0, 1, 30, 1000)
			v := &controller.View{Fabric: f, Seed: seed, Delta: 20 * time.Millisecond,
				Waiting: []*controller.Job{j}}
			blocks := scatter(v, j)
			v.Free = make([]int32, f.Hosts())
			for h := range v.Free {
				if !slices.Contains(blocks[:guideline.Replicas], southbound.RackID(f.RackOf(int32(h)))) {
					v.Free[h] = 1
					tried++
				}
			}
			p := controller.Plan{Wake: southbound.Never}
			parts()[name]().Fill(v, nil, &p)
			if len(p.Place) > 0 {
				t.Errorf("%s, seed %d: places %+v", name, seed, p.Place)
			}
			if p.Wake != Delay {
				t.Errorf("%s, seed %d: wants to be asked again at %v, want %v", name, seed, p.Wake, Delay)
			}
			v.Now = Delay
			p = controller.Plan{Wake: southbound.Never}
			parts()[name]().Fill(v, nil, &p)
			if len(p.Place) != 1 || p.Place[0].Hosts[0] == controller.NoHost {
				t.Errorf("%s, seed %d: after the delay it places %+v", name, seed, p.Place)
			}
		}
		if tried == 0 {
			t.Error("no slot was free")
		}
	}
}

// TestGangBesideIncremental: whole jobs get the slots that incremental ones have left, and no slot twice.
func TestGangBesideIncremental(t *testing.T) {
	for name, part := range parts() {
		for tasks, want := range map[int]int{4: 12, 5: 8} { // twelve slots, eight of which the maps take
			f := allocatorFabric(t, 3, 2)
			whole := mapReduce("b", 0, tasks, 0, 0)
			whole.ID, whole.Incremental = 1, false
			v := &controller.View{Fabric: f, Seed: 3, Now: time.Minute, Delta: 20 * time.Millisecond,
				ElephantThreshold: 1000,
				Free:              slices.Repeat([]int32{2}, f.Hosts()), Waiting: []*controller.Job{mapReduce("a", 0, 8,
					0, 0), whole}}
			p := controller.Plan{Wake: southbound.Never}
			part().Fill(v, nil, &p)
			taken, placed := make([]int32, f.Hosts()), 0
			for _, at := range p.Place {
				for _, h := range at.Hosts {
					if h != controller.NoHost {
						taken[h]++
						placed++
					}
				}
			}
			if slices.Max(taken) > 2 || placed != want {
				t.Errorf("%s: %d tasks are placed beside %d, want %d: %v by host, of %v free", name, placed,
					tasks, want, taken,
					v.Free)
			}
		}
	}
}

// TestStrictKeepsGuideline: where all slots of six racks are free, twelve maps of a shuffle-heavy job
// take those of as many racks as its guideline has under Strict, and all of them by Algorithm 2.
func TestStrictKeepsGuideline(t *testing.T) {
	for _, part := range []*CoScheduler{{}, {Strict: true}} {
		f := allocatorFabric(t, 6, 1)
		v := &controller.View{Fabric: f, Seed: 7, Delta: 20 * time.Millisecond, ElephantThreshold: 1000,
			Free: slices.Repeat([]int32{1}, f.Hosts()), Waiting: []*controller.Job{heavyJob(12, 8)}}
		k := &schedulingPass{CoScheduler: part, cluster: part.cluster(v)}
		want := 6
		if part.Strict {
			if want = k.mapRacks(v.Waiting[0]); want >= 6 {
				t.Fatalf("the guideline has %d racks", want)
			}
		}
		p := controller.Plan{Wake: southbound.Never}
		part.Fill(v, nil, &p)
		maps, racks := 0, map[int32]bool{}
		for _, at := range p.Place {
			for _, h := range at.Hosts[:12] {
				if h != controller.NoHost {
					maps++
					racks[f.HostRack[h]] = true
				}
			}
		}
		if maps != 2*want || len(racks) != want {
			t.Errorf("strict %v: %d maps on %d racks, want two on each of %d", part.Strict, maps, len(racks), want)
		}
	}
}

// TestRoom: a job may begin to take slots for its reduces where every rack holds, beside them, all that
// other jobs which have begun are still to have there.
func TestRoom(t *testing.T) {
	f := allocatorFabric(t, 4, 2) // four slots a rack
	k := &schedulingPass{CoScheduler: &CoScheduler{},
		slotAllocator: &slotAllocator{v: &controller.View{Fabric: f}}}
	k.works = []*work{
		{begun: true, waits: []bool{false, true}, policyState: []int32{1, 0, 2, 3, 3}},
		{begun: true, waits: []bool{false, true}, policyState: []int32{1, 0, 1}},
		{begun: true, waits: []bool{false, false}, policyState: []int32{1, 1, 4}}, // its reduces run
		{begun: false, waits: []bool{false, true}, policyState: []int32{1, 2, 4}},
		{begun: true, waits: []bool{false, true}},
	}
	for _, tc := range []struct {
		left []int
		want bool
	}{
		{[]int{0, 0, 0, 0}, true}, {[]int{1, 4, 4, 1}, true}, {[]int{2, 0, 0, 0},
			false}, {[]int{0, 5, 0, 0}, false},
		{[]int{0, 0, 5, 0}, false}, {[]int{0, 0, 0, 2}, false},
	} {
		if got := k.room(tc.left); got != tc.want {
			t.Errorf("room for %v: %v", tc.left, got)
		}
	}
}

// TestGuidedMap: of the racks with a copy of a map's block one that the job uses already comes first,
// then the one with the most free slots, then the first; a further one only as long as R_map is not
// reached.
func TestGuidedMap(t *testing.T) {
	for _, tc := range []struct {
		name       string
		copies     []southbound.RackID
		used, free []int
		racks      int
		want       int // -1: none
	}{
		{"the first rack is used", []southbound.RackID{0, 1, 2}, []int{1, 0, 0, 0}, []int{1, 4, 4, 4}, 2, 0},
		{"a later one is", []southbound.RackID{0, 1, 2}, []int{0, 0, 1, 0}, []int{4, 4, 1, 4}, 2, 2},
		{"two are used", []southbound.RackID{0, 1, 2}, []int{1, 0, 1, 0}, []int{2, 4, 3, 4}, 2, 2},
		{"two are used, and alike", []southbound.RackID{2, 1, 0}, []int{1, 0, 1, 0}, []int{3, 4, 3, 4}, 2, 2},
		{"none is", []southbound.RackID{0, 1, 2}, []int{0, 0, 0, 1}, []int{2, 3, 1, 4}, 2, 1},
		{"none is, and all are alike", []southbound.RackID{0, 1, 2}, []int{0, 0, 0, 0}, []int{2, 2, 2, 2}, 2, 0},
		{"the used one has no slot", []southbound.RackID{0, 1, 2}, []int{1, 0, 0, 0}, []int{0, 2, 1, 4}, 2, 1},
		{"as many as it may have", []southbound.RackID{0, 1, 2}, []int{0, 0, 0, 1}, []int{4, 4, 4, 4}, 1, -1},
		{"none of them has a slot", []southbound.RackID{0, 1, 2}, []int{0, 0, 0, 0}, []int{0, 0, 0, 4}, 2, -1},
	} {
		f := allocatorFabric(t, 4, 2)
		v := &controller.View{Fabric: f, Free: make([]int32, f.Hosts()),
			Waiting: []*controller.Job{heavyJob(1, 0)}}
		for r, n := range tc.free {
			v.Free[2*r], v.Free[2*r+1] = int32(n/2), int32(n-n/2)
		}
		k := &schedulingPass{CoScheduler: &CoScheduler{}, slotAllocator: newSlotAllocator(v, nil)}
		w := k.works[0]
		w.blocks = tc.copies
		p := &planned{guided: guided{racks: tc.racks, used: slices.Clone(tc.used)}}
		got := -1
		if k.guidedMap(w, p, 0) {
			if got = int(f.HostRack[w.hosts[0]]); p.used[got] != tc.used[got]+1 {
				t.Errorf("%s: uses %v after %v", tc.name, p.used, tc.used)
			}
		}
		if got != tc.want || p.full != (tc.want < 0) {
			t.Errorf("%s: on rack %d, want %d; full %v", tc.name, got, tc.want, p.full)
		}
	}
}

// TestSettledScheduleStays: the schedule of a stage's reduces that was found when the first of them was
// placed holds for the others; what another stage was given does not.
func TestSettledScheduleStays(t *testing.T) {
	f := allocatorFabric(t, 4, 2)
	j := heavyJob(2, 6)
	hosts := slices.Repeat([]southbound.HostID{controller.NoHost}, 8)
	tasks := make([]controller.TaskState, 8)
	for i := range tasks {
		tasks[i] = controller.TaskState{Host: controller.NoHost, Started: -1, Ended: -1}
		if i >= 2 {
			tasks[i].Stage = 1
		} else {
			hosts[i], tasks[i] = 0, controller.TaskState{Started: 0, Ended: 1}
		}
	}
	hosts[2], tasks[2].Host = 2, 2 // a reduce in rack 1
	hosts[3], tasks[3].Host = 7, 7 // one in rack 3
	for _, tc := range []struct {
		name string
		kept []int32
		want []int // nil: found anew
	}{
		{"of this stage", []int32{1, 1, 4, 3, 2}, []int{0, 3, 0, 1}},
		{"more than it names have begun there", []int32{1, 0, 6}, []int{6, 0, 0, 0}},
		{"of another stage", []int32{0, 1, 4, 3, 2}, nil},
	} {
		v := &controller.View{Fabric: f, Now: time.Minute, Delta: 20 * time.Millisecond, ElephantThreshold: 1000,
			Free: slices.Repeat([]int32{2}, f.Hosts()), Partial: []controller.Partial{{Job: j,
				Hosts: hosts, Tasks: tasks,
				Waits: []bool{false, true}, PolicyState: tc.kept}}}
		c := &CoScheduler{}
		k := &schedulingPass{CoScheduler: c, cluster: c.cluster(v), slotAllocator: newSlotAllocator(v, nil)}
		p := &planned{}
		k.settle(k.works[0], p, 1)
		if tc.want != nil && (!slices.Equal(p.left, tc.want) || !slices.Equal(k.works[0].policyState, tc.kept)) {
			t.Errorf("%s: left are %v, want %v", tc.name, p.left, tc.want)
		}
		if tc.want == nil && (k.works[0].kept || len(k.works[0].policyState) == 0 ||
			k.works[0].policyState[0] != 1) {
			t.Errorf("%s: %v stays", tc.name, k.works[0].policyState)
		}
	}
}

// begun is a job of maps and reduces whose tasks have hosts or none; its maps ended at an instant, or run where that is
// below 0.
func begun(j *controller.Job, hosts []southbound.HostID, ended time.Duration) controller.Partial {
	p := controller.Partial{Job: j, Hosts: hosts, Waits: []bool{false, true}[:len(j.Stages)]}
	for i, h := range hosts {
		if i < len(j.Stages[0].Tasks) {
			p.Tasks = append(p.Tasks, controller.TaskState{Host: h, Started: 0, Ended: ended})
		} else {
			p.Tasks = append(p.Tasks, controller.TaskState{Host: h, Stage: 1, Started: -1, Ended: -1})
		}
	}
	return p
}

// TestScheduleWithoutSlots: where the output of a lost host is read from another one, the schedule of the job's reduces
// stands in the same placement, also if no slot is free, or another user takes the last one.
func TestScheduleWithoutSlots(t *testing.T) {
	none := controller.NoHost
	for free, placed := range []int{1, 2} {
		waits, lost, runs := mapReduce("a", 0, 1, 0, 0), heavyJob(3, 3), mapReduce("c", 0, 4-free, 0, 0)
		lost.ID, lost.User, runs.ID = 1, "b", 2
		v := &controller.View{Fabric: allocatorFabric(t, 4, 2), Now: 5 * time.Second, Delta: 20 * time.Millisecond,
			ElephantThreshold: 1000, Free: make([]int32, 8), Lost: []southbound.HostID{0, 1, 2, 3, 6, 7},
			Waiting: []*controller.Job{waits}, Partial: []controller.Partial{
				begun(lost, []southbound.HostID{none, 4, 5, none, none, none}, time.Second),
				begun(runs, []southbound.HostID{5, 5, 4, 4}[:4-free], -1)}}
		v.Free[4] = int32(free)
		p := controller.Plan{Wake: southbound.Never}
		new(CoScheduler).Fill(v, nil, &p)
		if len(p.Place) != placed {
			t.Fatalf("%d slots: places %+v", free, p.Place)
		}
		got := p.Place[placed-1]
		if got.Job != 1 || got.Hosts[0] == none || got.Hosts[3] != none || !slices.Equal(got.PolicyState, []int32{1, 2, 3}) {
			t.Errorf("%d slots: %+v, want the lost output on a host, and a schedule of 3 reduces on rack 2", free, got)
		}
	}
}

// TestAnyMap: a map that may run anywhere goes to the rack with a copy of its block that has the most
// free slots, the first of equals, and where none has any to the rack that has the most.
func TestAnyMap(t *testing.T) {
	for _, tc := range []struct {
		free []int
		want int // -1: none
	}{
		{[]int{3, 1, 2, 4}, 0}, {[]int{1, 3, 2, 4}, 1}, {[]int{1, 2, 3, 4}, 2}, {[]int{2, 2, 2, 4}, 0},
		{[]int{0, 1, 1, 4}, 1},
		{[]int{0, 0, 0, 4}, 3}, {[]int{0, 0, 0, 0}, -1},
	} {
		f := allocatorFabric(t, 4, 2)
		v := &controller.View{Fabric: f, Free: make([]int32, f.Hosts()),
			Waiting: []*controller.Job{heavyJob(1, 0)}}
		for r, n := range tc.free {
			v.Free[2*r], v.Free[2*r+1] = int32(n/2), int32(n-n/2)
		}
		k := &schedulingPass{CoScheduler: &CoScheduler{}, slotAllocator: newSlotAllocator(v, nil)}
		w, p, got := k.works[0], &planned{guided: guided{used: make([]int, 4)}}, -1
		w.blocks = []southbound.RackID{0, 1, 2}
		if k.anyMap(w, p, 0, 0) {
			if got = int(f.HostRack[w.hosts[0]]); p.used[got] != 1 {
				t.Errorf("of free slots %v: uses %v", tc.free, p.used)
			}
		}
		if got != tc.want {
			t.Errorf("of free slots %v: on rack %d, want %d", tc.free, got, tc.want)
		}
	}
}

// TestHeavyByWhatMapsShow: once maps have ended, a job's shuffle is what they have left of it for what
// they read: one of ten that left a tenth stands for all.
func TestHeavyByWhatMapsShow(t *testing.T) {
	for _, tc := range []struct {
		shuffle pathmap.Bytes
		ended   int
		want    bool
	}{{2000, 1, true}, {1990, 1, false}, {2000, 5, true}, {1990, 5, false}, {2000, 10,
		true}, {1990, 10, false}} {
		f := allocatorFabric(t, 4, 2)
		j := mapReduce("a", 0, 10, 2, tc.shuffle)
		hosts := slices.Repeat([]southbound.HostID{controller.NoHost}, 12)
		tasks := make([]controller.TaskState, 12)
		for i := range tasks {
			tasks[i] = controller.TaskState{Host: controller.NoHost, Started: -1, Ended: -1}
			if i >= 10 {
				tasks[i].Stage = 1
			}
			if i < tc.ended {
				hosts[i], tasks[i].Host, tasks[i].Started, tasks[i].Ended = 0, 0, 0, 1
			}
		}
		v := &controller.View{Fabric: f, Now: time.Minute, Delta: 20 * time.Millisecond, ElephantThreshold: 2000,
			Free: make([]int32, f.Hosts()), Partial: []controller.Partial{{Job: j, Hosts: hosts, Tasks: tasks,
				Waits: []bool{false, true}}}}
		c := &CoScheduler{}
		k := &schedulingPass{CoScheduler: c, cluster: c.cluster(v), slotAllocator: newSlotAllocator(v, nil)}
		if _, got := k.sized(k.works[0]); got != tc.want {
			t.Errorf("a shuffle of %d bytes, %d of 10 maps ended: heavy %v", tc.shuffle, tc.ended, got)
		}
	}
}

// TestLearntOfSources: what a job's maps have left is the bytes of edges from sources alone, in
// proportion to those that have ended, for what these have read.
func TestLearntOfSources(t *testing.T) {
	edge := func(from, to int, kind controller.EdgeKind, bytes pathmap.Bytes) controller.Edge {
		return controller.Edge{Kind: kind, From: from, To: to, Bytes: bytes}
	}
	shuffle := edge(0, 1, controller.ScatterGather, 3000)
	for _, tc := range []struct {
		name        string
		maps, ended int
		more        []controller.Edge
		want        float64
	}{
		{"half of the maps", 10, 5, nil, 3},
		{"the only map", 1, 1, nil, 30},
		{"a later shuffle", 10, 5, []controller.Edge{edge(1, 2, controller.ScatterGather, 9000)}, 3},
		{"a coflow of given flows", 10, 5, []controller.Edge{edge(0, 0, controller.Fixed, 9000)}, 3},
		{"two shuffles", 10, 5, []controller.Edge{edge(0, 2, controller.ScatterGather, 1000)}, 4},
	} {
		j := mapReduce("a", 0, tc.maps, 2, 0)
		j.Stages = append(j.Stages, controller.Stage{Name: "last", Tasks: make([]controller.Task, 2)})
		j.Edges = append([]controller.Edge{shuffle, edge(1, 2, controller.ScatterGather, 1)}, tc.more...)
		p := &controller.Partial{Hosts: make([]southbound.HostID, tc.maps+4), Tasks: make([]controller.TaskState, tc.maps+4)}
		for i := range p.Tasks {
			if p.Tasks[i].Ended = -1; i < tc.ended {
				p.Tasks[i].Ended = 1
			}
		}
		w := &work{totals: newTotals(new(controller.View), j, p), job: j, open: []int{tc.maps - tc.ended, 2, 2},
			tasks: p.Tasks}
		all, sir := (&schedulingPass{}).learnt(w)
		if all != block*pathmap.Bytes(tc.maps) || sir != tc.want {
			t.Errorf("%s: of %d bytes %v times as many are left, want %v", tc.name, all, sir, tc.want)
		}
	}
}

// TestWithoutData: the next map of a stage is without data where no rack with its data stands that the job uses,
// or may use still.
func TestWithoutData(t *testing.T) {
	for _, tc := range []struct {
		name     string
		used     []int
		racks    int
		standing []bool
		want     bool
	}{
		{"one more rack may be used", []int{0, 0, 0, 1}, 2, []bool{true, true, true, true}, false},
		{"as many are as may", []int{0, 0, 0, 1}, 1, []bool{true, true, true, true}, true},
		{"more are than may", []int{0, 0, 1, 1}, 1, []bool{true, true, true, true}, true},
		{"one of them is used", []int{0, 1, 0, 0}, 1, []bool{true, true, true, true}, false},
		{"that one has failed", []int{0, 1, 0, 0}, 1, []bool{true, false, true, true}, true},
		{"both have failed", []int{0, 0, 0, 0}, 4, []bool{false, false, true, true}, true},
	} {
		w := &work{totals: &totals{jobShape: &jobShape{first: []int{0, 1}}}, job: heavyJob(1, 0), next: []int{0},
			blocks: slices.Repeat([]southbound.RackID{0, 1, 1}, 1)}
		k := &schedulingPass{slotAllocator: &slotAllocator{standing: tc.standing}}
		if got := k.withoutData(w, &planned{guided: guided{racks: tc.racks, used: tc.used}}, 0); got != tc.want {
			t.Errorf("%s: astray %v", tc.name, got)
		}
		w.hosts = []southbound.HostID{0}
		if k.withoutData(w, &planned{guided: guided{racks: tc.racks, used: tc.used}}, 0) {
			t.Errorf("%s: no map is left, and it is astray", tc.name)
		}
	}
}

// TestReads: a job reads while a task without a host has a block to read.
func TestReads(t *testing.T) {
	for _, tc := range []struct {
		name string
		job  *controller.Job
		open []int
		want bool
	}{
		{"maps wait", mapReduce("a", 0, 2, 2, 0), []int{1, 2}, true},
		{"reduces alone wait", mapReduce("a", 0, 2, 2, 0), []int{0, 2}, false},
		{"maps that read nothing wait", &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)}}},
			[]int{2}, false},
		{"nothing waits", mapReduce("a", 0, 2, 0, 0), []int{0}, false},
	} {
		if got := (&work{totals: newTotals(new(controller.View), tc.job, nil), open: tc.open}).reads(); got != tc.want {
			t.Errorf("%s: reads %v", tc.name, got)
		}
	}
}
