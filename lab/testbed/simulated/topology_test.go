package simulated_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"lightloom/controller/explain"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/simulated"
)

// TestTopologyOverSwitches: topology engineering on four switches and on one: all jobs end, circuits carry bytes, each
// decision to move or to stay has its certificates, and a second run is the same.
func TestTopologyOverSwitches(t *testing.T) {
	for _, fabric := range []string{"hybrid:racks=8,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,ocses=4",
		"hybrid:racks=8,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms"} {
		p, err := scenario.Prepare(scenario.Options{Fabric: fabric, Policies: []string{"random+ecmp+topology"}, Coflows: 30,
			Replicas: 3, On: scenario.OnFlowsim, Seed: 3}, 1)
		if err != nil {
			t.Fatal(err)
		}
		run := func() ([]byte, []explain.Topology) {
			name := filepath.Join(t.TempDir(), "why.jsonl")
			w, err := explain.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			s := p.Scenario(p.Rows[0])
			x, err := simulated.New(s, simulated.Options{Why: w})
			if err != nil {
				t.Fatal(err)
			}
			o, err := testbed.Run(context.Background(), x, s, nil)
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			labtest.CheckOutcome(t, p, o)
			lines, _, err := explain.Read(name, 0)
			if err != nil {
				t.Fatal(err)
			}
			var why []explain.Topology
			for _, l := range lines {
				if l.Topology != nil {
					why = append(why, *l.Topology)
				}
			}
			if o.OCS == 0 {
				t.Error("circuits carry nothing")
			}
			b, err := json.Marshal(o.State)
			if err != nil {
				t.Fatal(err)
			}
			return b, why
		}
		first, why := run()
		moves := 0
		for _, w := range why {
			if w.Left.Bound > w.Left.Value || w.Disturbed.Bound > w.Disturbed.Value || !w.Left.Exact {
				t.Errorf("%+v", w)
			}
			if w.Moves {
				moves++
				if w.Move == nil || w.Stay != nil && *w.Move >= *w.Stay || *w.Bound > *w.Move*(1+1e-9) {
					t.Errorf("%s", &w)
				}
			}
		}
		if moves == 0 || moves == len(why) {
			t.Errorf("%d moves of %d decisions", moves, len(why))
		}
		if again, _ := run(); !bytes.Equal(first, again) {
			t.Error("a second run is another")
		}
	}
}
