package packets

import (
	"context"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// TestDRCOnAgents runs a task of 8 s on one vCPU, whose job may have a quarter of its host's four, with a real agent.
// It is lent the other three, so that it ends after 2 s.
func TestDRCOnAgents(t *testing.T) {
	labtest.ShareNetns(t, "netns", false)
	j := controller.Job{Name: "a", Weight: 1, Limits: &controller.Limits{Host: 0.25},
		Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Load: 8 * time.Second}}}}}
	s, err := scenario.Prepare(scenario.Options{Given: []controller.Job{j},
		Fabric:   "leafspine:racks=2,hosts=1,spines=1,nic=20Mbps,slots=4,vcpus=4",
		Policies: []string{"ontapra-drc"}, Seed: 1, Speedup: 1, Replicas: 1, On: scenario.OnNetns}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	o, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := &o.State.Tasks[0]
	if took := x.Ended - x.Started; x.Try != 1 || x.ExtraMilli != 3000 || took < 1900*time.Millisecond ||
		took > 7*time.Second {
		t.Errorf("%+v took %v", *x, took)
	}
}
