package place

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/pushbox"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestFruitless: after a decision that could place nothing, none is made anew before something has changed or a job has
// waited long enough, or where nobody counts what changes.
func TestFruitless(t *testing.T) {
	type part interface {
		Fill(v *controller.View, ev []controller.Event, p *controller.Plan)
	}
	for name, fresh := range map[string]func() part{"fair": func() part { return new(Fair) },
		"corral":       func() part { return new(Corral) },
		"co-scheduler": func() part { return new(CoScheduler) },
		"dawn":         func() part { return new(Dawn) },
		"pushbox":      func() part { return NewPacker(pushbox.PushBox, nil) }} {
		for _, tc := range []struct {
			name    string
			counted [2]uint64 // before slots come free, and then
			at      time.Duration
			want    int
		}{
			{"nothing has changed", [2]uint64{3, 3}, 2 * time.Second, 0},
			{"slots came free", [2]uint64{3, 4}, 2 * time.Second, 1},
			{"the job has waited", [2]uint64{3, 3}, Delay, 1},
			{"nobody counts", [2]uint64{}, 2 * time.Second, 1},
		} {
			f, by := allocatorFabric(t, 4, 2), fresh()
			v := &controller.View{Fabric: f, Now: time.Second, Delta: 20 * time.Millisecond, ElephantThreshold: 2000,
				Free: make([]int32, f.Hosts()), Waiting: []*controller.Job{mapReduce("a", 0, 1, 1, 1000)}}
			decide := func(at time.Duration, changes uint64) *controller.Plan {
				p := &controller.Plan{Wake: southbound.Never}
				v.Now, v.TaskChanges = at, changes
				by.Fill(v, nil, p)
				return p
			}
			first := decide(time.Second, tc.counted[0])
			if again := decide(time.Second, tc.counted[0]); len(first.Place) > 0 || first.Wake != Delay ||
				len(again.Place) > 0 || again.Wake != Delay {
				t.Errorf("%s: without slots %+v, then %+v", name, first, again)
			}
			for h := range v.Free {
				v.Free[h] = 2
			}
			if p := decide(tc.at, tc.counted[1]); len(p.Place) != tc.want {
				t.Errorf("%s, %s: places %+v, want %d", name, tc.name, p.Place, tc.want)
			}
		}
	}
}

// TestFruitlessByLoad: PushBox decides anew where it left slots free while tasks waited. The free machines receive for
// as many tasks as they may, and a task that only computes is to end before they are through: it does not as it seems
// at first, and does once they turn out to receive more slowly, which is no change of tasks or slots.
func TestFruitlessByLoad(t *testing.T) {
	by, v := NewPacker(pushbox.PushBox, AllFIFO), crowdedView(t)
	v.TaskChanges = 3
	line := pushbox.Line(v.Fabric.Spec.NIC) // in bytes a second: the task computes for 8 s
	v.Coflows = []controller.CoflowView{{Started: true, Src: []southbound.HostID{2, 3}, Dst: []southbound.HostID{0, 1},
		Size: []pathmap.Bytes{pathmap.Bytes(8 * line), pathmap.Bytes(8 * line)}, Ended: make([]bool, 2)}}
	for _, tc := range []struct {
		now      time.Duration
		received float64 // seconds of the line's rate
		want     int
	}{{time.Second, 1, 0}, {2 * time.Second, 2, 0}, {4 * time.Second, 2, 1}} {
		left := 8*line - tc.received*line
		v.Now, v.Coflows[0].Remaining = tc.now, southbound.Remaining{F: 1, Base: []float64{left, left}}
		p := &controller.Plan{Wake: southbound.Never}
		if by.Fill(v, nil, p); len(p.Place) != tc.want {
			t.Errorf("at %v: places %+v, want %d", tc.now, p.Place, tc.want)
		}
	}
}

// TestDawnFruitlessByTime: Dawn decides anew when a stage has waited for Delay, and when the one that has waited the
// longest overtakes all others, though nothing has changed.
func TestDawnFruitlessByTime(t *testing.T) {
	none := controller.NoHost
	wide := begun(mapReduce("a", 0, 1, 3, 1000), []southbound.HostID{0, none, none, none}, 0) // fits nowhere
	late := begun(mapReduce("a", 0, 1, 1, 1000), []southbound.HostID{0, none}, 28*time.Second)
	late.Job.ID = 1
	both, one := []controller.Partial{wide, late}, []controller.Partial{late}
	for _, tc := range []struct {
		name string
		jobs []controller.Partial
		free int32 // slots of each host in rack 1; rack 0, where the maps ran, has none
		want []asked
	}{
		{"it has waited for a rack", one, 1, []asked{{29, 33, 0}, {30, 33, 0}, {33, 0, 1}}},
		{"it has waited for a slot", one, 0, []asked{{29, 33, 0}, {30, 33, 0}, {33, 0, 0}}},
		{"another overtakes it", both, 1, []asked{{28, 33, 0}, {29, 33, 0}, {30, 0, 0}, {34, 0, 0}}},
		{"another would, if slots were free", both, 0, []asked{{28, 33, 0}, {29, 33, 0}, {30, 0, 0}}},
	} {
		d := new(Dawn)
		v := &controller.View{Fabric: allocatorFabric(t, 2, 1), Delta: 20 * time.Millisecond, ElephantThreshold: 2000,
			Free: []int32{0, 0, tc.free, tc.free}, Partial: tc.jobs}
		v.TaskChanges = 3
		for _, want := range tc.want {
			p := &controller.Plan{Wake: southbound.Never}
			v.Now = time.Duration(want.at) * time.Second
			d.Fill(v, nil, p)
			wake := southbound.Never
			if want.wake > 0 {
				wake = time.Duration(want.wake) * time.Second
			}
			if len(p.Place) != want.placed || p.Wake != wake {
				t.Errorf("%s: at %v places %+v and wakes at %v, want %d and %v", tc.name, v.Now, p.Place, p.Wake, want.placed,
					wake)
			}
		}
	}
}

