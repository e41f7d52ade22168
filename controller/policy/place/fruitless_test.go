package place

import (
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
