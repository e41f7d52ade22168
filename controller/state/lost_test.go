package state_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestWalksWithLostHosts is TestWalks while hosts fail and come back. In the end every job has ended,
// and of each edge exactly its bytes have been received: none twice, whatever began again.
func TestWalksWithLostHosts(t *testing.T) {
	t.Parallel()
	f := fabric(t)
	seeds := tries.Of[uint64](8, 60)
	redone := 0
	for seed := range seeds {
		w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 3)), s: state.New(f), seed: seed, lossy: true,
			received: map[[2]int]pathmap.Bytes{}}
		for range 200 {
			w.step()
		}
		w.end = true
		for n := 0; w.s.Finished() < len(w.s.Data().Jobs); n++ {
			if n == 4000 {
				t.Fatalf("seed %d: %d of %d jobs end", seed, w.s.Finished(), len(w.s.Data().Jobs))
			}
			w.step()
		}
		w.conserved()
		w.restore()
		for _, j := range w.s.Data().Jobs {
			redone += len(j.Redo)
		}
	}
	if redone < int(seeds) {
		t.Errorf("only %d coflows were carried again in %d walks", redone, seeds)
	}
}

// conserved checks that each edge's bytes have been received once, or never entered the network.
func (w *walk) conserved() {
	d := w.s.Data()
	local := map[[2]int]pathmap.Bytes{}
	booked := map[[2]int]pathmap.Bytes{}
	for _, c := range d.Coflows {
		k := [2]int{int(c.Job), int(c.Edge)}
		local[k] += c.Local
		booked[k] += c.Bytes
	}
	for i, j := range w.jobs {
		if w.s.Job(controller.JobID(i)).Placed == state.Unset {
			continue
		}
		numbers := make([]southbound.HostID, j.Tasks())
		for n := range numbers {
			numbers[n] = southbound.HostID(n)
		}
		for e := range j.Edges {
			edge := &j.Edges[e]
			if edge.Reads != nil {
				edge = &w.s.Job(controller.JobID(i)).Edges[e]
			}
			all := controller.Expand(j, edge, numbers)
			want := all.Local
			for _, b := range all.Size {
				want += b
			}
			k := [2]int{i, e}
			got := booked[k] + local[k]
			if got != want || w.received[k] != booked[k] {
				w.t.Fatalf("seed %d: edge %d of job %d (%s): %d received, %d booked, %d local of %d",
					w.seed, e, i, j.Name,
					w.received[k], booked[k], local[k], want)
			}
		}
	}
}

// rescheduled gives hosts to the tasks of a job that have lost theirs, if there are slots.
func rescheduled(v *controller.View, h *controller.Evicted, r *rand.Rand) ([]southbound.HostID, bool) {
	free := append([]int32(nil), v.Free...)
	sizes := h.Job.Sizes()
	need := func(i int) int32 {
		if sizes == nil {
			return 1
		}
		return sizes[i]
	}
	hosts := append([]southbound.HostID(nil), h.Hosts...)
	for i, at := range hosts {
		if at != controller.NoHost {
			continue
		}
		from := r.IntN(len(free))
		for k := range free {
			if host := (from + k) % len(free); free[host] >= need(i) {
				hosts[i] = southbound.HostID(host)
				break
			}
		}
		if hosts[i] == controller.NoHost {
			return nil, false
		}
		if !h.Ended[i] {
			free[hosts[i]] -= need(i)
		}
	}
	return hosts, true
}

// TestLostHost follows one shuffle that loses a receiver's host. What the receiver got is kept, what
// was on its way begins again towards the new host, its task is retried, and no other task moves.
func TestLostHost(t *testing.T) {
	s := state.New(fabric(t))
	name := func(h southbound.HostID) string { return "the host" }
	job := &controller.Job{Name: "j", Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)},
		{Tasks: make([]controller.Task, 2)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 40}}}
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: job},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 1, 2, 3}}},
		state.Entry{Kind: state.StageStarted}, state.Entry{Kind: state.TaskEnded, Task: 0},
		state.Entry{Kind: state.TaskEnded, Task: 1},
		state.Entry{Kind: state.CoflowStarted}, state.Entry{Kind: state.HostFlowEnded, Row: 0}, // 0→2
		state.Entry{Kind: state.HostSeen, Host: 2})
	d := s.Data()
	if c := d.Coflows[0]; !c.Done[1] || c.Done[2] || c.Remaining != 2 || c.Bytes != 30 {
		t.Fatalf("after the loss: %+v", c)
	}
	redo := d.Coflows[1]
	if !redo.Waits || len(redo.Pairs) != 1 || redo.Pairs[0] != (controller.Flow{Src: 1, Dst: 2,
		Bytes: 10, Count: 1}) {
		t.Fatalf("carried again: %+v", redo)
	}
	if s.Reason(d.Jobs[0], name) == "" {
		t.Error("a job without a host for a task tells no reason")
	}
	for _, hosts := range [][]southbound.HostID{{0, 1, 2, 3}, {0, 1, 3}, {1, 1, 3, 3}, {0, 1, -1, 3}} {
		if err := s.Apply(&state.Entry{Kind: state.Placed,
			Placement: &controller.Placement{Hosts: hosts}}); err == nil {
			t.Errorf("placement %v was taken", hosts)
		}
	}
	apply(t, s, state.Entry{Kind: state.Placed,
		Placement: &controller.Placement{Hosts: []southbound.HostID{0, 1, 3, 3}}},
		state.Entry{Kind: state.CoflowStarted, Coflow: 1})
	if redo.Waits || redo.Columns.Src[0] != 1 || redo.Columns.Dst[0] != 3 || redo.Columns.Size[0] != 10 ||
		d.Tasks[2].Try != 1 || d.Tasks[3].Try != 0 {
		t.Fatalf("after the new placement: %+v, tasks %+v", redo, d.Tasks)
	}
	apply(t, s, state.Entry{Kind: state.HostFlowEnded, Coflow: 0, Row: 2},
		state.Entry{Kind: state.HostFlowEnded, Coflow: 0, Row: 3})
	if len(s.ReadyStages()) != 0 {
		t.Fatal("the reducers may start before all bytes have come")
	}
	apply(t, s, state.Entry{Kind: state.HostFlowEnded, Coflow: 1, Row: 0},
		state.Entry{Kind: state.StageStarted, Stage: 1},
		state.Entry{Kind: state.TaskEnded, Task: 2}, state.Entry{Kind: state.TaskEnded, Task: 3})
	if s.Finished() != 1 || s.Reason(d.Jobs[0], name) != "" {
		t.Errorf("the job has not ended: %+v", d.Jobs[0])
	}
}

