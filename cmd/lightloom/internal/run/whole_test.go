package run

import (
	"context"
	"os"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/pathmap"
)

// whole replays the Facebook trace from its first coflow to its last and returns what came of it, with every coflow ended
// and every byte counted once: over circuits where the fabric has some, else over packets.
func whole(t *testing.T, fabric, policy string, rules Rules) (*setup, *outcome) {
	t.Helper()
	s, err := prepare(Options{Trace: facebookTrace(t), Fabric: fabric, On: OnFlowsim, Policies: []string{policy}, Speedup: 1, Seed: 1, Rules: rules}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := simulate(context.Background(), s, s.rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	var sum pathmap.Bytes
	for i, c := range o.State.Coflows {
		if c.Ended == state.Unset || c.Left != 0 {
			t.Fatalf("coflow %d has %d bundles left, and ended at %v", i, c.Left, c.Ended)
		}
		sum += c.Bytes
	}
	over, other := o.EPS, o.OCS
	if s.spec.HasOCS() {
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
	whole(t, bigSwitch, "sebf", Rules{})
}

// TestWholeTraceMeasured replays the whole trace under what takes longer: LIGHTLOOM_MEASURE=trace runs it.
func TestWholeTraceMeasured(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "trace" {
		t.Skip("it takes most of a minute of a machine for itself: set LIGHTLOOM_MEASURE=trace")
	}
	t.Run("tcp", func(t *testing.T) { whole(t, bigSwitch, "tcp", Rules{}) })
	// Sunflow's bound, proven for a coflow that has the switch to itself: CCT ≤ 2·T(C) (Huang, Sun, Ng, lemma 1).
	t.Run("sunflow, one at a time", func(t *testing.T) {
		s, o := whole(t, bigSwitch+",dark=10ms", "sunflow", Rules{OneAtATime: true})
		worst := 0.0
		for i, c := range o.State.Coflows {
			b := circuitBound(&s.jobs[c.Job], s.spec)
			took := c.Ended - c.Ready
			if took < b-s.spec.Dark-time.Microsecond || took > 2*b { // its first circuit may be lit by the one before
				t.Errorf("coflow %d takes %v, T(C) is %v", i, took, b)
			}
			if b > 0 {
				worst = max(worst, float64(took)/float64(b))
			}
		}
		cct, over := ratios(s, o)
		t.Logf("CCT %.4f s, over the bound %.4f, at most %.4f; %d moves, %d decisions", cct, over, worst, o.moved.all, o.Decisions)
	})
	t.Run("sunflow, all together", func(t *testing.T) {
		s, o := whole(t, bigSwitch+",dark=10ms", "sunflow", Rules{})
		cct, over := ratios(s, o)
		t.Logf("CCT %.4f s, over the bound %.4f; %d moves, %d decisions", cct, over, o.moved.all, o.Decisions)
		for i, c := range o.State.Coflows {
			if b := circuitBound(&s.jobs[c.Job], s.spec); c.Ended-c.Ready < b-s.spec.Dark-time.Microsecond {
				t.Errorf("coflow %d takes %v, T(C) is %v", i, c.Ended-c.Ready, b)
			}
		}
	})
}
