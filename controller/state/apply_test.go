package state

import (
	"errors"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestEntriesRefused: an entry about what is not there, or is over, is refused with what is wrong, and
// changes nothing.
func TestEntriesRefused(t *testing.T) {
	placing := func(id controller.JobID, hosts ...southbound.HostID) Entry {
		return Entry{Kind: Placed, Placement: &controller.Placement{Job: id, Hosts: hosts}}
	}
	moving := placing(1, 0, 1)
	moving.Placement.Move = []int32{0}
	reader := &controller.Job{Name: "x", Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 0, Bytes: 1,
			Reads: &controller.Read{Job: "x"}}}}
	begun := []Entry{{Kind: StageStarted}, {Kind: TaskEnded}, {Kind: CoflowStarted}}
	over := append(begun[:3:3], Entry{Kind: HostFlowEnded})
	done := append(over[:4:4], Entry{Kind: StageStarted, Stage: 1}, Entry{Kind: TaskEnded, Task: 1})
	const stale = "stale"
	for _, tc := range []struct {
		name   string
		before []Entry
		entry  Entry
		want   string
	}{
		{"a job beyond the fabric", nil, Entry{Kind: JobAccepted, Job: &controller.Job{Edges: []controller.Edge{
			{Kind: controller.Fixed, Flows: []controller.Flow{{Src: 0, Dst: 3, Bytes: 1}}}}}}, "3"},
		{"a job that reads itself", nil, Entry{Kind: JobAccepted, Job: reader}, "x"},
		{"a host less", nil, placing(1, 0), "place job 1: 1 hosts for 2 tasks"},
		{"a host more", nil, placing(1, 0, 1, 2), "place job 1: 3 hosts for 2 tasks"},
		{"moved before it is placed", nil, moving, "place job 1: it moves tasks of a job that is not placed"},
		{"a host behind the last", nil, placing(1, 0, 3), "place job 1: host 3 of 3"},
		{"a host below the first", nil, placing(1, 0, -2), "place job 1: host -2 of 3"},
		{"no host", nil, placing(1, 0, controller.NoHost), "place job 1"},
		{"the last host", nil, placing(1, 0, 1), ""},
		{"placed again", nil, placing(0, 0, 2), stale},
		{"no such job", nil, placing(2, 0, 1), "no such job"},
		{"no such task", nil, Entry{Kind: TaskEnded, Task: 4}, "end task 4: no such task"},
		{"a task below", nil, Entry{Kind: TaskEnded, Task: -1}, "end task -1: no such task"},
		{"a task that has not started", nil, Entry{Kind: TaskEnded, Task: 0}, "end task 0: it has not started"},
		{"the last task", nil, Entry{Kind: TaskEnded, Task: 3}, "end task 3: it has not started"},
		{"a task that has ended", begun, Entry{Kind: TaskEnded, Task: 0}, stale},
		{"a coflow that has not started", nil, Entry{Kind: HostFlowEnded},
			"end host flow 0 of coflow 0: the coflow has not started"},
		{"a row behind the last", begun, Entry{Kind: HostFlowEnded, Row: 1},
			"end host flow 1 of coflow 0: it has 1"},
		{"a row below", begun, Entry{Kind: HostFlowEnded, Row: -1}, "end host flow -1 of coflow 0: it has 1"},
		{"a row", begun, Entry{Kind: HostFlowEnded}, ""},
		{"a row of a coflow that has ended", over, Entry{Kind: HostFlowEnded}, stale},
		{"no such coflow", begun, Entry{Kind: HostFlowEnded, Coflow: 2}, "coflow 2: no such coflow"},
		{"a route of a coflow that has ended", over, Entry{Kind: Routed,
			Routing: &controller.Routing{Tags: make([]southbound.Tag, 1)}}, stale},
		{"a route of too many rows", begun, Entry{Kind: Routed, Routing: &controller.Routing{
			Tags: make([]southbound.Tag, 2)}}, "route coflow 0: 2 tags for 1 host flows"},
		{"a route over no packets", begun, Entry{Kind: Routed, Routing: &controller.Routing{
			Tags: []southbound.Tag{southbound.TagHold}}}, "is not a packet path"},
		{"a job that is over", done, Entry{Kind: TaskEnded, Task: 1}, stale},
		{"a circuit at no port", nil, Entry{Kind: CircuitDropped, Port: 3, Out: 1}, "drop 3→1: no such port"},
		{"a circuit that is not in service", nil, Entry{Kind: CircuitDropped, Port: 2, Out: 1}, stale},
		{"a port without a link", nil, Entry{Kind: PortSeen, Device: 0, Port: 99}, "no link leaves there"},
	} {
		s := shuffles(t)
		apply(t, s, tc.before...)
		before := s.Digest()
		err := s.Apply(&tc.entry)
		switch {
		case tc.want == "":
			if err != nil || s.Digest() == before {
				t.Errorf("%s: %v, or it changed nothing", tc.name, err)
			}
		case tc.want == stale && !errors.Is(err, ErrStale), tc.want != stale && (err == nil || errors.Is(err, ErrStale) ||
			!strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		case s.Digest() != before:
			t.Errorf("%s: the state has changed", tc.name)
		}
	}
}

