package state_test

import (
	"fmt"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/southbound"
)

// pinnedJob is a job of two stages of a task each, the second after the first.
func pinnedJob(first, second southbound.HostID) *controller.Job {
	stage := func(name string, h southbound.HostID) controller.Stage {
		return controller.Stage{Name: name, Tasks: []controller.Task{{Compute: time.Second}}, Hosts: []southbound.HostID{h}}
	}
	return &controller.Job{Name: "ranks", Stages: []controller.Stage{stage("a", first), stage("b", second)},
		Edges: []controller.Edge{{Kind: controller.Pairs, To: 1, Flows: []controller.Flow{{Bytes: 10}}}}}
}

// onPinned is the placement of the pinned job that waits first; nil where none waits, or its hosts have no room.
func onPinned(s *state.State) *controller.Placement {
	for _, j := range s.PinnedWaiters() {
		if p, ok := s.OnPinned(j); ok {
			return p
		}
	}
	return nil
}

func seen(host southbound.HostID, up bool) state.Entry {
	return state.Entry{Kind: state.HostSeen, Host: host, OK: up}
}

// TestPinnedAfterRestore: a pinned job that loses its host after a snapshot was read waits for it, and is placed again.
func TestPinnedAfterRestore(t *testing.T) {
	before, s := state.New(fabric(t)), state.New(fabric(t))
	apply(t, before, state.Entry{Kind: state.JobAccepted, Job: pinnedJob(0, 2)})
	apply(t, before, state.Entry{Kind: state.Placed, Placement: onPinned(before)})
	snapshot, err := before.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(snapshot); err != nil {
		t.Fatal(err)
	}
	apply(t, s, seen(0, false))
	if len(s.PinnedWaiters()) != 1 || onPinned(s) != nil {
		t.Errorf("%d jobs wait for their hosts; want 1, that is not placed on a lost one", len(s.PinnedWaiters()))
	}
	apply(t, s, seen(0, true))
	if p := onPinned(s); p == nil || fmt.Sprint(p.Hosts) != "[0 2]" {
		t.Errorf("its host is back, and it is placed by %+v", p)
	}
}

// TestPinnedBesideLostHost: the host of a task that has ended and been read is not waited for.
func TestPinnedBesideLostHost(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: pinnedJob(0, 2)})
	apply(t, s, state.Entry{Kind: state.Placed, Placement: onPinned(s)},
		state.Entry{Kind: state.StageStarted, Stage: 0}, state.Entry{Kind: state.TaskEnded, Task: 0},
		state.Entry{Kind: state.CoflowStarted}, state.Entry{Kind: state.HostFlowEnded},
		state.Entry{Kind: state.StageStarted, Stage: 1},
		seen(0, false), seen(2, false), seen(2, true))
	p := onPinned(s)
	if p == nil || fmt.Sprint(p.Hosts) != "[0 2]" {
		t.Fatalf("its second task's host is back, and it is placed by %+v", p)
	}
	apply(t, s, state.Entry{Kind: state.Placed, Placement: p}, state.Entry{Kind: state.StageStarted, Stage: 1},
		state.Entry{Kind: state.TaskEnded, Task: 1})
	if s.Finished() != 1 {
		t.Error("it has not ended")
	}
}

// TestPinnedOnJobSlice: a pinned job waits while one of its hosts is in the slice of another job.
func TestPinnedOnJobSlice(t *testing.T) {
	s := podState(t)
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: &controller.Job{Name: "j", Slice: "2x2x2",
		Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Compute: time.Second}}}}}})
	set := placed(t, s, state.JobSliceName(0), torus.Box(2, 2, 2), 1)
	set.Slice.Request = set.Slice.Name
	of, other := southbound.HostID(s.Fabric().FirstHost[1]), southbound.HostID(s.Fabric().FirstHost[2])
	apply(t, s, set, state.Entry{Kind: state.JobAccepted, Job: pinnedJob(other, of)})
	if p := onPinned(s); p != nil {
		t.Errorf("placed by %+v, on a host of another job's slice", p)
	}
	apply(t, s, state.Entry{Kind: state.SliceDeleted, Request: set.Slice.Name})
	if onPinned(s) == nil {
		t.Error("the slice has gone, and it waits")
	}
}