// TestDawnForgets: Dawn wants to be asked again for no stage that is over.
func TestDawnForgets(t *testing.T) {
	d := new(Dawn)
	v := &controller.View{Fabric: allocatorFabric(t, 2, 1), Now: time.Second, Free: make([]int32, 4),
		Partial: []controller.Partial{begun(mapReduce("a", 0, 1, 1, 1000), []southbound.HostID{0, controller.NoHost}, 0)}}
	for _, want := range []time.Duration{Delay, southbound.Never} {
		v.TaskChanges++
		p := &controller.Plan{Wake: southbound.Never}
		if d.Fill(v, nil, p); p.Wake != want {
			t.Errorf("with %d jobs: wakes at %v, want %v", len(v.Partial), p.Wake, want)
		}
		v.Partial = nil
	}
}

// TestJobMemoryForgets: once no incremental job is left, nothing is kept of those that were.
func TestJobMemoryForgets(t *testing.T) {
	f, m := allocatorFabric(t, 2, 1), new(jobMemory)
	whole := mapReduce("a", 0, 1, 1, 1000)
	whole.Incremental = false
	v := &controller.View{Fabric: f, Free: make([]int32, f.Hosts()),
		Waiting: []*controller.Job{whole, mapReduce("a", 0, 1, 1, 1000)},
		Partial: []controller.Partial{begun(mapReduce("a", 0, 1, 1, 1000), []southbound.HostID{0, controller.NoHost}, 0)}}
	v.TaskChanges, v.Partial[0].Changes = 3, 2
	for _, want := range []int{1, 0} {
		newSlotAllocator(v, m)
		if len(m.waiting.now) != want || len(m.begun.now) != want || len(m.users.all) != want {
			t.Errorf("of %d and %d jobs %d and %d are kept, and of users %d, want %d each", len(v.Waiting), len(v.Partial),
				len(m.waiting.now), len(m.begun.now), len(m.users.all), want)
		}
		v.Waiting, v.Partial = v.Waiting[:1], nil
	}
}

// asked is when a part decides and when it is to be asked again, in seconds, 0 for never, and how many jobs it places.
type asked struct{ at, wake, placed int }

// TestDawnFruitlessByLoad: Dawn decides anew where the rack that a stage prefers rests on the load of links. Its job
// reads from rack 0 and is read together with what lies in rack 1. That rack has no slot: the stage takes one in rack 0
// once the network is saturated.
func TestDawnFruitlessByLoad(t *testing.T) {
	f := allocatorFabric(t, 2, 1)
	reads := func(r controller.Read, b pathmap.Bytes) controller.Edge {
		r.Kind = controller.OneToOne
		return controller.Edge{Bytes: b, Reads: &r}
	}
	one := []controller.Stage{{Tasks: make([]controller.Task, 1)}}
	parent := &controller.Job{Incremental: true, Stages: one, Edges: []controller.Edge{
		reads(controller.Read{Hosts: []southbound.HostID{0}, Ready: true}, 100)}}
	child := &controller.Job{ID: 1, Incremental: true, Stages: one, Edges: []controller.Edge{
		reads(controller.Read{Known: true, Parent: 0}, 100),
		reads(controller.Read{Hosts: []southbound.HostID{2}, Ready: true}, 300)}}
	v := &controller.View{Fabric: f, Free: []int32{1, 1, 0, 0}, Waiting: []*controller.Job{parent},
		Blocked: []*controller.Job{child},
		Links:   make([]controller.LinkRate, len(f.Topology.Links()))}
	v.TaskChanges = 3
	d := new(Dawn)
	for i, tc := range []struct {
		load   pathmap.BitsPerSecond // in tenths of the uplinks
		placed int
	}{{1, 0}, {6, 0}, {8, 1}} {
		for _, links := range uplinks(v) {
			for _, l := range links {
				rate := controller.LinkRate{Span: 1, Rate: f.Topology.Link(l).Capacity * tc.load / 10}
				v.Links[l], v.Links[pathmap.Reverse(l)] = rate, rate
			}
		}
		v.Now = time.Duration(i) * time.Second
		p := &controller.Plan{Wake: southbound.Never}
		if d.Fill(v, nil, p); len(p.Place) != tc.placed {
			t.Errorf("at a load of %d tenths: places %+v, want %d", tc.load, p.Place, tc.placed)
		}
	}
}

