package experiment

import (
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
)

// TestOverlapping: no map and no byte is lost, every group of maps has its shuffle to the same reduces,
// and jobs without one stay as they are.
func TestOverlapping(t *testing.T) {
	job := func(maps int, b pathmap.Bytes) controller.Job {
		return controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, maps)},
			{Tasks: make([]controller.Task, 3)}}, Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: b}}}
	}
	in := []controller.Job{job(10, 1001), job(2, 7), {Stages: make([]controller.Stage, 1)}}
	for i, stages := range []int{5, 3, 1} {
		j := overlapping(in, 4)[i]
		maps, bytes := 0, pathmap.Bytes(0)
		for k, e := range j.Edges {
			maps, bytes = maps+len(j.Stages[k].Tasks), bytes+e.Bytes
			if e.From != k || e.To != len(j.Stages)-1 || len(j.Stages[e.To].Tasks) != 3 {
				t.Errorf("job %d: edge %d: %+v", i, k, e)
			}
		}
		if len(j.Stages) != stages || len(in[i].Edges) > 0 && (maps != len(in[i].Stages[0].Tasks) ||
			bytes != in[i].Edges[0].Bytes) {
			t.Errorf("job %d: %d stages, %d maps, %d bytes", i, len(j.Stages), maps, bytes)
		}
	}
}

// TestCalibrated: the cell is chosen by Fair's makespan, and then by what circuits carry.
func TestCalibrated(t *testing.T) {
	cell := func(seconds, circuits float64) Runs {
		return Runs{{makespan: seconds, overOCS: circuits}}
	}
	for _, tc := range []struct {
		name string
		fair []Runs
		want int
	}{
		{"the longest where none is long enough", []Runs{cell(5400, 2.2), cell(9000, 50)}, 1},
		{"the nearest share where makespans differ by less than a tenth",
			[]Runs{cell(5600, 60), cell(5500, 2)}, 1},
		{"the nearest share where several are", []Runs{cell(20_000, 9), cell(13_000, 3), cell(14_000, 1)}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := calibrated(tc.fair); got != tc.want {
				t.Errorf("cell %d, want %d", got, tc.want)
			}
		})
	}
}

// TestBinding: the network binds most where the first Fair of a cell could gain most.
func TestBinding(t *testing.T) {
	cell := func(bound float64) Runs { return Runs{{bounded(meanJCT): bound}} }
	if got := binding([]Runs{cell(1), cell(90), cell(30), cell(2), cell(20), cell(95)}); got != 1 {
		t.Errorf("cell %d, want 1", got)
	}
}

// TestContendersRun: every scheduler of the grid runs a few jobs to their end.
func TestContendersRun(t *testing.T) {
	all := trace([2]int{4000, 4000}, [2]int{2000, 100}, [2]int{3000, 9000}, [2]int{900, 10}, [2]int{500, 2000})
	for _, c := range contenders() {
		f, err := c.run(t.Context(), all, gridCell{60, 0.6, 3}, 5, 1)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if f[meanJCT] <= 0 || f[meanCCT] <= 0 || f[bounded(meanJCT)] < 0 {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}
