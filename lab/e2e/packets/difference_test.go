package packets

import (
	"context"
	"strings"
	"testing"

	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
)

// TestFirstDifference compares plans of runs that must be alike, and of runs that cannot be.
func TestFirstDifference(t *testing.T) {
	run := func(s *scenario.Prepared, seed uint64) *outcome.Outcome {
		s.Options.Seed = seed // of the policy; the jobs are the same
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	plan := func(seed uint64, policy string) *outcome.Outcome { return run(labtest.Demo(t, 1, policy), seed) }
	bare := func(seed uint64, policy string) *outcome.Outcome { // nothing to place
		s := labtest.Demo(t, 1, policy)
		s.Jobs, s.ElephantThreshold = cutSetup(t, 0, policy, false).Jobs, 1
		return run(s, seed)
	}
	for _, tt := range []struct {
		name, want string
		a, b       *outcome.Outcome
	}{
		{"same", "", plan(1, "fair+ecmp"), plan(1, "fair+ecmp")},
		{"placement", "is placed on", plan(1, "random+ecmp"), plan(2, "random+ecmp")},
		{"routes", "takes other paths", bare(1, "ecmp"), bare(2, "ecmp")},
		{"circuits", "circuits are set up", bare(1, "ecmp"), bare(1, "ecmp+sunflow")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := labtest.FirstDifference(tt.a.State, tt.b.State)
			if !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("says %q, want %q", got, tt.want)
			}
		})
	}
}
