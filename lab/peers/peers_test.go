package peers

import (
	"bytes"
	"strings"
	"testing"

	"lightloom/southbound/hint"
)

// TestRun: without traces, ASTRA-sim's figures are exact, RFold's within their digits; others say what they need.
func TestRun(t *testing.T) {
	rows, err := Run(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range rows {
		count[r.Peer]++
		switch {
		case r.Peer == "ASTRA-sim, analytical" && *r.Differs != 0:
			t.Errorf("%s: %v, and theirs is %v", r.Figure, *r.Ours, r.Theirs)
		case r.Peer == "RFold" && !strings.HasPrefix(r.Reason, "the same"):
			t.Errorf("%s: %v, and theirs is %v", r.Figure, *r.Ours, r.Theirs)
		case r.Ours == nil && !strings.Contains(r.Reason, "--data"):
			t.Errorf("%s: %s", r.Figure, r.Reason)
		}
	}
	if count["ASTRA-sim, analytical"] != 64 || count["RFold"] != 6 || count["coflowsim"] != 7 {
		t.Errorf("%v", count)
	}
	var table bytes.Buffer
	if err := Print(&table, rows); err != nil || !strings.Contains(table.String(), "HGX-H100, all-reduce, aware") {
		t.Errorf("%v, %s", err, table.String())
	}
}

// TestNoData: a folder without the trace is a mistake, not a figure that was not run.
func TestNoData(t *testing.T) {
	_, err := Run(t.Context(), Options{Data: t.TempDir()})
	if !hint.IsWrong(err) || !strings.Contains(hint.Of(err), "leave --data away") {
		t.Error(err)
	}
}

func TestRow(t *testing.T) {
	for _, c := range []struct{ ours, margin, differs float64 }{{100, 0, 0}, {100.4, .005, .004}, {101, .005, .01}} {
		r := newRow("peer", "figure", "s", 100, &c.ours, c.margin, "why")
		same := strings.HasPrefix(r.Reason, "the same")
		if d := *r.Differs - c.differs; d > 1e-9 || d < -1e-9 || same != (c.differs <= c.margin) {
			t.Errorf("%+v", r)
		}
	}
}
