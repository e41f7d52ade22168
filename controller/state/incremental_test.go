package state_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// waves is an incremental job of three maps and two reduces.
func waves() *controller.Job {
	return &controller.Job{Name: "waves", Incremental: true,
		Stages: []controller.Stage{
			{Name: "map", Tasks: []controller.Task{{Compute: 10, NonLocal: 5}, {Compute: 10, NonLocal: 5},
				{Compute: 10, NonLocal: 5}}},
			{Name: "reduce", Tasks: make([]controller.Task, 2)},
		},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: 600}}}
}

// TestIncremental places a job of five tasks on a fabric with two slots.
func TestIncremental(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 1, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := state.New(f)
	now := time.Duration(0)
	do := func(e state.Entry) {
		t.Helper()
		e.At = now
		if err := s.Apply(&e); err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		b, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		again := state.New(f)
		if err := again.Restore(b); err != nil {
			t.Fatal(err)
		}
		if len(again.ReadyStages()) != len(s.ReadyStages()) ||
			len(again.ReadyCoflows()) != len(s.ReadyCoflows()) ||
			len(again.Active()) != len(s.Active()) {
			t.Fatalf("after %+v: a restored state has other work to do", e)
		}
	}
	const no = controller.NoHost
	place := func(far []int32, hosts ...southbound.HostID) {
		t.Helper()
		do(state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: hosts, NonLocal: far}})
	}
	start := func(stage int32) { t.Helper(); do(state.Entry{Kind: state.StageStarted, Stage: stage}) }
	end := func(task southbound.TaskID) {
		t.Helper()
		now += 10
		do(state.Entry{Kind: state.TaskEnded, Task: task})
	}
	refuse := func(want string, p controller.Placement) {
		t.Helper()
		before := s.Digest()
		err := s.Apply(&state.Entry{Kind: state.Placed, At: now, Placement: &p})
		if err == nil || want != "" && !strings.Contains(err.Error(), want) || want == "" &&
			!errors.Is(err, state.ErrStale) || s.Digest() != before {
			t.Fatalf("%+v: %v, want %q and nothing changed", p, err, want)
		}
	}

	do(state.Entry{Kind: state.JobAccepted, Job: waves()})
	refuse("", controller.Placement{Hosts: []southbound.HostID{no, no, no, no, no}})
	refuse("has no slot left", controller.Placement{Hosts: []southbound.HostID{0, 0, no, no, no}})
	refuse("read from afar", controller.Placement{Hosts: []southbound.HostID{0, no, no, no, no},
		NonLocal: []int32{1}})
	place([]int32{1}, 0, 1, no, no, no)
	start(0)
	if d := s.Data(); d.Tasks[0].NonLocal || !d.Tasks[1].NonLocal || !d.Tasks[1].Running() ||
		d.Tasks[2].Running() {
		t.Fatalf("%+v", d.Tasks)
	}
	refuse("has no slot left", controller.Placement{Hosts: []southbound.HostID{0, 1, 1, no, no}})
	end(0)
	refuse("is not moved", controller.Placement{Hosts: []southbound.HostID{1, 1, 0, no, no}})
	var v controller.View
	s.FillView(&v, nil)
	if len(v.Partial) != 1 || v.Partial[0].Hosts[2] != no || !v.Partial[0].Waits[1] || v.Partial[0].Waits[0] ||
		len(v.Waiting) != 0 {
		t.Fatalf("%+v", v.Partial)
	}
	place(nil, 0, 1, 0, no, no)
	start(0)
	end(1)
	place(nil, 0, 1, 0, 1, no) // a reduce, before the last map has ended
	if len(s.Active()) != 0 {
		t.Fatal("a shuffle is active whose reduces have no hosts")
	}
	end(2)
	if len(s.ReadyCoflows()) != 0 {
		t.Fatal("a shuffle is ready whose reduces have no hosts")
	}
	place(nil, 0, 1, 0, 1, 0)
	if c := s.Coflow(0); len(s.ReadyCoflows()) != 1 || c.Bytes+c.Local != 600 || c.Bytes != 300 {
		t.Fatalf("%v ready, %+v", s.ReadyCoflows(), c)
	}
	do(state.Entry{Kind: state.CoflowStarted})
	for row := range s.Coflow(0).Remaining {
		do(state.Entry{Kind: state.HostFlowEnded, Row: row})
	}
	start(1)
	end(3)
	end(4)
	if s.Finished() != 1 {
		t.Fatal("the job has not ended")
	}
	s.FillView(&v, nil)
	if len(v.Partial) != 0 || v.Free[0] != 1 || v.Free[1] != 1 {
		t.Fatalf("%+v, free %v", v.Partial, v.Free)
	}
}

