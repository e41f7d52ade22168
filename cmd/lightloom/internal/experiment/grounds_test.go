package experiment

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload/swim"
	"lightloom/southbound"
)

// TestGrounds: all jobs of a ground can be placed on its fabric, none has fixed hosts, a seed draws the same jobs
// again, and held-out seeds see jobs of a real trace that no other seed does.
func TestGrounds(t *testing.T) {
	data := os.Getenv("LIGHTLOOM_DATA")
	if data == "" {
		if strings.Contains(os.Getenv("LIGHTLOOM_MUST"), "data") {
			t.Fatal("LIGHTLOOM_MUST names data, and LIGHTLOOM_DATA no folder")
		}
		t.Skip("needs data: LIGHTLOOM_DATA names no folder of traces")
	}
	b := &Bench{Data: data}
	for _, s := range sources(20) {
		t.Run(s.name, func(t *testing.T) {
			g := ground{s.name, groundFabric("10ms"), "10ms", 0.5, s}
			seen := [2]map[string]bool{{}, {}}
			for i, seed := range []uint64{1, heldOut} {
				jobs, err := g.jobs(b, seed)
				if err != nil || len(jobs) != 20 {
					t.Fatalf("%d jobs, %v", len(jobs), err)
				}
				if again, _ := g.jobs(b, seed); !reflect.DeepEqual(jobs, again) {
					t.Error("a seed draws other jobs when asked again")
				}
				for k := range jobs {
					j := &jobs[k]
					seen[i][j.Name] = true
					if err := j.Check(groundRacks*groundHosts, groundRacks*groundHosts*groundSlots); err != nil {
						t.Error(err)
					}
					if slices.ContainsFunc(j.Edges, func(e controller.Edge) bool { return e.Kind == controller.Fixed }) {
						t.Errorf("%s has fixed hosts", j.Name)
					}
				}
			}
			for name := range maps.Keys(seen[0]) {
				if s.data && seen[1][name] {
					t.Errorf("%s is seen by both kinds of seed", name)
				}
			}
		})
	}
}

// TestControl works the infinite-network control out by hand: bytes take no time, slots are given in the order of the
// run, a stage that receives begins with the last of its slots, and a gang takes its slots together.
func TestControl(t *testing.T) {
	const s = time.Second
	tasks := func(compute ...time.Duration) (out []controller.Task) {
		for _, c := range compute {
			out = append(out, controller.Task{Compute: c * s})
		}
		return out
	}
	shuffle := []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1e9}}
	job := func(at time.Duration, incremental bool, stages ...[]controller.Task) *controller.Job {
		j := &controller.Job{Arrival: at * s, Incremental: incremental}
		for _, x := range stages {
			j.Stages = append(j.Stages, controller.Stage{Tasks: x})
		}
		if len(stages) == 2 {
			j.Edges = shuffle
		}
		return j
	}
	for _, tc := range []struct {
		name  string
		slots int
		jobs  []*controller.Job
		given [][]time.Duration
		hosts []southbound.HostID
		want  []time.Duration
	}{
		{"a shuffle takes no time", 2, []*controller.Job{job(1, true, tasks(3), tasks(2))}, [][]time.Duration{{1, 9}},
			[]southbound.HostID{0, 1}, []time.Duration{6}},
		{"the second job waits for the slot of the first", 1, []*controller.Job{job(0, true, tasks(3)),
			job(1, true, tasks(2))}, [][]time.Duration{{0}, {8}}, []southbound.HostID{0, 0}, []time.Duration{3, 5}},
		{"the order of slots stays", 1, []*controller.Job{job(0, true, tasks(3)), job(1, true, tasks(2))},
			[][]time.Duration{{8}, {1}}, []southbound.HostID{0, 0}, []time.Duration{6, 3}},
		{"a stage begins with its last slot", 1, []*controller.Job{job(0, true, tasks(4)),
			job(0, true, tasks(1), tasks(1, 1))}, [][]time.Duration{{0}, {0, 1, 6}}, []southbound.HostID{0, 1, 1, 0},
			[]time.Duration{4, 5}},
		{"a gang waits for all slots", 1, []*controller.Job{job(0, false, tasks(5)), job(0, false, tasks(1, 1))},
			[][]time.Duration{{0}, {7, 7}}, []southbound.HostID{0, 0, 1}, []time.Duration{5, 6}},
		{"a job that never got all slots has no end", 1, []*controller.Job{job(0, true, tasks(1), tasks(1))},
			[][]time.Duration{{0, -1}}, []southbound.HostID{0, 1}, []time.Duration{-1}},
		{"a bare coflow", 1, []*controller.Job{job(3, false)}, [][]time.Duration{nil}, nil, []time.Duration{3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &freeRun{jobs: tc.jobs, given: map[controller.JobID][]time.Duration{}, slots: tc.slots}
			for i, j := range tc.jobs {
				j.ID, j.FirstTask = controller.JobID(i), southbound.TaskID(len(f.tasks))
				for _, at := range tc.given[i] {
					f.given[j.ID] = append(f.given[j.ID], at*s)
					f.tasks = append(f.tasks, controller.TaskState{Host: tc.hosts[len(f.tasks)]})
				}
			}
			ends := f.ends()
			for i, want := range tc.want {
				if got, ok := ends[controller.JobID(i)]; ok != (want >= 0) || ok && got != want*s {
					t.Errorf("job %d ends at %v (%v), want %v s", i, got, ok, int(want))
				}
			}
		})
	}
}

// TestControlBounds: no job ends later in the control than in its run, and with a network a thousand times as fast the
// run nears the control but for what schedulers wait on purpose.
func TestControlBounds(t *testing.T) {
	for _, source := range sources(6)[:3] {
		g := ground{source.name, groundFabric("10ms"), "10ms", 0.9, source}
		for _, r := range groundRivals() {
			f, err := g.run(t.Context(), new(Bench), r, 1)
			if err != nil {
				t.Fatal(err)
			}
			if f.BoundJCT < 0 || f.BoundJCT > 100 || f.BoundMakespan < 0 || f.BoundMakespan > 100 {
				t.Errorf("%s, %s: a network changes %v and %v %%", g.name, r.name, f.BoundJCT, f.BoundMakespan)
			}
		}
	}
	c := cluster{Fabric: "hybrid:racks=4,hosts=2,slots=4,spines=1,nic=10Tbps,eps=40Tbps", Jobs: 6, Model: swim.V1(32)}
	f, err := c.run(t.Context(), trace([2]int{4000, 4000}, [2]int{2000, 1000}, [2]int{3000, 9000}, [2]int{900, 10},
		[2]int{8000, 100}, [2]int{500, 5000}), "fair", nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if f.BoundMakespan < 0 || f.BoundMakespan > 10 {
		t.Errorf("a network that takes no time leaves %v %% of the makespan to gain", f.BoundMakespan)
	}
}
