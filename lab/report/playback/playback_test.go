package playback

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/controller/page"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
)

// ran makes a report of two rows, with a link that fails.
func ran(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	faults := filepath.Join(dir, "faults.txt")
	if err := os.WriteFile(faults, []byte("50ms fail link tor0-spine0\n90ms heal link tor0-spine0\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := replay.Replay(t.Context(), replay.Options{Options: scenario.Options{
		Coflows: 12, Seed: 1, Scale: 1, Speedup: 1, Replicas: 1, Faults: faults,
		Fabric: "hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms", On: scenario.OnFlowsim,
		Policies: []string{"random+ecmp", "crosslayer+sunflow"}},
		Console: replay.Console{Stdout: &out, Stderr: &out, ReportDir: filepath.Join(dir, "report")}})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return filepath.Join(dir, "report")
}

// TestRead: what the page shows of a report is what happened: jobs come and end, circuits are of jobs,
// links carry bytes, and what has failed is there while it lasts.
func TestRead(t *testing.T) {
	dir := ran(t)
	r, err := Read(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || r.Rows[1].Policy != "crosslayer+sunflow" || r.Of.Racks != 4 || r.Note != "" {
		t.Fatalf("%d rows of %d racks, %q", len(r.Rows), r.Of.Racks, r.Note)
	}
	row := r.Rows[1]
	end := row.Instants[len(row.Instants)-1]
	last := row.Look(end)
	if last.Head.Jobs == 0 || last.Head.JobsEnded != last.Head.Jobs ||
		last.Head.CoflowsEnded != last.Head.Coflows ||
		last.Demand.Total != 0 || len(last.Circuits) != 0 {
		t.Errorf("in the end: %+v, %d circuits", last.Head, len(last.Circuits))
	}
	var lit, owned, loaded, failed, open int
	for _, at := range row.Instants {
		l := row.Look(at)
		for _, c := range l.Circuits {
			if c.Lit {
				lit++
			}
			if c.Job >= 0 {
				owned++
			}
		}
		for _, x := range l.Rates {
			if x > 0 {
				loaded++
			}
		}
		failed += len(l.Failed)
		for _, j := range l.Jobs {
			if j.State == "running" {
				open++
			}
		}
	}
	for what, n := range map[string]int{"circuits in service": lit, "circuits of jobs": owned,
		"links with bytes": loaded,
		"failed links":     failed, "open jobs": open} {
		if n == 0 {
			t.Errorf("at no instant there are %s", what)
		}
	}
	if _, err := page.New(page.Config{Recording: r, Address: "127.0.0.1:80"}); err != nil {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(dir, "report.json"), ""); err != nil {
		t.Error(err)
	}
}

// TestReadDamaged: what is not a report, or does not fit it, is refused with the place and the remedy.
func TestReadDamaged(t *testing.T) {
	dir := ran(t)
	table := filepath.Join(dir, "circuits.csv")
	whole, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.SplitAfter(string(whole), "\n")[0]
	for _, tc := range []struct{ name, lines, fabric, want string }{
		{"no number", "crosslayer+sunflow,0,1,0,x,2,3\n", "", `line 2 of the table of circuits: "x" is no number`},
		{"no such port", "crosslayer+sunflow,0,99,0,1,2,3\n", "", "the optical switch has no ports 0 and 99"},
		{"infinite", "crosslayer+sunflow,0,1,0,1,2,Inf\n", "", `"Inf" is no number`},
		{"another fabric", "", "hybrid:racks=5,hosts=2,spines=2", "it has 5 racks, and the report is of 4"},
	} {
		if err := os.WriteFile(table, []byte(first+tc.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir, tc.fabric); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	if _, err := Read(t.TempDir(), ""); err == nil {
		t.Error("an empty folder is a report")
	}
}