func TestGangJobsStayWhole(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 1, Slots: 3})
	if err != nil {
		t.Fatal(err)
	}
	s := state.New(f)
	j := waves()
	j.Incremental = false
	if err := s.Apply(&state.Entry{Kind: state.JobAccepted, Job: j}); err != nil {
		t.Fatal(err)
	}
	err = s.Apply(&state.Entry{Kind: state.Placed,
		Placement: &controller.Placement{Hosts: []southbound.HostID{0, 0, 0, 1, controller.NoHost}}})
	if err == nil || !strings.Contains(err.Error(), "task 4 has no host") {
		t.Fatal(err)
	}
}

// TestShuffleByHost: host flows made host by host hold what those made pair by pair do, to a byte for
// each pair, and their sum is exact.
func TestShuffleByHost(t *testing.T) {
	j := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 7)},
		{Tasks: make([]controller.Task, 5)}}}
	e := &controller.Edge{Kind: controller.ScatterGather, To: 1, Bytes: 1_000_003}
	hosts := []southbound.HostID{3, 1, 3, 0, 2, 2, 3, 1, 4, 1, 0, 4}
	want := controller.Expand(j, e, hosts)
	j.Incremental = true
	got := controller.Expand(j, e, hosts)
	sum := got.Local
	if len(got.Src) != len(want.Src) {
		t.Fatalf("%d host flows, want %d", len(got.Src), len(want.Src))
	}
	for i := range got.Src {
		sum += got.Size[i]
		if got.Src[i] != want.Src[i] || got.Dst[i] != want.Dst[i] || got.Flows[i] != want.Flows[i] ||
			(got.Size[i]-want.Size[i]).Over(8*pathmap.Gbps).Abs() > 35 {
			t.Errorf("host flow %d: %d→%d of %d bytes, want %d→%d of %d", i, got.Src[i], got.Dst[i],
				got.Size[i], want.Src[i],
				want.Dst[i], want.Size[i])
		}
	}
	if sum != 1_000_003 {
		t.Errorf("%d bytes", sum)
	}
}

// TestPolicyStateIsKept: what a policy leaves with a placement is shown to it until it leaves something
// else, also by a state that was restored.
func TestPolicyStateIsKept(t *testing.T) {
	f := fabric(t)
	s := state.New(f)
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: waves()})
	hosts := slices.Repeat([]southbound.HostID{controller.NoHost}, waves().Tasks())
	for i, left := range [][]int32{{4, 5}, nil, {6}, {}} {
		hosts = slices.Clone(hosts)
		hosts[i] = southbound.HostID(i)
		apply(t, s, state.Entry{Kind: state.Placed,
			Placement: &controller.Placement{Hosts: hosts, PolicyState: left}})
		want := [][]int32{{4, 5}, {4, 5}, {6}, {}}[i]
		b, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		again := state.New(f)
		if err := again.Restore(b); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*state.State{s, again} {
			var v controller.View
			if s.FillView(&v, nil); len(v.Partial) != 1 || !slices.Equal(v.Partial[0].PolicyState, want) {
				t.Errorf("placement %d: %+v, want %v", i, v.Partial, want)
			}
		}
	}
}

