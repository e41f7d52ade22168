package simulated_test

import (
	"context"
	"math"
	"testing"
	"time"

	"lightloom/controller/policy"
	"lightloom/controller/workload"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// replayFacebook replays the Facebook trace on one big switch under one policy.
func replayFacebook(t testing.TB, policy string, coflows int, rules scenario.Rules) (*report.Policy,
	*outcome.Outcome) {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Trace: labtest.FacebookTrace(t), Fabric: labtest.BigSwitch,
		On:       scenario.OnFlowsim,
		Policies: []string{policy}, Coflows: coflows, Speedup: 1, Seed: 1, Rules: rules}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	return labtest.Figures(s, o), o
}

func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*want {
		t.Errorf("%s is %v, the peer's %v", what, got, want)
	}
}

// TestCoflowsimFigures compares the compatible mode with coflowsim's own results, to the digits that
// were noted.
func TestCoflowsimFigures(t *testing.T) {
	t.Parallel()
	compat := scenario.Rules{Compat: scenario.CompatCoflowsim, CarryLocal: true}
	for _, tc := range []struct {
		name, policy     string
		coflows, width   int
		mean, p50, worst float64 // seconds; 0: not noted
		ratio            float64
	}{
		{"first100", "sebf", 100, 0, 2.783, .104, 165.928, 1.008},
		{"small400", "sebf", 0, 400, .866, .096, 61.432, 1.001},
		{"first100", "fifo", 100, 0, 6.182, 0, 0, 0},
		{"small400", "fifo", 0, 400, .871, 0, 0, 0},
	} {
		t.Run(tc.policy+" "+tc.name, func(t *testing.T) {
			rules := compat
			rules.MaxWidth = tc.width
			p, o := replayFacebook(t, tc.policy, tc.coflows, rules)
			digits := func(what string, got, want float64) {
				if want > 0 && math.Abs(got-want) > .0005+1e-9 {
					t.Errorf("%s is %.5f, coflowsim's %.3f", what, got, want)
				}
			}
			digits("mean", p.CCT.Mean, tc.mean)
			digits("p50", p.CCT.P50, tc.p50)
			digits("max", p.CCT.Max, tc.worst)
			digits("mean ratio to the isolated bound", p.OverBound.Mean, tc.ratio)
			for i, c := range o.State.Coflows {
				if (c.Ended-c.Ready)%(8*time.Millisecond) != 0 {
					t.Fatalf("coflow %d takes %v: coflowsim's times are whole steps of 8 ms", i, c.Ended-c.Ready)
				}
			}
		})
	}
}

// TestSunflowsVarys holds sebf against the figure of Sunflow's simulator for Varys: exact times, local
// flows free.
func TestSunflowsVarys(t *testing.T) {
	p, _ := replayFacebook(t, "sebf", 0, scenario.Rules{MaxWidth: 400, Redecide: policy.AtFlows})
	near(t, "mean", p.CCT.Mean, .85813, .01)
}

// TestAtFlowEnds compares policies that decide at the end of flows with reference figures: dclas with
// Aalo in Sunflow's simulator, which decides every 10 ms (0.887 s), and the others with their first
// results.
func TestAtFlowEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		policy string
		mean   float64
	}{{"dclas", .887}, {"fair", .8994}, {"bssi", .8574}} {
		p, _ := replayFacebook(t, tc.policy, 0, scenario.Rules{MaxWidth: 400})
		near(t, tc.policy, p.CCT.Mean, tc.mean, .003)
	}
}

// TestIsolatedBounds holds the parser and the bounds against the sums of the trace.
func TestIsolatedBounds(t *testing.T) {
	for _, tc := range []struct {
		name string
		keep bool
		mean float64
	}{{"carried", true, 14.7213}, {"free", false, 14.6281}} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := scenario.Prepare(scenario.Options{Trace: labtest.FacebookTrace(t), Fabric: labtest.BigSwitch,
				On:       scenario.OnFlowsim,
				Policies: []string{"sebf"}, Speedup: 1, Rules: scenario.Rules{CarryLocal: tc.keep}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			sum := time.Duration(0)
			for i := range s.Jobs {
				sum += s.Bound(&s.Jobs[i], &s.Jobs[i].Edges[0])
			}
			if got := (sum / time.Duration(len(s.Jobs))).Seconds(); len(s.Jobs) != 526 ||
				math.Abs(got-tc.mean) > .00005 {
				t.Errorf("%d coflows, mean bound %.6f s, want 526 and %.4f", len(s.Jobs), got, tc.mean)
			}
			if w := workload.Sum(s.Jobs); w.Flows != 706_397 || w.Bytes != 35_533_534e6 {
				t.Errorf("%d flows and %d bytes, want 706397 and 35533534 MB", w.Flows, w.Bytes)
			}
		})
	}
}

// BenchmarkFacebook replays the whole trace: the figures of docs/bench/flowsim.
func BenchmarkFacebook(b *testing.B) {
	type run struct {
		name, policy string
		rules        scenario.Rules
	}
	runs := []run{{"sebf every flow", "sebf", scenario.Rules{Redecide: policy.AtFlows}}}
	for _, policy := range []string{"sebf", "fifo", "scf", "ncf", "lcf", "bssi", "dclas", "fair",
		"tcp", "maxmin"} {
		runs = append(runs, run{policy, policy, scenario.Rules{}})
	}
	for _, r := range runs {
		b.Run(r.name, func(b *testing.B) {
			steps := int64(0)
			for b.Loop() {
				p, o := replayFacebook(b, r.policy, 0, r.rules)
				steps += o.Steps
				b.ReportMetric(p.CCT.Mean, "mean-CCT-s")
				b.ReportMetric(float64(o.Decisions), "decisions")
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
