package simulated_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
)

// TestRecordedReplays: the reservations that a run recorded, made again in an open loop, give that run
// again.
func TestRecordedReplays(t *testing.T) {
	for _, policy := range []string{"random+ecmp+sunflow", "random+ecmp+sunflow-hold"} {
		for seed := uint64(1); seed <= 2; seed++ {
			circuits := policy[strings.LastIndexByte(policy, '+')+1:] // a policy's files have no "+" in their names
			t.Run(fmt.Sprintf("%s/%d", circuits, seed), func(t *testing.T) {
				was, file := labtest.Record(t, seed, policy)
				name := policy[:strings.LastIndexByte(policy, '+')] + "+recorded:" + file
				again, _ := labtest.Record(t, seed, name)
				if a, b := len(again.State.Moves), len(was.State.Moves); a != b {
					t.Errorf("%d circuits were moved, and %d when that was recorded", a, b)
				}
				for k, c := range was.State.Coflows {
					d := again.State.Coflows[k]
					a, b := float64(d.Ended-d.Ready), float64(c.Ended-c.Ready)
					if math.Abs(a-b) > 0.03*b+2e6 {
						t.Errorf("coflow %d took %.1f ms, and %.1f ms when that was recorded", k, a/1e6, b/1e6)
					}
				}
			})
		}
	}
}

// TestUsageAddsUp: what a reservation has left is what it had when it was made, less what its circuit
// and packets carried, and recording changes nothing.
func TestUsageAddsUp(t *testing.T) {
	o, _ := labtest.Record(t, 1, "random+ecmp+sunflow")
	if len(o.Usages) < len(o.State.Moves) {
		t.Fatalf("%d reservations, %d moves", len(o.Usages), len(o.State.Moves))
	}
	for _, u := range o.Usages {
		switch {
		case u.Begun > 0 && (u.Made > u.Begun || u.Begun > u.Ended || u.InService > u.Ended):
			t.Errorf("out of order: %+v", u)
		case u.AtMade.Bytes <= 0 || u.AtEnd.Bytes > u.AtMade.Bytes || u.AtEnd.Actual != u.AtEnd.Bytes:
			t.Errorf("counts: %+v", u)
		case u.Cause == state.Delivered && u.AtEnd.Bytes > 0:
			t.Errorf("delivered, with bytes left: %+v", u)
		}
	}
	plain, err := scenario.Prepare(scenario.Options{On: scenario.OnFlowsim, Seed: 1,
		Policies: []string{"random+ecmp+sunflow"}, Speedup: 1, Scale: 5, Replicas: 3}, 5)
	if err != nil {
		t.Fatal(err)
	}
	p, err := labtest.Simulate(context.Background(), plain, plain.Rows[0], nil)
	if err != nil || p.End != o.End || labtest.FirstDifference(p.State, o.State) != "" {
		t.Errorf("recording changes what happens: %v %v, %v", p.End, o.End, err)
	}
}
