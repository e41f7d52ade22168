package state_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestLeaving has jobs leave one of two states that are given the same entries: both say the same of
// each entry, and show policies the same. Another replica, which is restored now and then, holds what
// the lean state holds.
func TestLeaving(t *testing.T) {
	t.Parallel()
	f := fabric(t)
	left := 0
	for seed := range tries.Of[uint64](4, 200) {
		w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 5)), s: state.New(f), seed: seed, lossy: seed%3 == 0,
			ending: seed%2 == 0, received: map[[2]int]pathmap.Bytes{}}
		w.renew(nil)
		for range 200 {
			w.step()
		}
		for n := 0; w.s.Finished() < len(w.s.Data().Jobs) && n < 1000; n++ {
			w.end = true
			w.step()
		}
		if got := w.s.Data().LeftSince(w.lean.Data()); len(got) != w.leaves {
			t.Errorf("seed %d: %d jobs are only in the whole state, %d have left", seed, len(got), w.leaves)
		}
		left += w.leaves
	}
	if left == 0 {
		t.Fatal("no job has left")
	}
	t.Logf("%d jobs left", left)
}

// renew makes the lean state from a snapshot, or anew.
func (w *walk) renew(snap []byte) {
	w.lean = state.New(w.s.Fabric())
	w.lean.KeepEnded(state.Keep{Ended: 10, Together: 1, Left: func(l []state.Left) {
		if w.leaves += len(l); len(l) == 0 {
			w.t.Errorf("seed %d: told of jobs that leave, and there are none", w.seed)
		}
		for _, x := range l {
			whole := w.s.Job(x.Job.ID)
			if diff := cmp.Diff(whole, x.Job, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(state.Job{}),
				cmpopts.IgnoreFields(state.Job{}, "Leaves")); diff != "" || len(x.Tasks) != whole.Tasks() {
				w.t.Fatalf("seed %d: job %d leaves with %d tasks (-is +left):\n%s", w.seed, x.Job.ID,
					len(x.Tasks), diff)
			}
			for _, c := range x.Coflows {
				if diff := cmp.Diff(w.s.Coflow(c.ID), c, cmpopts.EquateEmpty(),
					cmpopts.IgnoreUnexported(state.Coflow{})); diff != "" {
					w.t.Fatalf("seed %d: coflow %d leaves (-is +left):\n%s", w.seed, c.ID, diff)
				}
			}
		}
	}})
	if snap != nil {
		if err := w.lean.Restore(snap); err != nil {
			w.t.Fatalf("seed %d: %v", w.seed, err)
		}
	}
}

func (w *walk) compare(e *state.Entry, want error) {
	got := w.lean.Apply(e)
	restart := w.r.IntN(30) == 0
	var snap []byte
	if restart {
		snap, _ = w.lean.Snapshot()
	}
	_ = w.lean.ApplyAll(nil)
	if (got == nil) != (want == nil) || errors.Is(got, state.ErrStale) != errors.Is(want, state.ErrStale) {
		w.t.Fatalf("seed %d: %+v: the whole state says %v, the lean one %v", w.seed, e, want, got)
	}
	if w.lean.Finished() != w.s.Finished() {
		w.t.Fatalf("seed %d: %d jobs have ended, want %d", w.seed, w.lean.Finished(), w.s.Finished())
	}
	if restart {
		w.restart(snap)
	}
	if w.r.IntN(8) > 0 {
		return
	}
	var a, b controller.View
	w.s.FillView(&a, nil)
	w.lean.FillView(&b, nil)
	if diff := cmp.Diff(a, b, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(controller.View{}, "Fabric", "Showing"),
		cmpopts.IgnoreFields(controller.CoflowView{}, "Generation"),
		cmpopts.IgnoreFields(controller.Partial{}, "Changes")); diff != "" {
		w.t.Fatalf("seed %d: after %+v: the lean state shows policies something else:\n%s", w.seed, e, diff)
	}
}

