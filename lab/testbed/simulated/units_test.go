package simulated_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/southbound"
)

// TestLargerTasks: Co-scheduler, Dawn and joint place jobs whose tasks take two slots of hosts with four as
// they place jobs of single slots on hosts with two, and not like Fair, which spreads them.
func TestLargerTasks(t *testing.T) {
	hosts := func(policy string, size int32, slots int) (out []southbound.HostID) {
		t.Helper()
		var jobs []controller.Job
		for i := range 3 {
			stage := func(name string, n int) controller.Stage {
				s := controller.Stage{Name: name, Tasks: make([]controller.Task, n)}
				for k := range s.Tasks {
					s.Tasks[k] = controller.Task{Compute: time.Second, Slots: size}
				}
				return s
			}
			jobs = append(jobs, controller.Job{Name: fmt.Sprint(i), Weight: 1, Arrival: time.Duration(i) * time.Second,
				Stages: []controller.Stage{stage("map", 4), stage("reduce", 3)},
				Edges:  []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: 6e9}}})
		}
		s, err := scenario.Prepare(scenario.Options{Given: jobs, Policies: []string{policy}, Seed: 1, Speedup: 1, Replicas: 1,
			Fabric: fmt.Sprintf("hybrid:racks=6,hosts=4,slots=%d,spines=1,eps=10Gbps,ocs=40Gbps", slots),
			On:     scenario.OnFlowsim}, 1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range o.State.Tasks {
			out = append(out, o.State.Tasks[i].Host)
		}
		return out
	}
	fair := hosts("fair+sunflow", 2, 4)
	for _, policy := range []string{"coscheduler+sunflow", "dawn", "joint"} {
		got, want := hosts(policy, 2, 4), hosts(policy, 1, 2)
		if !slices.Equal(got, want) || slices.Equal(got, fair) {
			t.Errorf("%s: two slots a task on hosts %v, one on %v, under Fair %v", policy, got, want, fair)
		}
	}
}
