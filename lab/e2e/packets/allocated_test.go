package packets

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/noise"
)

// TestAllocatedBandwidth: a coflow that CoRBA has routed and OptBA has given rates has, with real TCP,
// the bandwidth that it was given, within 5 %: its bytes over its completion time, against those on the
// simulator, where rates are exact. It measures, so it needs the whole machine:
// LIGHTLOOM_MEASURE=agreement runs it.
func TestAllocatedBandwidth(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "agreement" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=agreement")
	}
	labtest.NeedNetns(t, "netns", false)
	s, err := scenario.Prepare(scenario.Options{On: scenario.OnNetns, Seed: 1,
		Policies: []string{"random+corba+optba"},
		Fabric:   cutFabric, Scale: 1, Speedup: 1, Coflows: 1, Replicas: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Jobs = nil
	for i := range 3 {
		e := controller.Edge{Kind: controller.Fixed}
		for k := range southbound.HostID(6) { // each to another rack, of unequal sizes
			e.Flows = append(e.Flows, controller.Flow{Src: 2 * k, Dst: (2*k + 3) % 16,
				Bytes: pathmap.Bytes(4+2*k) << 20})
		}
		s.Jobs = append(s.Jobs, controller.Job{Name: fmt.Sprint("coflow ", i), Weight: 1,
			Arrival: time.Duration(i) * 12 * time.Second, Edges: []controller.Edge{e}})
	}
	sim, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	noise.Measure(t, 3, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
		defer cancel()
		real, _, err := replay.OnPackets(ctx, s, s.Rows[0], emulated.Options{Stderr: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range real.State.Coflows {
			given := sim.State.Coflows[i]
			off := float64(given.Ended-given.Started)/float64(c.Ended-c.Started) - 1
			t.Logf("coflow %d: %.2f %% of the allocated bandwidth", i, 100*(1+off))
			if math.Abs(off) > 0.05 {
				return fmt.Errorf("coflow %d has %.2f %% of the bandwidth that it was given", i, 100*(1+off))
			}
		}
		return nil
	})
}
