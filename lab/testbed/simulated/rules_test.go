package simulated_test

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/demand"
	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// fourCoflows is a trace of 4 ports: coflow 2 is local in part, coflow 4 is wide.
const fourCoflows = `4 4
1 0 1 0 1 1:10
2 5 2 0 1 1 1:20
3 5 1 2 1 3:7
4 30 2 0 1 2 2:6 3:6
`

func runTrace(t *testing.T, rules scenario.Rules, policy string) (*scenario.Prepared, *outcome.Outcome) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "four.txt")
	if err := os.WriteFile(file, []byte(fourCoflows), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Prepare(scenario.Options{Trace: file, Fabric: "crossbar:ports=4,rate=1Gbps",
		On:       scenario.OnFlowsim,
		Policies: []string{policy}, Speedup: 1, Seed: 1, Rules: rules}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

// TestRules checks what each switch does to completion times: 1 MB at 1 Gb/s takes 8 ms.
func TestRules(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name, policy string
		rules        scenario.Rules
		took         []time.Duration
	}{
		// Port 0 sends for coflow 1 until 80 ms, then 10 MB for 2 (its other 10 are local and free) until 160, then 6 for 4.
		{"fifo", "fifo", scenario.Rules{}, []time.Duration{80 * ms, 155 * ms, 56 * ms, 178 * ms}},
		{"one at a time", "fifo", scenario.Rules{OneAtATime: true},
			[]time.Duration{80 * ms, 80 * ms, 56 * ms, 48 * ms}},
		{"local carried, one at a time", "sebf", scenario.Rules{OneAtATime: true, CarryLocal: true},
			[]time.Duration{80 * ms, 160 * ms, 56 * ms, 48 * ms}},
		{"narrow ones, all at zero", "fifo", scenario.Rules{AllAtZero: true, MaxWidth: 1},
			[]time.Duration{80 * ms, 56 * ms}},
		// Admitted at 0, 8 and 8 ms, but counted from arrival.
		{"epochs", "sebf", scenario.Rules{Epoch: 8 * ms, MaxWidth: 1}, []time.Duration{80 * ms, 59 * ms}},
		// coflowsim admits at the beginning of the epoch, so at 0, and counts from there.
		{"coflowsim", "sebf", scenario.Rules{Compat: scenario.CompatCoflowsim, CarryLocal: true, MaxWidth: 1},
			[]time.Duration{80 * ms, 56 * ms}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, o := runTrace(t, tc.rules, tc.policy)
			if len(o.State.Coflows) != len(tc.took) {
				t.Fatalf("%d coflows, want %d", len(o.State.Coflows), len(tc.took))
			}
			for i, c := range o.State.Coflows {
				if c.Ended == state.Unset || (c.Ended-c.Ready-tc.took[i]).Abs() > time.Microsecond {
					t.Errorf("coflow %d takes %v, want %v", i, c.Ended-c.Ready, tc.took[i])
				}
			}
		})
	}
}

func TestRulesRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		opt  scenario.Options
		want string
	}{
		{"netns", scenario.Options{On: scenario.OnNetns, Policies: []string{"random+ecmp"},
			Rules: scenario.Rules{OneAtATime: true}},
			"--one-at-a-time is the simulator's alone"},
		{"steps of time on netns", scenario.Options{On: scenario.OnNetns, Policies: []string{"random+ecmp"},
			Rules: scenario.Rules{Step: time.Millisecond}}, "--time-step is the simulator's alone"},
		{"a policy of the simulator", scenario.Options{On: scenario.OnNetns,
			Policies: []string{"ecmp+coflowsim-sebf"}},
			"goes by another simulator's rules"},
		{"compat on a hybrid", scenario.Options{On: scenario.OnFlowsim, Policies: []string{"sebf"},
			Rules: scenario.Rules{Compat: scenario.CompatCoflowsim}},
			"one big switch"},
		{"compat of what is not there", scenario.Options{On: scenario.OnFlowsim, Fabric: "crossbar:ports=4",
			Policies: []string{"bssi"},
			Rules:    scenario.Rules{Compat: scenario.CompatCoflowsim}}, "has no rules of coflowsim"},
		{"circuits where there are none", scenario.Options{On: scenario.OnFlowsim, Fabric: "crossbar:ports=4",
			Policies: []string{"sunflow"}, Rules: scenario.Rules{Compat: scenario.CompatSunflow}},
			"needs a fabric of circuits alone"},
		{"circuits beside packets", scenario.Options{On: scenario.OnFlowsim, Fabric: "hybrid:racks=4,hosts=2",
			Policies: []string{"random+ecmp+sunflowsim-edmonds"}}, "needs a fabric of circuits alone"},
		{"packets that are circuits", scenario.Options{On: scenario.OnFlowsim,
			Fabric:   "crossbar:ports=4,dark=1ms",
			Policies: []string{"sebf"}, Rules: scenario.Rules{Compat: scenario.CompatSunflow}}, "sets up no circuits"},
		{"estimates", scenario.Options{On: scenario.OnFlowsim, Fabric: "crossbar:ports=4,dark=1ms",
			Policies: []string{"sunflowsim-solstice"}, Demand: []demand.Options{{Source: demand.FromBacklog}}},
			"knows all traffic"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.opt.Speedup = 1
			if _, err := scenario.Prepare(tc.opt, 1); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestPerCoflow reads back what --per-coflow writes.
func TestPerCoflow(t *testing.T) {
	s, o := runTrace(t, scenario.Rules{OneAtATime: true}, "sebf")
	results := []report.PolicyResult{o.ResultOf(s)}
	dir := t.TempDir()
	for _, name := range []string{"c.csv", "c.jsonl"} {
		if err := outcome.WritePerCoflow(filepath.Join(dir, name), results); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "c.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
	if err != nil || len(rows) != 5 || strings.Join(rows[0],
		",") != "id,arrival,start,end,bytes,width,bottleneck,policy,weight,deadline" {
		t.Fatalf("%v: %q", err, rows)
	}
	if got, want := strings.Join(rows[2], ","), "2,0.08,0.08,0.16,20000000,2,0.08,sebf,1,"; got != want {
		t.Errorf("coflow 2: %s, want %s", got, want)
	}
	b, err = os.ReadFile(filepath.Join(dir, "c.jsonl"))
	if err != nil || strings.Count(string(b), "\n") != 4 ||
		!strings.HasPrefix(string(b), `{"id":"1","arrival":0,"start":0,"end":0.08,`) {
		t.Errorf("%v: %s", err, b)
	}
	if err := outcome.WritePerCoflow(filepath.Join(dir, "none", "c.csv"), results); err == nil {
		t.Error("a file in no directory was written")
	}
}
