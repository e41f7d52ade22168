package replay

import (
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/southbound"
)

// TestSeenInEitherOrder: of two jobs that arrive together the second may be accepted first. Their
// coflows are measured by their own tasks.
func TestSeenInEitherOrder(t *testing.T) {
	shuffle := func(name string, maps, reduces int) controller.Job {
		return controller.Job{Name: name,
			Stages: []controller.Stage{{Name: "map", Tasks: make([]controller.Task, maps)},
				{Name: "reduce", Tasks: make([]controller.Task, reduces)}},
			Edges: []controller.Edge{{From: 0, To: 1, Kind: controller.ScatterGather, Bytes: 1e6}}}
	}
	jobs := []controller.Job{shuffle("wide", 2, 3), shuffle("narrow", 1, 1)}
	p, err := scenario.Prepare(scenario.Options{Fabric: "hybrid:racks=2,hosts=4",
		On: scenario.OnFlowsim, Speedup: 1,
		Policies: []string{"random+ecmp"}, Seed: 1, Replicas: 1, Given: jobs}, 1)
	if err != nil {
		t.Fatal(err)
	}
	slowdown := func(order ...int) float64 {
		o := &outcome.Outcome{State: &state.Data{}}
		for id, k := range order {
			j := &state.Job{Job: p.Jobs[k]}
			j.ID = controller.JobID(id)
			for h := range j.Tasks() {
				j.Hosts = append(j.Hosts, southbound.HostID(h))
			}
			o.State.Jobs = append(o.State.Jobs, j)
			o.State.Coflows = append(o.State.Coflows, &state.Coflow{ID: southbound.CoflowID(id), Job: j.ID,
				Ended: time.Second})
		}
		var h report.Health
		(&runner{Prepared: p}).seen(&h, o)
		if h.Coflows != 2 || h.MeanCCT != 1 {
			t.Errorf("%v: %d coflows of %v s", order, h.Coflows, h.MeanCCT)
		}
		return h.Slowdown
	}
	if a, b := slowdown(0, 1), slowdown(1, 0); a != b || a <= 0 {
		t.Errorf("slowed down by %v, and by %v where the second job was accepted first", a, b)
	}
}
