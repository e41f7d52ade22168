package state

import (
	"errors"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/topo"
)

// TestFirstAdmissionStands: a coflow's admission is decided once, a view shows it, and a snapshot keeps it.
func TestFirstAdmissionStands(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: 2, NIC: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	s := New(f)
	job := &controller.Job{Name: "j", Deadline: time.Second,
		Edges: []controller.Edge{{Flows: []controller.Flow{{Dst: 1, Bytes: 1}}}}}
	for _, e := range []Entry{{Kind: JobAccepted, Job: job},
		{Kind: Placed, Placement: &controller.Placement{}},
		{Kind: AdmissionDecided, OK: true}} {
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Apply(&Entry{Kind: AdmissionDecided}); !errors.Is(err, ErrStale) {
		t.Errorf("a second decision: %v", err)
	}
	if err := s.Apply(&Entry{Kind: AdmissionDecided, Coflow: 7}); err == nil || errors.Is(err, ErrStale) {
		t.Errorf("a decision on nobody: %v", err)
	}
	b, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := New(f)
	if err := again.Restore(b); err != nil {
		t.Fatal(err)
	}
	var v controller.View
	again.FillView(&v, nil)
	if len(v.Coflows) != 1 || v.Coflows[0].Admission != controller.Admitted {
		t.Errorf("coflows %+v", v.Coflows)
	}
}
