package labtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lightloom/controller/explain"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/simulated"
)

// Record simulates the demo's jobs under a policy, and returns the outcome with the file of its
// reservations.
func Record(t *testing.T, seed uint64, policy string) (*outcome.Outcome, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "r.jsonl")
	s, err := scenario.Prepare(scenario.Options{On: scenario.OnFlowsim, Seed: seed,
		Policies: []string{policy}, Speedup: 1, Scale: 5, Replicas: 3, Rules: scenario.Rules{PerReservation: file}}, 5)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Simulate(context.Background(), s, s.Rows[0], nil)
	if err == nil {
		err = outcome.WritePerReservation(file, []*outcome.Outcome{o})
	}
	if err != nil {
		t.Fatal(err)
	}
	return o, file
}

// Demo prepares the demo on the simulator.
func Demo(t testing.TB, seed uint64, policies ...string) *scenario.Prepared {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: seed, Policies: policies, Speedup: 1,
		On: scenario.OnFlowsim}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Simulate runs a row on the simulator.
func Simulate(ctx context.Context, s *scenario.Prepared, r scenario.Row,
	progress func(int)) (*outcome.Outcome, error) {
	return explained(ctx, s, r, nil, progress)
}

// explained is Simulate with a file of explanations.
func explained(ctx context.Context, s *scenario.Prepared, r scenario.Row, why *explain.Writer,
	progress func(int)) (*outcome.Outcome, error) {
	sc := s.Scenario(r)
	x, err := simulated.New(sc, simulated.Options{Why: why})
	if err != nil {
		return nil, err
	}
	o, err := testbed.Run(ctx, x, sc, progress)
	if err := errors.Join(err, x.Close()); err != nil { // ends the policy's programs
		return nil, fmt.Errorf("simulate %s: %w", r.Name, err)
	}
	return o, nil
}

// SimulateCrashes is Simulate with a controller that dies whenever crash returns true; it returns the
// number of crashes.
func SimulateCrashes(s *scenario.Prepared, crash func() bool) (*outcome.Outcome, int, error) {
	sc := s.Scenario(s.Rows[0])
	x, err := simulated.New(sc, simulated.Options{Crash: crash})
	if err != nil {
		return nil, 0, err
	}
	o, err := testbed.Run(context.Background(), x, sc, nil)
	return o, x.Seats.Lives, err
}

// ReplayText replays a trace given as text and returns the times that its coflows took.
func ReplayText(t *testing.T, text string, opt scenario.Options) (*scenario.Prepared, *outcome.Outcome,
	[]time.Duration) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "t.txt")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	opt.Trace, opt.On, opt.Speedup, opt.Seed = file, scenario.OnFlowsim, 1, 1
	s, err := scenario.Prepare(opt, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for _, c := range o.ResultOf(s).Coflows {
		took = append(took, c.CCT())
	}
	return s, o, took
}
