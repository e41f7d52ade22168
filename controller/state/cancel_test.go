package state_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestCancelWalks is TestWalks with jobs that are cancelled wherever they are, some of them endless,
// tasks of several slots, hosts that fail, and tasks that are moved.
func TestCancelWalks(t *testing.T) {
	f := fabric(t)
	seeds := tries.Of[uint64](10, 100)
	cancelled := 0
	for seed := range seeds {
		w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 5)), s: state.New(f), seed: seed, lossy: seed%2 == 0,
			moving: seed%3 == 0, ending: true,
			received: map[[2]int]pathmap.Bytes{}}
		for range 150 {
			w.step()
		}
		w.lossy, w.moving = false, false
		for n := 0; w.s.Finished() < len(w.s.Data().Jobs) || len(w.s.Data().Lost) > 0; n++ {
			if n == 3000 {
				t.Fatalf("seed %d: %d of %d jobs end", seed, w.s.Finished(), len(w.s.Data().Jobs))
			}
			w.end = true
			w.step()
		}
		var v controller.View
		w.s.FillView(&v, nil)
		for h, n := range v.Free {
			if want := int32(f.Spec.Slots); n != want {
				t.Errorf("seed %d: host %d has %d slots in the end, want %d", seed, h, n, want)
			}
		}
		cancelled += w.cancelled
	}
	if cancelled < int(seeds) {
		t.Errorf("%d jobs were cancelled in %d walks", cancelled, seeds)
	}
}

// cancel ends a job, and sets what its coflows have carried, not always to possible values.
func (w *walk) cancel() state.Entry {
	d := w.s.Data()
	id := controller.JobID(w.r.IntN(len(d.Jobs)))
	e := state.Entry{Kind: state.JobCancelled, JobID: id, OK: w.r.IntN(2) == 0}
	for _, c := range w.s.CoflowsOf(id) {
		e.Sent = append(e.Sent, state.Sent{Coflow: c, Bytes: pathmap.Bytes(w.r.IntN(20) - 2),
			Rack: pathmap.Bytes(w.r.IntN(30))})
	}
	return e
}

// endless is a job of one spout and one bolt of two slots, and a second bolt beside the spout.
func endless(lifetime time.Duration) *controller.Job {
	return &controller.Job{Name: "endless", Lifetime: lifetime,
		Stages: []controller.Stage{{Name: "spout", Tasks: make([]controller.Task, 1)},
			{Name: "bolt", Tasks: []controller.Task{{Slots: 2}, {}}}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Rate: 16_000_000,
			Stream: true}}}
}

