package state

import (
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/topo"
)

// TestDeadlineInView: a view holds the deadline as an instant, counted from the arrival, and nothing
// for a job without one.
func TestDeadlineInView(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: 2, NIC: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	s := New(f)
	for i, deadline := range []time.Duration{0, time.Second} {
		job := &controller.Job{Name: "j", Arrival: time.Minute, Deadline: deadline,
			Edges: []controller.Edge{{Flows: []controller.Flow{{Dst: 1, Bytes: 1}}}}}
		for _, e := range []Entry{{Kind: JobAccepted, Job: job},
			{Kind: Placed, Placement: &controller.Placement{Job: controller.JobID(i)}}} {
			if err := s.Apply(&e); err != nil {
				t.Fatal(err)
			}
		}
	}
	var v controller.View
	s.FillView(&v, nil)
	if len(v.Coflows) != 2 || v.Coflows[0].Deadline != 0 || v.Coflows[1].Deadline != time.Minute+time.Second {
		t.Errorf("coflows %+v", v.Coflows)
	}
}