// restart continues with what a snapshot from before the last batch holds.
func (w *walk) restart(snap []byte) {
	old, leaves := w.lean.Digest(), w.leaves
	w.renew(snap)
	_ = w.lean.ApplyAll(nil)
	if w.leaves = leaves; w.lean.Digest() != old {
		w.t.Fatalf("seed %d: a restored replica lets other jobs go", w.seed)
	}
	for _, j := range w.lean.Data().Jobs {
		for i := range j.Tasks() {
			if of, _ := w.lean.Task(j.FirstTask + southbound.TaskID(i)); of != j {
				w.t.Fatalf("seed %d: task %d of job %d is not found", w.seed, i, j.ID)
			}
		}
	}
}

// TestRequestsAreForgotten: a request is known for its time, by the log's clock, and the digest follows
// what is known.
func TestRequestsAreForgotten(t *testing.T) {
	s := state.New(fabric(t))
	s.KeepEnded(state.Keep{Requests: 10})
	job := &controller.Job{Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 1}}}}}
	for i, step := range []struct {
		at      time.Duration
		request string
		known   []string
		unknown string
	}{
		{0, "a", []string{"a"}, "b"},
		{6, "b", []string{"a", "b"}, "c"},
		{6, "b", []string{"a", "b"}, "c"},
		{11, "c", []string{"b", "c"}, "a"},
		{30, "d", []string{"d"}, "c"},
	} {
		entry := state.Entry{Kind: state.JobAccepted, At: step.at, Job: job, Request: step.request}
		if err := s.ApplyAll([]state.Entry{entry}); err != nil {
			t.Fatal(err)
		}
		for _, r := range step.known {
			if _, known := s.Requested(r); !known {
				t.Errorf("step %d: %s is not known", i, r)
			}
		}
		if _, known := s.Requested(step.unknown); known {
			t.Errorf("step %d: %s is known", i, step.unknown)
		}
		snap, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if o := state.New(s.Fabric()); o.Restore(snap) != nil || o.Digest() != s.Digest() {
			t.Errorf("step %d: a restored state has another digest", i)
		}
	}
	if n := s.Data().Next.Job; n != 4 {
		t.Errorf("%d jobs were accepted, want 4", n)
	}
}

// TestRequestsOutliveSteps: a clock that steps ahead ages a request by ten seconds, so that its caller,
// who comes again, gets the same job; frozen states keep what they know, and time that passes in smaller
// parts counts whole.
func TestRequestsOutliveSteps(t *testing.T) {
	s := state.New(fabric(t))
	s.KeepEnded(state.Keep{Requests: time.Minute})
	job := &controller.Job{Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 1}}}}}
	accept := func(at time.Duration, request string) {
		t.Helper()
		batch := []state.Entry{{Kind: state.JobAccepted, At: at, Job: job, Request: request}}
		if err := s.ApplyAll(batch); err != nil {
			t.Fatal(err)
		}
	}
	accept(time.Second, "a")
	frozen := s.Freeze()
	before := frozen.Digest()
	const decade = 10 * 365 * 24 * time.Hour
	for i, at := range []time.Duration{time.Hour, decade, decade + time.Hour, 2 * decade,
		2*decade + time.Hour} {
		accept(at, fmt.Sprint(i))
		if id, known := s.Requested("a"); !known || id != 0 {
			t.Errorf("after the clock went to %v the request has job %d, known %v", at, id, known)
		}
	}
	if got := frozen.Digest(); got != before {
		t.Error("a frozen state has changed")
	}
	o := state.New(s.Fabric())
	if snap, err := s.Snapshot(); err != nil || o.Restore(snap) != nil || o.Digest() != s.Digest() {
		t.Errorf("a restored state has another digest (%v)", err)
	}
	for range 3 {
		accept(s.Data().At+5*time.Second, "")
	}
	if _, known := s.Requested("a"); known {
		t.Error("the request is known after its time")
	}
	if _, known := s.Requested("0"); !known {
		t.Error("a request is forgotten before its time")
	}
}
