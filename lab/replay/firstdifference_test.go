package replay

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/controller/demand"
	"lightloom/lab/console"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// TestFirstDifference holds real runs against each other: equal ones, and one whose circuits go by older
// knowledge.
func TestFirstDifference(t *testing.T) {
	run := func(known ...demand.Options) (string, *report.Report) {
		dir := t.TempDir()
		opt := Options{Options: scenario.Options{Demo: true, Seed: 3, Coflows: 16, Replicas: 1,
			On:       scenario.OnFlowsim,
			Policies: []string{"random+ecmp+sunflow"}, Demand: known},
			Console: Console{Output: console.OutputTable, ReportDir: dir, Stdout: io.Discard, Stderr: io.Discard}}
		if err := Replay(context.Background(), opt); err != nil {
			t.Fatal(err)
		}
		r, err := report.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		return dir, r
	}
	first, a := run()
	second, b := run()
	late, c := run(demand.Options{Source: demand.FromCounters, Period: demand.DefaultPeriod})
	for _, tt := range []struct {
		dir  string
		with *report.Report
		want string
	}{{second, b, ": none. "}, {late, c, "the first difference is at "}} {
		all, err := report.FirstDifferences([2]string{first, tt.dir}, [2]*report.Report{a, tt.with})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := all.Table(&out); err != nil || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%v, says\n%swant %q", err, out.String(), tt.want)
		}
		t.Log(out.String())
	}

	if err := os.Remove(filepath.Join(late, "decisions.csv")); err != nil {
		t.Fatal(err)
	}
	if _, err := report.FirstDifferences([2]string{first, late}, [2]*report.Report{a, c}); err == nil ||
		!strings.Contains(err.Error(), "no decisions.csv beside it") {
		t.Errorf("error %v", err)
	}
}
