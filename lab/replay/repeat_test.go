package replay

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// repeated prepares a small synthetic run.
func repeated(t *testing.T, change func(*scenario.Options)) *scenario.Prepared {
	t.Helper()
	opt := scenario.Options{Fabric: "hybrid:racks=4,hosts=2,eps=100Mbps,ocs=1Gbps", On: scenario.OnFlowsim,
		Policies: []string{"random+ecmp", "crosslayer", "fair"}, Coflows: 8, Speedup: 1, Seed: 5, Repeat: 3}
	change(&opt)
	s, err := scenario.Prepare(opt, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRepeatKeepsFailures: a row that fails is reported, the others continue, and the report shows a
// run with the most rows.
func TestRepeatKeepsFailures(t *testing.T) {
	s := repeated(t, func(*scenario.Options) {})
	s.Rows[1].Policy = "nonsense" // fails under the first seed alone: the others are prepared anew
	dir := t.TempDir()
	if err := running(s).replay(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	rep, err := report.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	q := rep.Repeat
	if q == nil || q.Shown != 6 || !slices.Equal(q.Seeds, []uint64{5, 6, 7}) ||
		len(rep.Policies) != 3 || q.Alike {
		t.Fatalf("%+v", q)
	}
	if m := q.Runs[0].Policies[1]; m.Name != "crosslayer" || !strings.Contains(m.Error, "nonsense") {
		t.Errorf("the failed run is %+v", m)
	}
	if p := q.Pairs[0]; p.Policy != "crosslayer" || p.Runs != 2 {
		t.Errorf("%+v", p)
	}
	if m := q.Runs[2].Policies[2]; m.CCT.Mean <= 0 || len(m.Each) != m.CCT.Count {
		t.Errorf("%+v", m)
	}
	run, err := report.ReadRun(dir)
	if err != nil || len(run.Policies) != 9 || run.Policies[1].Error == "" || run.Policies[1].Seed != 5 {
		t.Errorf("%+v, %v", run, err)
	}
}

func TestRepeatAllFail(t *testing.T) {
	s := repeated(t, func(o *scenario.Options) { o.Repeat = 1 })
	s.Rows[0].Policy = "nonsense"
	if err := running(s).replay(context.Background(), t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "nonsense") {
		t.Errorf("one run that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := running(repeated(t, func(*scenario.Options) {})).replay(ctx, t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "canceled") {
		t.Errorf("interrupted: %v", err)
	}
}

// TestInterleave: each run has an order of its own, which depends on its seed alone, and results do not
// depend on the order.
func TestInterleave(t *testing.T) {
	var reports [2]report.Report
	for i := range reports {
		r := running(repeated(t, func(o *scenario.Options) { o.Repeat = 4 }))
		r.Interleave = i == 1
		dir := t.TempDir()
		if err := r.replay(context.Background(), dir); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "report.json"))
		if err == nil {
			err = json.Unmarshal(b, &reports[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	orders := map[string]bool{}
	for k, run := range reports[1].Repeat.Runs {
		orders[strings.Join(run.Order, " ")] = true
		if !slices.Equal(reports[0].Repeat.Runs[k].Order, []string{"random+ecmp", "crosslayer", "fair"}) {
			t.Errorf("without --interleave the order is %v", reports[0].Repeat.Runs[k].Order)
		}
		for p := range run.Policies {
			if a, b := run.Policies[p], reports[0].Repeat.Runs[k].Policies[p]; a.Name != b.Name ||
				!slices.Equal(a.Each, b.Each) {
				t.Errorf("run %d: %s differs by the order", k, a.Name)
			}
		}
	}
	if len(orders) < 2 {
		t.Errorf("orders %v", orders)
	}
}

// TestWarmup: jobs that arrive during the warm-up run, but count in no figure.
func TestWarmup(t *testing.T) {
	all := repeated(t, func(o *scenario.Options) { o.Repeat = 1 })
	from := all.Jobs[3].Arrival
	s := repeated(t, func(o *scenario.Options) { o.Repeat, o.Warmup = 1, from })
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	rep, _ := running(s).report([]*outcome.Outcome{o})
	if n := rep.Policies[0].JCT.Count; n != 5 || len(o.State.Jobs) != 8 || len(rep.Policies[0].Jobs) != 5 {
		t.Errorf("%d of %d jobs count", n, len(o.State.Jobs))
	}
	if !slices.ContainsFunc(rep.Notes, func(n string) bool {
		return strings.HasPrefix(n,
			"warm-up: 3 of 8 jobs")
	}) {
		t.Errorf("notes %q", rep.Notes)
	}
	opt := s.Options
	opt.Warmup = time.Hour
	if _, err := scenario.Prepare(opt, 1); err == nil ||
		!strings.Contains(err.Error(), "nothing would be measured") {
		t.Errorf("a warm-up of everything: %v", err)
	}
}

// TestInterrupted: Ctrl-C leaves a report of the policies, or of the runs, that had ended; none where
// nothing had. It is an interrupted run all the same.
func TestInterrupted(t *testing.T) {
	for _, tc := range []struct {
		name           string
		repeat, rows   int // rows that end before it is interrupted
		policies, runs int // of the report; 0: there is none
		note           string
	}{
		{name: "before the first policy", repeat: 1},
		{"in the third policy", 1, 2, 2, 0, "Interrupted: 2 of 3 policies had ended"},
		{"in the third of three runs", 3, 7, 3, 2, "Interrupted: 2 of 3 runs had ended"},
		{"in the second of three runs", 3, 4, 3, 0, "Interrupted: 1 of 3 runs had ended"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := running(repeated(t, func(o *scenario.Options) { o.Repeat = tc.repeat }))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if tc.rows == 0 {
				cancel()
			}
			made := 0
			s.with = func() controller.Policy {
				if made++; made == tc.rows { // this row ends still, and the next does not begin
					cancel()
				}
				p, err := policy.New("random+ecmp", policy.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			dir := t.TempDir()
			if err := s.replay(ctx, dir); !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v, want that it was cancelled", err)
			}
			rep, err := report.Read(dir)
			if tc.policies == 0 {
				if err == nil {
					t.Error("there is a report of nothing")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			runs := 0
			if rep.Repeat != nil {
				runs = len(rep.Repeat.Runs)
			}
			if len(rep.Policies) != tc.policies || runs != tc.runs ||
				!strings.HasPrefix(strings.Join(rep.Notes, "\n"), tc.note) {
				t.Errorf("%d policies, %d runs, notes %q", len(rep.Policies), runs, rep.Notes)
			}
		})
	}
}
