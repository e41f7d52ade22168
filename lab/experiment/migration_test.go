package experiment

import "testing"

// TestMigrationRows: every run has the figures that the rows compare, also where nothing may move, and
// tasks of streams are moved.
func TestMigrationRows(t *testing.T) {
	b := &Bench{Seeds: 1, First: 1, On: OnFlowsim, Quick: true}
	out := b.Result()
	small := stand{storm(), networks()[0], 10, "800Mbps", OnFlowsim, slotsEach, ""}
	if _, err := Fill(t.Context(), b, out, []stand{small}, movers(), stand.run, stand.migrationRows); err != nil {
		t.Fatal(err)
	}
	moved := 0.0
	for _, r := range out.Rows {
		if r.Metric == tasksMoved {
			moved += *r.Measured
		}
		if r.Verdict != NoClaim {
			t.Errorf("%s, %s is judged %q: the document has no such figure", r.Setting, r.Metric, r.Verdict)
		}
	}
	if len(out.Rows) != 8 || moved == 0 {
		t.Errorf("%d rows, and %g tasks moved", len(out.Rows), moved)
	}
}
