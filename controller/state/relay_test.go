package state_test

import (
	"testing"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestRoutesBesideAMove: while a placement gives lost tasks new hosts, routes of what has begun hold
// for the rows that it has, and routes of what has not are for rows that are about to go.
func TestRoutesBesideAMove(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 4, Hosts: 1, Slots: 4})
	if err != nil {
		t.Fatal(err)
	}
	s := state.New(f)
	do := func(e state.Entry) {
		t.Helper()
		if err := s.Apply(&e); err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
	}
	two := make([]controller.Task, 2)
	do(state.Entry{Kind: state.JobAccepted, Job: &controller.Job{Name: "j",
		Stages: []controller.Stage{{Tasks: two}, {Tasks: two}, {Tasks: two}},
		Edges: []controller.Edge{{Kind: controller.OneToOne, From: 0, To: 1, Bytes: 100},
			{Kind: controller.OneToOne, From: 1, To: 2, Bytes: 100}}}})
	do(state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0,
		1, 2, 3, 0, 1}}})
	do(state.Entry{Kind: state.StageStarted})
	do(state.Entry{Kind: state.TaskEnded, Task: 0})
	do(state.Entry{Kind: state.TaskEnded, Task: 1})
	do(state.Entry{Kind: state.CoflowStarted, Coflow: 0})
	do(state.Entry{Kind: state.HostSeen, Host: 3})
	// Task 3 has lost its host; on host 2 both host flows of the next edge would be between other hosts,
	// on 1 one would stay within.
	moves := []controller.Placement{{Hosts: []southbound.HostID{0, 1, 2, 1, 0, 1}}}
	rows := len(s.Coflow(0).Tag)
	if err := s.CheckRouting(&controller.Routing{Coflow: 0, Tags: make([]southbound.Tag, rows)},
		moves); err != nil ||
		s.Relays(0, moves) {
		t.Errorf("a coflow that has begun has %d rows still: %v", rows, err)
	}
	if !s.Relays(1, moves) || s.Relays(1, nil) || s.Relays(99, moves) {
		t.Error("a coflow that has not begun is laid out anew by the move, and by nothing else")
	}
}
