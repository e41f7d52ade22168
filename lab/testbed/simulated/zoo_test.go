package simulated_test

import (
	"math"
	"os"
	"testing"

	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/pathmap/tries"
)

// TestZooOnSimulator brings all 203 graphs of the Topology Zoo and all 26 of SNDlib up on the
// simulator, with a host at each node, and runs a job on each; in a normal run those of 25 nodes at most.
func TestZooOnSimulator(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LIGHTLOOM_DATA")
	if dir == "" {
		t.Skip("LIGHTLOOM_DATA names no directory of public data")
	}
	most := tries.Of(25, math.MaxInt)
	all := append(labtest.Zoo(t, dir, "topozoo", most), labtest.Zoo(t, dir, "sndlib", most)...)
	if want := tries.Of(133, 203+26); len(all) != want {
		t.Errorf("%d graphs, want %d", len(all), want)
	}
	for _, g := range all {
		p, err := scenario.Prepare(scenario.Options{Fabric: g.Fabric(t), On: scenario.OnFlowsim,
			Seed: 1, Speedup: 1,
			Policies: []string{"random+ecmp"}, Replicas: 1, Given: labtest.ThereAndBack(g)}, 1)
		if err != nil {
			t.Fatalf("%s: %v", g.Name, err)
		}
		o, err := labtest.Simulate(t.Context(), p, p.Rows[0], nil)
		if err != nil {
			t.Fatalf("%s: %v", g.Name, err)
		}
		if r := o.ResultOf(p); len(r.Jobs) != 1 || len(r.Coflows) != 1 || r.Coflows[0].CCT() <= 0 {
			t.Errorf("%s: %d jobs ended, of %d coflows", g.Name, len(r.Jobs), len(r.Coflows))
		}
	}
}
