package simulated

import (
	"testing"
	"time"

	"lightloom/lab/scenario"
)

// TestQueueWatchSpreads: of a run of very many events only some are looked at.
func TestQueueWatchSpreads(t *testing.T) {
	s, err := scenario.Prepare(scenario.Options{Fabric: "crossbar:ports=2,rate=1Gbps", On: scenario.OnFlowsim,
		Policies: []string{"sebf"},
		Coflows:  1, Speedup: 1, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := New(s.Scenario(s.Rows[0]), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := newQueueWatch(x.Sim, len(s.Fabric.Topology.Links()))
	looks := 0
	for i := range 10 * manySamples {
		before := w.at
		w.arrive(time.Duration(i+1) * time.Millisecond)
		if w.at != before {
			looks++
		}
		w.step(time.Duration(i+1) * time.Millisecond)
	}
	if looks > 5*manySamples || looks < manySamples || w.every == 0 {
		t.Errorf("%d looks at %d events, %v apart", looks, 10*manySamples, w.every)
	}
}
