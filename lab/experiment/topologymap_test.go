package experiment

import "testing"

// TestTopologyMap runs the experiment as the command would.
func TestTopologyMap(t *testing.T) {
	r, err := runTopologyMap(t.Context(), &Bench{Seeds: 1, First: 1, On: OnFlowsim})
	if err != nil || len(r.Rows) != 6 {
		t.Fatal(r, err)
	}
	for _, row := range r.Rows {
		if row.Measured == nil || *row.Measured <= 0 {
			t.Errorf("%s, %s: nothing was measured", row.Setting, row.Metric)
		}
	}
}
