package simulated_test

import (
	"context"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/southbound"
)

// TestPhasesKeepCircuits: under steady traffic that is estimated, circuits stand beyond the hour that they are reserved
// for: each moves once.
func TestPhasesKeepCircuits(t *testing.T) {
	for _, source := range []demand.Source{demand.FromCounters, demand.FromBacklog} {
		for _, part := range []string{"phases", "phases-once"} {
			s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1, Policies: []string{"random+ecmp+" + part},
				Speedup: 1, Coflows: 1, On: scenario.OnFlowsim,
				Fabric: "hybrid:racks=4,hosts=1,spines=1,eps=50Mbps,ocs=500Mbps,dark=10ms,nic=500Mbps",
				Demand: []demand.Options{{Source: source, Period: time.Minute}}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			j := controller.Job{Name: "steady", Edges: []controller.Edge{{}}}
			for i := range southbound.HostID(4) {
				j.Edges[0].Flows = append(j.Edges[0].Flows, controller.Flow{Src: i, Dst: (i + 1) % 4, Bytes: 600e9})
			}
			s.Jobs = []controller.Job{j}
			o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckOutcome(t, s, o)
			if o.End < 2*time.Hour || len(o.State.Moves) != 4 {
				t.Errorf("%s, %s: %d circuits move within %v, want 4", part, source, len(o.State.Moves), o.End)
			}
		}
	}
}