// TestCancel follows an endless stream of 16 Mb/s, half of it between tasks of one host, from its start
// to its end after 3 s: its slots are free, what has been carried is its bytes, and 3 s at 8 Mb/s
// stayed within the host.
func TestCancel(t *testing.T) {
	s := state.New(fabric(t))
	var v controller.View
	s.FillView(&v, nil)
	before := slices.Clone(v.Free)
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: endless(10 * time.Second)},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 1, 0}}},
		state.Entry{Kind: state.StageStarted, At: time.Second}, state.Entry{Kind: state.StageStarted,
			At:    time.Second,
			Stage: 1},
		state.Entry{Kind: state.CoflowStarted, At: time.Second})
	s.FillView(&v, nil)
	if v.Free[0] != before[0]-2 || v.Free[1] != before[1]-2 {
		t.Errorf("free slots %v of %v; the job takes two on each of the first two hosts", v.Free[:2], before[:2])
	}
	if len(v.Running) != 1 || v.Running[0].Job.Name != "endless" ||
		!slices.Equal(v.Running[0].Hosts, s.Job(0).Hosts) {
		t.Errorf("the jobs that send are %+v, want this one", v.Running)
	}
	if at := s.Boundary(); at != 11*time.Second {
		t.Errorf("the next boundary is at %v, want the end of the lifetime at 11s", at)
	}
	if dead := s.Dead(11*time.Second - 1); dead != nil {
		t.Errorf("jobs %v are over before their lifetime", dead)
	}
	c := s.Coflow(0)
	if total := c.Bytes + c.Local; total != 23_250_000 { // 10 s, a sixteenth more and a second
		t.Errorf("11.625 s of 16 Mb/s are %d bytes, want 23.25 MB", total)
	}
	left := southbound.Remaining{F: 1, Base: []float64{float64(c.Columns.Size[0]) - 2_500_000.5}}
	sent := s.Sent(0, &left)
	if sent.Bytes != 2_500_000 {
		t.Errorf("the coflow has carried %d bytes, want 2500000", sent.Bytes)
	}
	end := state.Entry{Kind: state.JobCancelled, At: 4 * time.Second, Sent: []state.Sent{sent}}
	apply(t, s, end)
	s.FillView(&v, nil)
	j := s.Job(0)
	switch {
	case len(v.Running) > 0:
		t.Errorf("jobs %+v send after the end", v.Running)
	case !slices.Equal(v.Free, before):
		t.Errorf("free slots %v, want %v", v.Free, before)
	case !j.Cancelled || j.Expired || j.Ended != 4*time.Second || s.Finished() != 1 || s.Boundary() != southbound.Never:
		t.Errorf("the job is %+v, %d have finished, and something happens at %v", j, s.Finished(), s.Boundary())
	case c.Bytes != 2_500_000 || c.Local != 3_000_000 || c.Ended != 4*time.Second:
		t.Errorf("the coflow has carried %d bytes and %d within the host, want 2500000 and 3000000",
			c.Bytes, c.Local)
	}
	if err := s.Apply(&end); !errors.Is(err, state.ErrStale) {
		t.Errorf("to cancel it again gives %v, want %v", err, state.ErrStale)
	}
	if err := s.Apply(&state.Entry{Kind: state.JobCancelled, JobID: 9}); err == nil ||
		!strings.Contains(err.Error(), "no such job") {
		t.Errorf("to cancel a job that there is not gives %v", err)
	}
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: endless(0)},
		state.Entry{Kind: state.JobCancelled, JobID: 1})
	if s.FillView(&v, nil); len(v.Waiting) > 0 || s.Finished() != 2 {
		t.Errorf("%d jobs wait and %d have finished after one that waited was cancelled",
			len(v.Waiting), s.Finished())
	}
	if err := s.Apply(&state.Entry{Kind: state.Placed,
		Placement: &controller.Placement{Job: 1,
			Hosts: []southbound.HostID{0, 1, 0}}}); !errors.Is(err, state.ErrStale) {
		t.Errorf("to place a cancelled job gives %v, want %v", err, state.ErrStale)
	}
}

// TestStreamWithinHost: a stream whose tasks share hosts has no host flows, and goes on all the same;
// what it carries within hosts is its rate × its time. When a host is lost, what went on there goes on
// elsewhere.
func TestStreamWithinHost(t *testing.T) {
	s := state.New(fabric(t))
	job := endless(0)
	job.Stages[1].Tasks[0].Slots = 1
	job.Stages[1].Tasks = job.Stages[1].Tasks[:1]
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: job},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 0}}},
		state.Entry{Kind: state.StageStarted}, state.Entry{Kind: state.StageStarted, Stage: 1},
		state.Entry{Kind: state.CoflowStarted})
	if s.Finished() != 0 || s.Coflow(0).Ended != state.Unset {
		t.Fatal("it has ended at once")
	}
	apply(t, s, state.Entry{Kind: state.HostSeen, At: time.Second, Host: 0},
		state.Entry{Kind: state.Placed, At: time.Second,
			Placement: &controller.Placement{Hosts: []southbound.HostID{1, 2}}})
	if s.Finished() != 0 || len(s.Active()) != 1 {
		t.Fatalf("%d jobs have ended and coflows %v are active after its host was lost",
			s.Finished(), s.Active())
	}
	again := s.Coflow(1)
	if !again.Resent || len(again.Done) != 1 || again.Columns.Src[0] != 1 || again.Columns.Dst[0] != 2 {
		t.Fatalf("what went on there goes on as %+v", again)
	}
	apply(t, s, state.Entry{Kind: state.StageStarted, At: time.Second},
		state.Entry{Kind: state.StageStarted, At: time.Second, Stage: 1},
		state.Entry{Kind: state.CoflowStarted, At: time.Second, Coflow: 1},
		state.Entry{Kind: state.JobCancelled, At: 3 * time.Second,
			Sent: []state.Sent{{Coflow: 1, Bytes: 4_000_000}}})
	if again.Bytes != 4_000_000 || again.Local != 0 || s.Finished() != 1 {
		t.Errorf("it has carried %d bytes and %d within hosts", again.Bytes, again.Local)
	}
}
