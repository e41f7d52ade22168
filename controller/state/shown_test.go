package state_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// shuffling returns a state with two placed jobs, whose coflows are 0 and 1.
func shuffling(t *testing.T) *state.State {
	t.Helper()
	s := state.New(fabric(t))
	for id := range controller.JobID(2) {
		job := &controller.Job{Name: "j", Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)},
			{Tasks: make([]controller.Task, 1)}},
			Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 40}}}
		apply(t, s, state.Entry{Kind: state.JobAccepted, Job: job},
			state.Entry{Kind: state.Placed, Placement: &controller.Placement{Job: id, Hosts: []southbound.HostID{0, 2}}},
			state.Entry{Kind: state.StageStarted, JobID: id},
			state.Entry{Kind: state.TaskEnded, Task: southbound.TaskID(2 * id)})
	}
	return s
}

// wantAnew wants a view of a state to be filled anew, and right.
func wantAnew(t *testing.T, s *state.State, v *controller.View) {
	t.Helper()
	var fresh controller.View
	s.FillBlindView(v)
	got, full := shownCoflows(v), v.Showing.Full
	s.FillBlindView(&fresh)
	if diff := cmp.Diff(shownCoflows(&fresh), got); diff != "" || !full {
		t.Errorf("filled anew: %v; the coflows (-want +got):\n%s", full, diff)
	}
}

// TestRestoredIsShown: what a view had of the state before a snapshot was restored does not stay.
func TestRestoredIsShown(t *testing.T) {
	s, ahead := shuffling(t), shuffling(t)
	var v controller.View
	s.FillBlindView(&v)
	apply(t, ahead, state.Entry{Kind: state.CoflowStarted}, state.Entry{Kind: state.HostFlowEnded},
		state.Entry{Kind: state.CoflowStarted, Coflow: 1})
	snap, err := ahead.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(snap); err != nil {
		t.Fatal(err)
	}
	if wantAnew(t, s, &v); len(v.Coflows) != 1 || !v.Coflows[0].Started {
		t.Errorf("shown are %+v", v.Coflows)
	}
}

// TestCopiesAreShown: a view and a copy of it, which somebody has altered, are filled in turns.
func TestCopiesAreShown(t *testing.T) {
	s := shuffling(t)
	var v controller.View
	s.FillBlindView(&v)
	other := v
	other.Coflows = slices.Clone(v.Coflows)
	other.Coflows[1].Started = true
	apply(t, s, state.Entry{Kind: state.CoflowStarted})
	s.FillBlindView(&other)
	got, full := shownCoflows(&other), other.Showing.Full
	s.FillBlindView(&v)
	if diff := cmp.Diff(shownCoflows(&v), got); diff != "" || !full || !v.Showing.Full || !v.Coflows[0].Started {
		t.Errorf("filled anew: %v, then %v; the coflows (-view +copy):\n%s", full, v.Showing.Full, diff)
	}
	apply(t, s, state.Entry{Kind: state.HostFlowEnded})
	s.FillBlindView(&v)
	if v.Showing.Full || len(v.Coflows) != 1 || !slices.Equal(v.Showing.Changed, []southbound.CoflowID{0}) {
		t.Errorf("after an entry: %+v of %+v", v.Showing, v.Coflows)
	}
	wantAnew(t, s, &other)
}
