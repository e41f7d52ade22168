package control

import (
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// TestControl works the infinite-network control out by hand: bytes take no time, slots are given in
// the order of the run, a stage that receives begins with the last of its slots, and a gang takes its
// slots together.
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
		{"a shuffle takes no time", 2, []*controller.Job{job(1, true, tasks(3), tasks(2))},
			[][]time.Duration{{1, 9}},
			[]southbound.HostID{0, 1}, []time.Duration{6}},
		{"the second job waits for the slot of the first", 1, []*controller.Job{job(0, true, tasks(3)),
			job(1, true, tasks(2))}, [][]time.Duration{{0}, {8}}, []southbound.HostID{0, 0}, []time.Duration{3, 5}},
		{"the order of slots stays", 1, []*controller.Job{job(0, true, tasks(3)), job(1, true, tasks(2))},
			[][]time.Duration{{8}, {1}}, []southbound.HostID{0, 0}, []time.Duration{6, 3}},
		{"a stage begins with its last slot", 1, []*controller.Job{job(0, true, tasks(4)),
			job(0, true, tasks(1), tasks(1, 1))}, [][]time.Duration{{0}, {0, 1,
			6}}, []southbound.HostID{0, 1, 1, 0},
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