// TestFlowsWaitForTheirHost: flows that name a lost host wait until it is back, and the reason is reported.
func TestFlowsWaitForTheirHost(t *testing.T) {
	s := state.New(fabric(t))
	name := func(h southbound.HostID) string { return "h" }
	job := &controller.Job{Name: "bare", Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0,
		Dst: 1, Bytes: 5},
		{Src: 2, Dst: 3, Bytes: 7}}}}}
	apply(t, s, state.Entry{Kind: state.HostSeen, Host: 1}, state.Entry{Kind: state.JobAccepted, Job: job},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{}}, state.Entry{Kind: state.CoflowStarted},
		state.Entry{Kind: state.HostFlowEnded, Row: 1})
	d := s.Data()
	if why := s.Reason(d.Jobs[0], name); !strings.Contains(why, "host h") || s.Finished() != 0 ||
		d.Coflows[0].Ended == state.Unset {
		t.Fatalf("reason %q, job %+v", why, d.Jobs[0])
	}
	apply(t, s, state.Entry{Kind: state.HostSeen, Host: 1, OK: true},
		state.Entry{Kind: state.CoflowStarted, Coflow: 1},
		state.Entry{Kind: state.HostFlowEnded, Coflow: 1})
	if s.Finished() != 1 || d.Coflows[1].Bytes != 5 {
		t.Errorf("the job has not ended: %+v", d.Jobs[0])
	}
}

// TestShuffleIsLostWhole: what a shuffle laid out host by host loses with a host is carried again to
// the byte, also where pairs of tasks by themselves would have rounded otherwise.
func TestShuffleIsLostWhole(t *testing.T) {
	for bytes := range pathmap.Bytes(40) {
		for _, parts := range [][]int64{nil, {1, 0, 3, 2}, {0, 5, 0, 0}} {
			if sum := carriedInAll(t, bytes+1, parts); sum != bytes+1 {
				t.Errorf("parts %v: %d bytes are carried of %d", parts, sum, bytes+1)
			}
		}
	}
}

// carriedInAll runs such a job over the loss of a host.
func carriedInAll(t *testing.T, bytes pathmap.Bytes, parts []int64) (sum pathmap.Bytes) {
	s := state.New(fabric(t))
	job := &controller.Job{Name: "j", Incremental: true,
		Stages: []controller.Stage{{Tasks: make([]controller.Task, 3)},
			{Tasks: make([]controller.Task, 4)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: bytes, Reducers: parts}}}
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: job}, state.Entry{Kind: state.Placed,
		Placement: &controller.Placement{Hosts: []southbound.HostID{3, 0, 0, 2, 1, 2, 1}}},
		state.Entry{Kind: state.StageStarted}, state.Entry{Kind: state.TaskEnded, Task: 0},
		state.Entry{Kind: state.TaskEnded, Task: 1}, state.Entry{Kind: state.TaskEnded, Task: 2},
		state.Entry{Kind: state.CoflowStarted}, state.Entry{Kind: state.HostSeen, Host: 1})
	for _, c := range s.Data().Coflows {
		if c.Resent {
			apply(t, s, state.Entry{Kind: state.Placed,
				Placement: &controller.Placement{Hosts: []southbound.HostID{3, 0, 0, 2, 3, 2, 0}}})
		}
	}
	for _, c := range s.Data().Coflows {
		sum += c.Bytes + c.Local
	}
	return sum
}

// TestLostTwice: a task has moved to a host that sends the same coflow, and that is lost too. Nothing
// is carried twice: not even where both senders' bytes to a receiver would have made one host flow.
func TestLostTwice(t *testing.T) {
	s := state.New(fabric(t))
	job := &controller.Job{Name: "j", Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)},
		{Tasks: make([]controller.Task, 1)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 30}}}
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: job},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 1, 2}}},
		state.Entry{Kind: state.StageStarted}, state.Entry{Kind: state.TaskEnded, Task: 0},
		state.Entry{Kind: state.TaskEnded, Task: 1},
		state.Entry{Kind: state.CoflowStarted}, state.Entry{Kind: state.HostSeen, Host: 0},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{1, 1, 2}}},
		state.Entry{Kind: state.CoflowStarted, Coflow: 1}, state.Entry{Kind: state.HostSeen, Host: 1},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{3, 3, 2}}},
		state.Entry{Kind: state.CoflowStarted, Coflow: 2}, state.Entry{Kind: state.CoflowStarted, Coflow: 3})
	sum := pathmap.Bytes(0)
	for _, c := range s.Data().Coflows {
		sum += c.Bytes
	}
	if sum != 30 {
		t.Errorf("%d bytes are carried of 30", sum)
	}
}
