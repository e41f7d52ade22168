package loop_test

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestMoveCountsWhatIsSentAgain: where a plan moves a running receiver, what its host flows have sent
// so far is written down with the placement, and they send nothing more; those of others go on, and so
// do rows that have ended.
func TestMoveCountsWhatIsSentAgain(t *testing.T) {
	w, err := newWorld("leafspine:racks=4,hosts=1,spines=1,slots=4")
	if err != nil {
		t.Fatal(err)
	}
	job := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)},
		{Tasks: make([]controller.Task, 2)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 4000}}}
	small := &controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed,
		Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 100}}}}}
	if err := w.state.ApplyAll([]state.Entry{{Kind: state.JobAccepted, Job: small},
		{Kind: state.JobAccepted, Job: job},
		{Kind: state.Placed, Placement: &controller.Placement{}},
		{Kind: state.Placed, Placement: &controller.Placement{Job: 1, Hosts: []southbound.HostID{0, 1, 2, 3}}},
		{Kind: state.StageStarted, JobID: 1}, {Kind: state.TaskEnded, Task: 0}, {Kind: state.TaskEnded, Task: 1},
		{Kind: state.CoflowStarted}, {Kind: state.CoflowStarted, Coflow: 1},
		{Kind: state.HostFlowEnded, Coflow: 1, Row: 0}, // 0→2, of rows 0→2, 1→2, 0→3, 1→3
	}); err != nil {
		t.Fatal(err)
	}
	l := loop.New(w.fabric, loop.Config{Policy: w.policy, Paths: w.paths})
	w.policy.plans = []*controller.Plan{{Wake: southbound.Never, Place: []controller.Placement{{Job: 1,
		Hosts: []southbound.HostID{0, 1, 1, 3}, Move: []int32{2}}}}}
	in := loop.Inputs{Remaining: func(id southbound.CoflowID) (southbound.Remaining, bool) {
		if id != 1 {
			return southbound.Remaining{F: 1, Base: []float64{90}, Live: 1}, true
		}
		return southbound.Remaining{F: 1, Base: []float64{0, 300, 400, 500}, Live: 3}, true
	}}
	var placed []*controller.Placement
	held := map[southbound.HostFlowKey]bool{}
	for n := 0; n < 50; n++ {
		entries, act, wake := l.Step(w.state, time.Second, in)
		for i := range entries {
			if entries[i].Kind == state.Placed {
				placed = append(placed, entries[i].Placement)
			}
		}
		if err := w.state.ApplyAll(entries); err != nil || len(act.Errs) > 0 {
			t.Fatal(err, act.Errs)
		}
		for _, s := range act.Steer {
			if s.Tag == southbound.TagHold {
				held[s.HostFlowKey] = true
			}
		}
		if wake > time.Second {
			break
		}
	}
	if len(placed) != 1 || placed[0].Resent != pathmap.Bytes(700) ||
		!slices.Equal(placed[0].Move, []int32{2}) {
		t.Errorf("placed %+v, want 700 of row 1's 1000 bytes to be sent again", placed)
	}
	if want := (southbound.HostFlowKey{Coflow: 1, Row: 1}); len(held) != 1 || !held[want] {
		t.Errorf("held are %v, want %v alone", held, want)
	}
}
