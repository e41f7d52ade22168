package simulated_test

import (
	"context"
	"os"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// whole replays the whole Facebook trace and returns the outcome, after checking that every coflow has
// ended and every byte is counted once: over circuits if the fabric has some, else over packets.
func whole(t *testing.T, fabric, policy string, rules scenario.Rules) (*scenario.Prepared,
	*outcome.Outcome) {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Trace: labtest.FacebookTrace(t), Fabric: fabric,
		On:       scenario.OnFlowsim,
		Policies: []string{policy},
		Speedup:  1, Seed: 1, Rules: rules}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	var sum pathmap.Bytes
	for i, c := range o.State.Coflows {
		if c.Ended == state.Unset || c.Remaining != 0 {
			t.Fatalf("coflow %d has %d host flows left, and ended at %v", i, c.Remaining, c.Ended)
		}
		sum += c.Bytes
	}
	over, other := o.EPS, o.OCS
	if s.Spec.HasOCS() {
		over, other = other, over
	}
	if over != sum || other != 0 {
		t.Errorf("%s: %d bytes and %d another way, want %d and none", policy, over, other, sum)
	}
	return s, o
}

// TestWholeTraceKeepsBytes counts bytes on every link of the big switch, exactly, under rates by coflow.
func TestWholeTraceKeepsBytes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it replays the whole trace")
	}
	whole(t, labtest.BigSwitch, "sebf", scenario.Rules{})
}

// TestWholeTraceMeasured replays the whole trace under what takes longer: LIGHTLOOM_MEASURE=trace runs it.
func TestWholeTraceMeasured(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "trace" {
		t.Skip("it takes most of a minute of a machine for itself: set LIGHTLOOM_MEASURE=trace")
	}
	t.Run("tcp", func(t *testing.T) { whole(t, labtest.BigSwitch, "tcp", scenario.Rules{}) })
	// Sunflow's bound, proven for a coflow that has the switch to itself: CCT ≤ 2·T(C) (Huang, Sun, Ng,
	// lemma 1).
	t.Run("sunflow, one at a time", func(t *testing.T) {
		s, o := whole(t, labtest.BigSwitch+",dark=10ms", "sunflow", scenario.Rules{OneAtATime: true})
		worst := 0.0
		for i, c := range o.State.Coflows {
			b := circuitBound(&s.Jobs[c.Job], s.Spec)
			took := c.Ended - c.Ready
			if took < b-s.Spec.Dark-time.Microsecond || took > 2*b { // its first circuit may be lit by the one before
				t.Errorf("coflow %d takes %v, T(C) is %v", i, took, b)
			}
			if b > 0 {
				worst = max(worst, float64(took)/float64(b))
			}
		}
		cct, over := ratios(s, o)
		t.Logf("CCT %.4f s, over the bound %.4f, at most %.4f; %d moves, %d decisions", cct, over,
			worst, o.Sums.Sums.Circuits,
			o.Decisions)
	})
	t.Run("sunflow, all together", func(t *testing.T) {
		s, o := whole(t, labtest.BigSwitch+",dark=10ms", "sunflow", scenario.Rules{})
		cct, over := ratios(s, o)
		t.Logf("CCT %.4f s, over the bound %.4f; %d moves, %d decisions", cct, over, o.Sums.Sums.Circuits, o.Decisions)
		for i, c := range o.State.Coflows {
			if b := circuitBound(&s.Jobs[c.Job], s.Spec); c.Ended-c.Ready < b-s.Spec.Dark-time.Microsecond {
				t.Errorf("coflow %d takes %v, T(C) is %v", i, c.Ended-c.Ready, b)
			}
		}
	})
}
