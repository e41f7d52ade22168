package packets

import (
	"context"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/southbound"
)

// TestBlocksOnPackets runs maps whose blocks of 1 MB lie on one rack of three: those elsewhere compute once their block
// has come as real packets, and each byte has arrived once.
func TestBlocksOnPackets(t *testing.T) {
	labtest.ShareNetns(t, "netns", false)
	j := controller.Job{Name: "mapper", Weight: 1, Incremental: true, Stages: []controller.Stage{{Name: "map"},
		{Name: "reduce", Tasks: []controller.Task{{Compute: 10 * time.Millisecond}}}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1e5}}}
	for range 6 {
		j.Stages[0].Tasks = append(j.Stages[0].Tasks, controller.Task{Compute: 50 * time.Millisecond, Input: 1e6,
			Replicas: []southbound.RackID{2}})
	}
	s, err := scenario.Prepare(scenario.Options{Given: []controller.Job{j},
		Fabric:   "hybrid:racks=3,hosts=1,spines=1,eps=20Mbps,ocs=200Mbps,dark=1ms,slots=3",
		Policies: []string{"pushbox"}, Seed: 5, Speedup: 1, Replicas: 1, On: scenario.OnNetns}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	o, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckPackets(t, s, o)
	far := 0
	for i := range o.State.Tasks[:6] {
		x := &o.State.Tasks[i]
		if (x.Host == 2) == x.OverNetwork {
			t.Errorf("task %d: %+v", i, *x)
		}
		if x.OverNetwork {
			far++
			if read := x.Started - x.ReadSince; read < 300*time.Millisecond { // 1 MB at 20 Mb/s takes 418 ms
				t.Errorf("task %d reads for %v", i, read)
			}
		}
	}
	if far == 0 {
		t.Error("no task has read from another rack")
	}
}