// TestPlannedAddsUp: each plan's moves of the annealer are added, each level's to its own, and the last
// wake stands.
func TestPlannedAddsUp(t *testing.T) {
	s := shuffles(t)
	moves := controller.AnnealCounts{Place: controller.MoveCounts{Evaluated: 10, Accepted: 2},
		Route: controller.MoveCounts{Evaluated: 300, Accepted: 40}}
	for _, p := range []Planning{{Wake: 5, Anneal: &moves}, {Wake: 7, Anneal: &moves}, {Wake: 6}} {
		apply(t, s, Entry{Kind: Planned, Planning: p})
	}
	want := controller.AnnealCounts{Place: controller.MoveCounts{Evaluated: 20, Accepted: 4},
		Route: controller.MoveCounts{Evaluated: 600, Accepted: 80}}
	if s.d.Anneal != want || s.d.Wake != 6 {
		t.Errorf("%+v, wake at %v, want %+v, 6", s.d.Anneal, s.d.Wake, want)
	}
}

// TestDropped: a circuit in service that is dropped ends its move then, and its input is dark.
func TestDropped(t *testing.T) {
	s := shuffles(t)
	apply(t, s, Entry{Kind: CircuitIntended, At: 1, Port: 0, Out: 1, Coflow: controller.AnyCoflow},
		Entry{Kind: CircuitSettled, At: 2, Port: 0, Out: 1, Stages: &Stages{}, OK: true})
	for _, e := range []Entry{{Kind: CircuitDropped, At: 3, Port: 0, Out: 2},
		{Kind: CircuitDropped, At: 3, Port: 1, Out: 1}} {
		if err := s.Apply(&e); !errors.Is(err, ErrStale) {
			t.Errorf("%d→%d is not in service: %v", e.Port, e.Out, err)
		}
	}
	drop := Entry{Kind: CircuitDropped, At: 4, Port: 0, Out: 1}
	apply(t, s, drop)
	if c := s.d.Circuits[0]; c.Out != southbound.NoPort || c.Since != 4 || s.d.Moves[0].Ended != 4 {
		t.Errorf("circuit %+v, move %+v", c, s.d.Moves[0])
	}
	if err := s.Apply(&drop); !errors.Is(err, ErrStale) {
		t.Errorf("dropped again: %v", err)
	}
}

// TestDownLinks: a port without light takes both directions of its cable out of views until it is lit again.
func TestDownLinks(t *testing.T) {
	s := shuffles(t)
	top := s.fabric.Topology
	tor := s.fabric.ToRNode[1]
	out := top.OutPort(tor, 0)
	var v controller.View
	if s.FillDown(&v); v.Down != nil {
		t.Errorf("nothing is down: %v", v.Down)
	}
	seen := Entry{Kind: PortSeen, Device: tor, Port: 0}
	apply(t, s, seen)
	if err := s.Apply(&seen); !errors.Is(err, ErrStale) {
		t.Errorf("seen again: %v", err)
	}
	s.FillDown(&v)
	for l, down := range v.Down {
		if want := pathmap.LinkID(l) == out || top.Link(pathmap.LinkID(l)).To == tor &&
			top.Link(pathmap.LinkID(l)).From == top.Link(out).To &&
			top.Link(pathmap.LinkID(l)).ToPort == 0; down != want {
			t.Errorf("link %d is down: %v, want %v", l, down, want)
		}
	}
	if len(v.Down) != len(top.Links()) {
		t.Errorf("%d links of %d", len(v.Down), len(top.Links()))
	}
	apply(t, s, Entry{Kind: PortSeen, Device: tor, Port: 0, OK: true})
	if s.FillDown(&v); v.Down != nil {
		t.Errorf("all is lit again: %v", v.Down)
	}
}
