package replay

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"lightloom/controller/state"
	"lightloom/lab/console"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/emulated"
	"lightloom/lab/testbed/simulated"
	"lightloom/pathmap"
)

func demoSetup(t testing.TB, seed uint64, policies ...string) *scenario.Prepared {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: seed, Policies: policies, Speedup: 1,
		On: scenario.OnFlowsim}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// running returns a runner of a prepared scenario that prints nothing.
func running(s *scenario.Prepared) *runner {
	return &runner{Prepared: s, Console: Console{Stdout: io.Discard, Stderr: io.Discard}}
}

// simulate runs a row on the simulator.
func simulate(ctx context.Context, s *scenario.Prepared, r scenario.Row, progress func(int)) (*outcome.Outcome, error) {
	return running(s).simulate(ctx, r, progress)
}

// enter runs a row on real packets.
func enter(ctx context.Context, s *scenario.Prepared, r scenario.Row, opt emulated.Options) (*outcome.Outcome, error) {
	opt.Stderr = os.Stderr
	o, _, err := emulated.Run(ctx, s.Scenario(r), opt, nil)
	return o, err
}

// simulateCrashes is simulate with a controller that dies whenever crash returns true; it returns the number of
// crashes.
func simulateCrashes(s *scenario.Prepared, crash func() bool) (*outcome.Outcome, int, error) {
	sc := s.Scenario(s.Rows[0])
	x, err := simulated.New(sc, simulated.Options{Crash: crash})
	if err != nil {
		return nil, 0, err
	}
	o, err := testbed.Run(context.Background(), x, sc, nil)
	return o, x.Seats.Lives, err
}

// checkOutcome checks the invariants of any run: every job ended, every byte arrived once, no OCS port was ever lit
// twice at a time.
func checkOutcome(t *testing.T, s *scenario.Prepared, o *outcome.Outcome) {
	t.Helper()
	var sum pathmap.Bytes
	for i, c := range o.State.Coflows {
		if c.Ended == state.Unset {
			t.Errorf("coflow %d has not ended", i)
		}
		sum += c.Bytes + c.Local
	}
	for _, j := range o.State.Jobs {
		if j.Ended == state.Unset {
			t.Errorf("job %d has not ended", j.ID)
		}
	}
	var want pathmap.Bytes
	for i := range s.Jobs {
		for _, e := range s.Jobs[i].Edges {
			want += e.Bytes
			for _, f := range e.Flows {
				want += f.Bytes
			}
		}
	}
	if sum != want {
		t.Errorf("%d bytes in the ledger, %d submitted", sum, want)
	}
	for i, a := range o.Lit {
		for _, b := range o.Lit[i+1:] {
			if (a.In == b.In || a.Out == b.Out) && a.From < b.To && b.From < a.To {
				t.Errorf("a port is lit twice: %+v and %+v", a, b)
			}
		}
	}
}

func TestSimulateDemo(t *testing.T) {
	for _, name := range []string{"random+ecmp", "random+ecmp+sunflow", "crosslayer", "crosslayer+sunflow"} {
		t.Run(name, func(t *testing.T) {
			s := demoSetup(t, 1, name)
			o, err := simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			checkOutcome(t, s, o)
			r := o.Result()
			t.Logf("end %v, ocs %d eps %d, %d moves, %d decisions, %d steps", o.End, o.OCS, o.EPS, len(r.ReconfigurationDelays),
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
		for seed := range uint64(10) {
			s := demoSetup(t, seed, policy)
			r := rand.New(rand.NewPCG(seed, 7))
			o, lives, err := simulateCrashes(s, func() bool { return r.IntN(40) == 0 })
			if err != nil {
				t.Fatalf("%s, seed %d: %v", policy, seed, err)
			}
			if lives < 3 {
				t.Errorf("%s, seed %d: only %d controllers: nothing was tried", policy, seed, lives)
			}
			checkOutcome(t, s, o)
		}
	}
}

// TestDeterministic checks that a run on the simulator depends only on its arguments: report.json and report.html are
// the same byte for byte, on one processor and on all.
func TestDeterministic(t *testing.T) {
	files := func(procs int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		dir := t.TempDir()
		opt := Options{Options: scenario.Options{Demo: true, Seed: 3, Speedup: 1, Scale: 1, On: scenario.OnFlowsim},
			Console: Console{Output: console.OutputTable, ReportDir: dir, Stdout: io.Discard, Stderr: io.Discard}}
		if err := Replay(context.Background(), opt); err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, name := range []string{"report.json", "report.html"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	one, all := files(1), files(0)
	if !bytes.Equal(one, all) {
		t.Error("two runs with the same arguments differ")
	}
}
