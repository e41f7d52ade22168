package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestProvenGapIsShown: table, page and CSV have the proven gap where a row has one, and nothing of it
// where none has.
func TestProvenGapIsShown(t *testing.T) {
	for _, some := range []bool{true, false} {
		p := PolicyResult{Name: "corba"}
		for i := range 4 {
			c := CoflowResult{End: 1e9, Bytes: 1}
			if some && i > 0 {
				c.Proof = &Proof{Value: 2, Bound: 1.6, Gap: 0.25, HostFlows: 3}
			}
			p.Coflows = append(p.Coflows, c)
		}
		r := Summarise(Meta{}, []PolicyResult{p, {Name: "ecmp"}})
		var table bytes.Buffer
		if err := r.Table(&table); err != nil {
			t.Fatal(err)
		}
		page, err := r.HTML()
		if err != nil {
			t.Fatal(err)
		}
		coflows, err := r.coflowsCSV()
		if err != nil {
			t.Fatal(err)
		}
		full, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]struct{ in, text string }{
			"table": {table.String(), "25.00 %, 25.00 %"}, "page": {string(page), "proven gap of routes"},
			"coflows.csv": {string(coflows), "proven_gap"}, "report.json": {string(full), `"proven_gap": 0.25`},
		} {
			if strings.Contains(want.in, want.text) != some {
				t.Errorf("proofs %v: %s has %q: %v", some, name, want.text, !some)
			}
		}
		if strings.Contains(string(coflows), ",0.25\n") != some {
			t.Errorf("proofs %v: coflows.csv is\n%s", some, coflows)
		}
		if some && (r.Policies[0].Proven.Coflows != 3 || r.Policies[1].Proven != nil) {
			t.Errorf("%+v, %+v", r.Policies[0].Proven, r.Policies[1].Proven)
		}
	}
}
