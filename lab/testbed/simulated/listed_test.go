package simulated_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
)

// TestListed: a run that has accepted jobs of one arrival in another order gives a report that names
// the same coflows.
func TestListed(t *testing.T) {
	const trace = "6 4\n1 0 1 0 1 1:1\n2 0 1 2 1 3:2\n3 0 1 4 1 5:3\n4 100 1 0 1 2:4\n"
	s, o, took := labtest.ReplayText(t, trace, scenario.Options{Fabric: "crossbar:ports=6,rate=1Gbps",
		Policies: []string{"sebf"}})
	other := *s
	other.Jobs = slices.Clone(s.Jobs)
	slices.SortStableFunc(other.Jobs, func(a, b controller.Job) int { // of the first three the last comes first
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), -cmp.Compare(a.Name, b.Name))
	})
	swapped, err := labtest.Simulate(context.Background(), &other, other.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if swapped.State.Jobs[0].Name != "coflow-3" || o.State.Jobs[0].Name != "coflow-1" {
		t.Fatal("the orders are the same")
	}
	r := swapped.ResultOf(s)
	for i, c := range r.Coflows {
		if int(c.ID) != i || c.Name != s.Jobs[i].Name || c.CCT() != took[i] || c.Bound != took[i] ||
			r.Jobs[i].Name != c.Name {
			t.Errorf("coflow %d: %+v, took %v", i, c, took[i])
		}
	}
}