// TestNonLocal: a placement's NonLocal lists the tasks that read from afar, in order, the first one too.
func TestNonLocal(t *testing.T) {
	no := controller.NoHost
	for _, tc := range []struct {
		far []int32
		ok  bool
	}{{nil, true}, {[]int32{0}, true}, {[]int32{0, 2}, true}, {[]int32{2}, true}, {[]int32{-1}, false},
		{[]int32{1}, false}, {[]int32{5}, false}, {[]int32{2, 0}, false}, {[]int32{0, 0}, false}} {
		s := state.New(fabric(t))
		apply(t, s, state.Entry{Kind: state.JobAccepted, Job: waves()})
		err := s.Apply(&state.Entry{Kind: state.Placed, Placement: &controller.Placement{
			Hosts: []southbound.HostID{0, no, 1, no, no}, NonLocal: tc.far}})
		if (err == nil) != tc.ok {
			t.Errorf("from afar %v: %v", tc.far, err)
		}
		for i, task := range s.Data().Tasks {
			if want := tc.ok && slices.Contains(tc.far, int32(i)); task.NonLocal != want {
				t.Errorf("from afar %v: task %d: %v", tc.far, i, task.NonLocal)
			}
		}
	}
}

// TestReasonOfIncremental: only a stage that receives waits for more slots than there are.
func TestReasonOfIncremental(t *testing.T) {
	for _, tc := range []struct {
		maps, reduces int
		lost          southbound.HostID // number of failed hosts, of eight with two slots each
		want          string
	}{
		{40, 2, 0, "some of its tasks wait for slots"},
		{2, 16, 0, "some of its tasks wait for slots"},
		{2, 16, 1, `stage "reduce" receives, and its 16 tasks must all have a slot for that: hosts with 14 are left`},
	} {
		s := state.New(fabric(t))
		j := waves()
		j.Stages[0].Tasks, j.Stages[1].Tasks = make([]controller.Task,
			tc.maps), make([]controller.Task, tc.reduces)
		hosts := slices.Repeat([]southbound.HostID{controller.NoHost}, tc.maps+tc.reduces)
		hosts[0] = 7
		apply(t, s, state.Entry{Kind: state.JobAccepted, Job: j},
			state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: hosts}})
		for h := range tc.lost {
			apply(t, s, state.Entry{Kind: state.HostSeen, Host: h})
		}
		if got := s.Reasons()[0]; got != tc.want {
			t.Errorf("%d maps, %d reduces, %d hosts lost: %q, want %q", tc.maps, tc.reduces, tc.lost, got, tc.want)
		}
	}
}

// TestReasonOfMoreThanAllSlots: an incremental job that takes more slots than there are says what could start it.
func TestReasonOfMoreThanAllSlots(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 1, Slots: 2})
	if err != nil {
		t.Fatal(err)
	}
	s := state.New(f)
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: waves()})
	want := "it waits for slots; all its tasks take 5, and there are 4, so that only a policy starts it that places " +
		"tasks one by one, such as fair"
	if got := s.Reasons()[0]; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReasons: what has not ended has a reason only where something is amiss, or it waits for slots.
func TestReasons(t *testing.T) {
	f := fabric(t)
	s := state.New(f)
	now := func() map[controller.JobID]string { return s.Reasons() }
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: shuffle()})
	if got := now(); len(got) != 1 || got[0] != "it waits for slots" {
		t.Errorf("not placed: %q", got)
	}
	hosts := func(back bool) {
		for h := range southbound.HostID(f.Hosts() - 1) {
			apply(t, s, state.Entry{Kind: state.HostSeen, Host: h, OK: back})
		}
	}
	hosts(false)
	if got, want := now()[0], fmt.Sprintf("it takes 3 slots at once, and hosts with %d are left: it waits for those lost "+
		"or drained", f.Spec.Slots); got != want {
		t.Errorf("hosts are lost: %q, want %q", got, want)
	}
	hosts(true)
	apply(t, s, state.Entry{Kind: state.Placed,
		Placement: &controller.Placement{Hosts: []southbound.HostID{0, 2, 4}}})
	if got := now(); len(got) > 0 {
		t.Errorf("placed: %q", got)
	}
	dark := func(port southbound.Port) {
		apply(t, s, state.Entry{Kind: state.PortSeen, Device: f.ToRNode[0], Port: port})
	}
	dark(2)
	if got := now(); len(got) > 0 {
		t.Errorf("one of two uplinks is dark: %q", got)
	}
	dark(3)
	if got, want := now()[0], "no path over packets is whole from h0-0 to h2-0"; got != want {
		t.Errorf("both uplinks are dark: %q, want %q", got, want)
	}
	apply(t, s, state.Entry{Kind: state.JobCancelled, JobID: 0})
	if got := now(); len(got) > 0 {
		t.Errorf("cancelled: %q", got)
	}
}
