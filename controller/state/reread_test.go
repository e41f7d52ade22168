package state_test

import (
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// readsOfHost0 is a log in which host 0 is lost twice: a job reads from it, its read is to be carried again once the
// host is back, and one of the job's tasks is placed anew while it is away again.
func readsOfHost0() []state.Entry {
	placed := func(h ...southbound.HostID) state.Entry {
		return state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: h}}
	}
	return []state.Entry{{Kind: state.JobAccepted, Job: &controller.Job{Name: "j",
		Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)}}, Edges: []controller.Edge{{Bytes: 8,
			Reads: &controller.Read{Kind: controller.Broadcast, Hosts: []southbound.HostID{0}}}}}},
		placed(2, 4), {Kind: state.CoflowStarted}, seen(0, false), seen(0, true), seen(4, false), seen(0, false),
		placed(2, 5)}
}

// TestSourceLostAgain: what a job reads is carried again from a host that is lost once more before it began, while one
// of the job's tasks moves. It begins when the host is back, and says so of a restored replica, too.
func TestSourceLostAgain(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, readsOfHost0()...)
	if err := derived(s); err != nil || !s.Coflow(1).Waits || len(s.Active()) != 0 {
		t.Fatalf("%v: with the host lost: %+v, active %v", err, s.Coflow(1), s.Active())
	}
	apply(t, s, seen(0, true))
	if err := derived(s); err != nil || !slices.Equal(s.ReadyCoflows(), []southbound.CoflowID{1}) ||
		!slices.Equal(s.Coflow(1).Columns.Dst, []southbound.HostID{2, 5}) {
		t.Fatalf("%v: with the host back: %+v, %v ready", err, s.Coflow(1), s.ReadyCoflows())
	}
}

// TestSourceLostAgainBefore: a cluster below level 12 does as versions before it do: replicas of both agree.
func TestSourceLostAgainBefore(t *testing.T) {
	for level, waits := range map[state.Level]bool{11: false, 12: true} {
		s := state.New(fabric(t))
		apply(t, s, state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 5, Level: level}})
		apply(t, s, readsOfHost0()...)
		if got := s.Coflow(1).Waits; got != waits {
			t.Errorf("level %d: waits: %v", level, got)
		}
	}
}

// shuffleRead is a log in which two tasks read a shuffle of 3 bytes from hosts 0 and 7. Host by host that is one byte
// each 7→0, 0→3 and 7→3. By pairs of tasks it would be one each 7→3, 0→0 and 7→0: the first task runs on host 3.
func shuffleRead() []state.Entry {
	return []state.Entry{{Kind: state.JobAccepted, Job: &controller.Job{Name: "j",
		Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)}}, Edges: []controller.Edge{{Bytes: 3,
			Reads: &controller.Read{Kind: controller.ScatterGather, Hosts: []southbound.HostID{0, 7}}}}}},
		{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{3, 0}}},
		{Kind: state.CoflowStarted}}
}

// TestReadIsLostWhole: what a job reads by a shuffle is carried again to the byte when a host is lost, from level 12
// on. A cluster below it does as versions before it do: replicas of both agree.
func TestReadIsLostWhole(t *testing.T) {
	for level, want := range map[state.Level][]controller.Flow{
		11: {{Src: 7, Dst: 1, Bytes: 1, Count: 1}},
		12: {{Src: 7, Dst: 1, Bytes: 1, Count: 1}, {Src: 0, Dst: 0, Bytes: 1, Count: 1}},
	} {
		s := state.New(fabric(t))
		apply(t, s, state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 5, Level: level}})
		apply(t, s, append(shuffleRead(), seen(0, false))...)
		if c := s.Coflow(0); c.Bytes != 1 || !slices.Equal(s.Coflow(1).Pairs, want) {
			t.Errorf("level %d: %d bytes are left, and %+v carried again, want %+v", level, c.Bytes, s.Coflow(1).Pairs, want)
		}
	}
}

// TestReadFollowsTask: all that is on its way to a task goes after it when the task is moved.
func TestReadFollowsTask(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, append(shuffleRead(), state.Entry{Kind: state.Placed,
		Placement: &controller.Placement{Hosts: []southbound.HostID{5, 0}, Move: []int32{0}}},
		state.Entry{Kind: state.CoflowStarted, Coflow: 1})...)
	if c := s.Coflow(1); s.Coflow(0).Bytes != 1 || !slices.Equal(c.Columns.Src, []southbound.HostID{0, 7}) ||
		!slices.Equal(c.Columns.Dst, []southbound.HostID{5, 5}) {
		t.Errorf("%+v is left, and %+v carried again", s.Coflow(0).Columns, c.Columns)
	}
}
