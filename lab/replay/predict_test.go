package replay

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// TestPredictions: once this machine has run like things, the time that a run on the simulator is said
// to take is within a factor of two in nine of ten runs of other sizes and seeds, where they take a
// third of a second and more. It measures, so it needs the whole machine: LIGHTLOOM_MEASURE=predict
// runs it.
func TestPredictions(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "predict" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=predict")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const small, large = "hybrid:racks=16,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms",
		"leafspine:racks=32,hosts=4,spines=4,eps=1Gbps"
	run := func(fabric, policies string, coflows int, seed uint64) *report.Run {
		t.Helper()
		dir := t.TempDir()
		var out bytes.Buffer
		err := Replay(t.Context(), Options{Options: scenario.Options{Coflows: coflows, Seed: seed,
			Scale: 1, Speedup: 1, Replicas: 1, Fabric: fabric, On: scenario.OnFlowsim, Policies: []string{policies}},
			Console: Console{Stdout: &out, Stderr: &out, ReportDir: dir}})
		if err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		r, err := report.ReadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	good, all := 0, ""
	for _, tc := range []struct {
		fabric, policy string
		learn, coflows int
	}{
		{small, "random+ecmp", 1600, 2400},
		{small, "random+ecmp", 1600, 960},
		{small, "random+ecmp+sunflow", 1600, 2800},
		{small, "random+ecmp+sunflow", 1600, 800},
		{small, "crosslayer+sunflow", 800, 1280},
		{small, "joint", 800, 1200},
		{large, "random+ecmp+maxmin", 1600, 2400},
		{large, "sebf", 1600, 2560},
		{large, "crosslayer", 800, 1200},
		{large, "random+ecmp+dclas", 1600, 880},
	} {
		run(tc.fabric, tc.policy, tc.learn, 1)
		r := run(tc.fabric, tc.policy, tc.coflows, 7)
		took := 0.0
		for _, p := range r.Policies {
			took += p.Wall
		}
		ratio := r.Predicted / took
		if ratio >= 0.5 && ratio <= 2 {
			good++
		}
		all += fmt.Sprintf("%s, %d coflows: predicted %.2f s, took %.2f s, ratio %.2f\n", tc.policy,
			tc.coflows, r.Predicted,
			took, ratio)
	}
	t.Logf("%d of 10 within a factor of two\n%s", good, all)
	if good < 9 {
		t.Errorf("only %d of 10 are within a factor of two", good)
	}
}