// crowdedView has two hosts with a slot each and, on each of them, as many receiving tasks of a job as PushBox allows;
// one more of that job waits, and a later job that only computes.
func crowdedView(t *testing.T) *controller.View {
	t.Helper()
	f := allocatorFabric(t, 2, 4)
	most := pushbox.Defaults(pushbox.PushBox).Concurrency
	a, b := mapReduce("a", 0, 1, 2*most+1, 7e9), &controller.Job{ID: 1, User: "a", Incremental: true,
		Stages: []controller.Stage{{Name: "map", Tasks: []controller.Task{{Compute: 8 * time.Second}}}}}
	apart(a)
	p := controller.Partial{Job: a, Hosts: make([]southbound.HostID, a.Tasks()),
		Tasks: make([]controller.TaskState, a.Tasks()), Waits: make([]bool, len(a.Stages))}
	for i := range p.Tasks {
		p.Hosts[i] = southbound.HostID(i % 2)
		if i == len(p.Tasks)-1 {
			p.Hosts[i] = controller.NoHost
		}
		p.Tasks[i] = controller.TaskState{Stage: int32(i), Host: p.Hosts[i], Started: -1, Ended: -1}
	}
	p.Tasks[0].Started, p.Tasks[0].Ended = 0, 0
	return &controller.View{Fabric: f, Delta: 20 * time.Millisecond, ElephantThreshold: 2000,
		Free: []int32{1, 1, 0, 0}, Partial: []controller.Partial{p}, Waiting: []*controller.Job{b}}
}

// TestDawnStagesLast: what Dawn keeps of a stage that waits lasts no longer than what it rests on. Each job waits at
// first, or what the plan gives it is refused, and has a host after the change.
func TestDawnStagesLast(t *testing.T) {
	one := func(e ...controller.Edge) *controller.Job {
		return &controller.Job{Incremental: true, Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)}}, Edges: e}
	}
	reads := func(h southbound.HostID) controller.Edge {
		return controller.Edge{Bytes: 100, Reads: &controller.Read{Kind: controller.OneToOne, Ready: true,
			Hosts: []southbound.HostID{h}}}
	}
	small, large := allocatorFabric(t, 2, 1), allocatorFabric(t, 3, 1)
	for _, tc := range []struct {
		name        string
		job         *controller.Job
		free, after []int32
		placed      int // at first
		change      func(v *controller.View, j *controller.Job)
		want        southbound.HostID
	}{
		{"what it reads comes to lie elsewhere", one(reads(0)), []int32{0, 0, 1, 1}, []int32{0, 0, 1, 1}, 0,
			func(_ *controller.View, j *controller.Job) { j.Edges[0] = reads(2) }, 2},
		{"what it was given is refused", one(), []int32{0, 0, 1, 1}, []int32{1, 0, 0, 0}, 1,
			func(v *controller.View, _ *controller.Job) {}, 0},
		{"a rack is added", one(), []int32{0, 0, 1, 1}, []int32{0, 0, 0, 0, 1, 0}, 0,
			func(v *controller.View, _ *controller.Job) { v.Fabric = large }, 4},
	} {
		d := new(Dawn)
		v := &controller.View{Fabric: small, Now: time.Second, Free: tc.free, Waiting: []*controller.Job{tc.job}}
		v.TaskChanges = 3
		if tc.placed == 1 {
			v.Now = time.Minute
		}
		p := &controller.Plan{Wake: southbound.Never}
		if d.Fill(v, nil, p); len(p.Place) != tc.placed {
			t.Fatalf("%s: places %+v at first, want %d", tc.name, p.Place, tc.placed)
		}
		tc.change(v, tc.job)
		v.TaskChanges, v.Free = 4, tc.after
		if tc.want != 2 {
			v.Now = time.Minute // it takes any rack
		}
		p = &controller.Plan{Wake: southbound.Never}
		d.Fill(v, nil, p)
		if len(p.Place) != 1 || p.Place[0].Hosts[0] != tc.want {
			t.Errorf("%s: places %+v, want host %d", tc.name, p.Place, tc.want)
		}
	}
}

// TestByNeedAgain: another rack comes first once the stage prefers it.
func TestByNeedAgain(t *testing.T) {
	a := &aim{needs: needs{rack: []pathmap.Bytes{1, 3, 2}}}
	for _, rack := range []int{0, 2, 1} {
		a.rack = rack
		if got, want := a.byNeed(), byNeed(&a.needs, rack); !slices.Equal(got, want) || got[0] != rack {
			t.Errorf("before all others rack %d: %v, want %v", rack, got, want)
		}
	}
}
