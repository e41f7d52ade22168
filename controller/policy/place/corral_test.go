package place

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestCorralRacks chooses among four racks of 2 hosts × 2 slots with an uplink of 1 Gb/s. Of a shuffle
// of S bytes, which take s seconds of one uplink, s·(r − 1)/r² are added on r racks; waves of 10 s are
// ⌈tasks ÷ 4r⌉.
func TestCorralRacks(t *testing.T) {
	const second = pathmap.Bytes(1e9 / 8)
	for _, tc := range []struct {
		name          string
		maps, reduces int
		shuffle       pathmap.Bytes
		running       [4]int // tasks of 30 s, by rack
		want          []int32
	}{
		{"nothing to shuffle", 16, 0, 0, [4]int{}, []int32{0, 1, 2, 3}},                    // 40, 20, 20, 10
		{"two racks are enough", 8, 0, 0, [4]int{}, []int32{0, 1}},                         // 20, 10, 10, 10
		{"three racks are enough", 12, 0, 0, [4]int{}, []int32{0, 1, 2}},                   // 30, 20, 10, 10
		{"nothing to do", 0, 0, 0, [4]int{}, []int32{0}},                                   // 0 on each
		{"one rack is enough", 4, 4, 0, [4]int{}, []int32{0}},                              // 20 on each
		{"a shuffle that pays", 16, 0, 159 * second, [4]int{}, []int32{0, 1, 2, 3}},        // 40, 59.8, 55.3, 39.8
		{"as long as on one rack", 16, 0, 160 * second, [4]int{}, []int32{0}},              // 40, 60, 55.6, 40
		{"reduces come in waves, too", 4, 16, 159 * second, [4]int{}, []int32{0, 1, 2, 3}}, // 50, 69.8, 65.3, 49.8
		{"busy racks last", 8, 0, 0, [4]int{4, 4, 0, 0}, []int32{2, 3}},                    // 20, 10, 40, 40
		{"not worth a busy rack", 12, 0, 0, [4]int{0, 0, 4, 4}, []int32{0, 1}},             // 30, 20, 40, 40
		{"half of its slots is enough", 16, 0, 0, [4]int{1, 0, 0, 0}, []int32{1, 2, 3, 0}}, // 40, 20, 20, 10
		{"and a third is not", 16, 0, 0, [4]int{2, 0, 0, 0}, []int32{1, 2}},                // 40, 20, 20, 40
	} {
		t.Run(tc.name, func(t *testing.T) {
			y := busy(t, tc.running)
			if got := rackUplink(y.v); got != pathmap.Gbps {
				t.Fatalf("the uplink of a rack is %v", got)
			}
			got := y.planCorral(&controller.Prediction{Shuffle: tc.shuffle, Maps: tc.maps, Reduces: tc.reduces,
				MapTime: 10 * time.Second, RedTime: 10 * time.Second})
			if !slices.Equal(got, tc.want) {
				t.Errorf("on racks %v, want %v", got, tc.want)
			}
		})
	}
}

// busy is four racks of 2 hosts × 2 slots; running is the number of tasks of each rack that still take 30 s.
func busy(t *testing.T, running [4]int) *slotAllocator {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 4, Hosts: 2, Slots: 2, Spines: 1,
		EPS: pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Fabric: f, Now: 10 * time.Second, Free: slices.Repeat([]int32{2}, f.Hosts())}
	job := &controller.Job{Incremental: true, Stages: []controller.Stage{{Tasks: make([]controller.Task, 16)}}}
	tasks, hosts, at := make([]controller.TaskState,
		16), slices.Repeat([]southbound.HostID{controller.NoHost}, 16), 0
	for r, n := range running {
		for i := range n {
			h := southbound.HostID(2*r + i%2)
			v.Free[h]--
			hosts[at], tasks[at] = h, controller.TaskState{Host: h, Started: 5 * time.Second, Ended: -1}
			at++
		}
	}
	for i := range tasks {
		job.Stages[0].Tasks[i].Compute = 35 * time.Second
		if i >= at {
			tasks[i] = controller.TaskState{Host: controller.NoHost, Started: -1, Ended: -1}
		}
	}
	v.Partial = []controller.Partial{{Job: job, Hosts: hosts, Tasks: tasks, Waits: make([]bool, 1)}}
	y := newSlotAllocator(v, nil)
	if y == nil {
		t.Fatal("no work")
	}
	return y
}

// TestEstimatedReleases: with an error of 40 % every release is drawn evenly from 60 to 140 % of what
// it is, to either side, those of a rack are sorted again, and the same view gives the same; without
// one they are exact.
func TestEstimatedReleases(t *testing.T) {
	y := busy(t, [4]int{4, 4, 4, 3})
	exact := (&schedulingPass{CoScheduler: &CoScheduler{}, slotAllocator: y}).estimated()
	var least, most, sum, n = math.Inf(1), 0.0, 0.0, 0
	for seed := range uint64(200) {
		y.v.Seed = seed
		k := &schedulingPass{CoScheduler: &CoScheduler{Error: .4}, slotAllocator: y}
		for r, free := range k.estimated() {
			if !slices.IsSorted(free) || len(free) != len(exact[r]) {
				t.Fatalf("seed %d: rack %d: %v", seed, r, free)
			}
			for i, at := range free {
				want := 30 * time.Second
				if r == 3 && i == 0 { // its free slot, and no error makes it come later
					want = 0
				}
				if exact[r][i] != want || (at == 0) != (want == 0) {
					t.Fatalf("seed %d: slot %d of rack %d: exactly %v, want %v; estimated %v", seed, i, r,
						exact[r][i], want, at)
				}
				if want > 0 {
					share := float64(at) / float64(want)
					least, most, sum, n = min(least, share), max(most, share), sum+share, n+1
				}
			}
		}
	}
	if mean := sum / float64(n); least < .6 || least > .61 || most > 1.4 || most < 1.39 ||
		math.Abs(mean-1) > .02 {
		t.Errorf("%d estimates are %.3f to %.3f of what is, %.3f in the mean", n, least, most, mean)
	}
	a := (&schedulingPass{CoScheduler: &CoScheduler{Error: .4}, slotAllocator: y}).estimated()
	b := (&schedulingPass{CoScheduler: &CoScheduler{Error: .4}, slotAllocator: y}).estimated()
	if !slices.EqualFunc(a, b, slices.Equal) {
		t.Errorf("one view is estimated as %v and as %v", a, b)
	}
}

// TestPlanCorral: jobs that arrive together get racks of their own as long as there are some, and one
// that comes when all are taken gets the one that is left first.
func TestPlanCorral(t *testing.T) {
	job := func(name string, at, mapTime time.Duration) controller.Job {
		return controller.Job{Name: name, Arrival: at * time.Second,
			Predicted: &controller.Prediction{Maps: 2, Reduces: 1,
				Shuffle: 1e9, MapTime: mapTime * time.Second, RedTime: time.Second}}
	}
	jobs := []controller.Job{job("a", 0, 100), job("b", 0, 50), job("c", 1, 10), {Name: "does not recur"}}
	got := PlanCorral(jobs, 2, 4, 10*pathmap.Gbps)
	want := map[string][]int32{"a": {0}, "b": {1}, "c": {1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
