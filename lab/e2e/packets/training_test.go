package packets

import (
	"context"
	"fmt"
	"io"
	"testing"

	"lightloom/controller/phases"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// TestTrainingOnPackets: ranks of a training job send each byte once, while circuits follow each of its ten phases: all
// 8 move before each, unless others keep the controller from its processor. No run is faster than its network cards.
func TestTrainingOnPackets(t *testing.T) {
	shared := labtest.ShareNetns(t, "netns", false)
	s, err := scenario.Prepare(scenario.Options{On: scenario.OnNetns, Demo: true, Workload: scenario.TrainingDemo, Seed: 1,
		Speedup: 1, Replicas: 1, Policies: []string{"random+ecmp+phases"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	shared.Measure(t, 4, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
		defer cancel()
		o, _, err := replay.OnPackets(ctx, s, s.Rows[0], emulated.Options{Stderr: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		labtest.CheckPackets(t, s, o)
		j := o.State.Jobs[0]
		if bound := phases.Bound(&s.Jobs[0], s.Jobs[0].PinnedHosts(), s.Fabric); j.Ended-j.Placed < bound {
			t.Errorf("it takes %v; its network cards take %v", j.Ended-j.Placed, bound)
		}
		if o.OCS == 0 || len(o.State.Moves) != 80 {
			return fmt.Errorf("%d moves, %d bytes over circuits", len(o.State.Moves), o.OCS)
		}
		return nil
	})
}
