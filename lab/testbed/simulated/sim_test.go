package simulated_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"lightloom/lab/labtest"
	"lightloom/pathmap/tries"
)

func TestSimulateDemo(t *testing.T) {
	for _, name := range []string{"random+ecmp", "random+ecmp+sunflow", "crosslayer", "crosslayer+sunflow"} {
		t.Run(name, func(t *testing.T) {
			s := labtest.Demo(t, 1, name)
			o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckOutcome(t, s, o)
			r := o.Result()
			t.Logf("end %v, ocs %d eps %d, %d moves, %d decisions, %d steps", o.End, o.OCS, o.EPS,
				r.Moved.ReconfigurationDelays.Count(),
				o.Decisions,
				o.Steps)
			for _, m := range o.State.Moves {
				t.Logf("%+v", m)
			}
		})
	}
}

// TestCrashes kills the controller at random entries, before it acts on them, and lets a new one go on.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"random+ecmp+sunflow", "crosslayer+sunflow", "random+ecmp+maxmin"} {
		for seed := range uint64(tries.Of(5, 10)) {
			s := labtest.Demo(t, seed, policy)
			r := rand.New(rand.NewPCG(seed, 7))
			o, lives, err := labtest.SimulateCrashes(s, func() bool { return r.IntN(40) == 0 })
			if err != nil {
				t.Fatalf("%s, seed %d: %v", policy, seed, err)
			}
			if lives < 3 {
				t.Errorf("%s, seed %d: only %d controllers: nothing was tried", policy, seed, lives)
			}
			labtest.CheckOutcome(t, s, o)
		}
	}
}
