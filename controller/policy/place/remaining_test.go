package place

import (
	"testing"
	"time"

	"lightloom/controller"
)

// TestRemainingTimes: a task that has reported is estimated by its progress, one that has not by what
// is known of others: ended tasks of its stage, else the prediction, else ended tasks of other jobs.
// Its own length is not looked at.
func TestRemainingTimes(t *testing.T) {
	const s = time.Second
	job := func(p *controller.Prediction) *controller.Job {
		return &controller.Job{Predicted: p, Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)},
			{Tasks: make([]controller.Task, 1)}}, Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1}}}
	}
	ended := func(took time.Duration) controller.TaskState {
		return controller.TaskState{Started: 0, Ended: took}
	}
	running := func(since time.Duration) controller.TaskState { return controller.TaskState{Started: since, Ended: -1} }
	for _, tc := range []struct {
		name    string
		predict *controller.Prediction
		tasks   []controller.TaskState // of the job: two maps and a reduce
		task    int
		want    time.Duration
	}{
		{"by its progress", nil, []controller.TaskState{running(40 * s), ended(9 * s)}, 0, 50 * s},
		{"by the other map", nil, []controller.TaskState{running(99 * s), ended(30 * s)}, 0, 29 * s},
		{"by the prediction", &controller.Prediction{MapTime: 20 * s}, []controller.TaskState{running(98 * s),
			running(98 * s)}, 0, 18 * s},
		{"by another job", nil, []controller.TaskState{running(99 * s), running(99 * s)}, 0, 6 * s},
		{"a reduce that waits", &controller.Prediction{RedTime: 70 * s},
			[]controller.TaskState{ended(9 * s), ended(9 * s),
				running(-1)}, 2, 70 * s},
		{"longer than others took", nil, []controller.TaskState{running(98 * s), ended(s)}, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := job(tc.predict)
			for i := range j.Stages[0].Tasks {
				j.Stages[0].Tasks[i].Compute = 110 * s
			}
			for i := range tc.tasks {
				if i == 2 {
					tc.tasks[i].Stage = 1
				}
			}
			y := &slotAllocator{v: &controller.View{Now: 100 * s}}
			y.add(j, nil)
			y.add(job(nil), nil)
			y.works[0].tasks, y.works[1].tasks = tc.tasks, []controller.TaskState{ended(7 * s)}
			if got := y.remaining(y.works[0], y.estimates(), tc.task); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}
