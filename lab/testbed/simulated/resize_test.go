package simulated_test

import (
	"context"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
)

// TestDRC: a task of 8 s on one vCPU, whose job may have a quarter of its host's four, runs alone. DRC lends it the
// rest at once, so it takes 2 s instead of 8; when a second job comes it gives back what that needs, and both end.
func TestDRC(t *testing.T) {
	job := func(name string, at time.Duration) controller.Job {
		return controller.Job{Name: name, Weight: 1, Arrival: at, Limits: &controller.Limits{Host: 0.25},
			Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Load: 8 * time.Second}}}}}
	}
	run := func(policy string, jobs ...controller.Job) []time.Duration {
		t.Helper()
		s, err := scenario.Prepare(scenario.Options{Given: jobs, Fabric: "leafspine:racks=1,hosts=1,spines=1,slots=4,vcpus=4",
			Policies: []string{policy}, Seed: 1, Speedup: 1, Replicas: 1, On: scenario.OnFlowsim}, 1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		var took []time.Duration
		for _, j := range o.State.Jobs {
			took = append(took, j.Ended-j.Arrival)
		}
		return took
	}
	near := func(got, want time.Duration) bool { return (got - want).Abs() < 20*time.Millisecond }
	if got := run("ontapra", job("a", 0)); !near(got[0], 8*time.Second) {
		t.Errorf("without DRC %v", got)
	}
	if got := run("ontapra-drc", job("a", 0)); !near(got[0], 2*time.Second) {
		t.Errorf("with DRC %v", got)
	}
	// After a second alone a has 4 s of work left, and b all of 8: with two vCPUs each a ends at 3 s, and b, with 4 s
	// left, at 4 s.
	if got := run("ontapra-drc", job("a", 0), job("b", time.Second)); !near(got[0], 3*time.Second) ||
		!near(got[1], 3*time.Second) {
		t.Errorf("two jobs with DRC %v", got)
	}
}
