package state_test

import (
	"errors"
	"fmt"
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

// reader is a job of a name of its own that reads from others: that came before, or comes next.
func (w *walk) reader(stages ...controller.Stage) *controller.Job {
	n := len(w.jobs)
	j := &controller.Job{Name: fmt.Sprint("job ", n), Stages: stages}
	if len(stages) > 1 {
		j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 11})
	}
	for range 1 + w.r.IntN(2) {
		r := &controller.Read{Kind: []controller.EdgeKind{controller.OneToOne, controller.ScatterGather,
			controller.Broadcast}[w.r.IntN(3)]}
		switch w.r.IntN(4) {
		case 0:
			r.Hosts = []southbound.HostID{0, southbound.HostID(w.r.IntN(w.s.Fabric().Hosts()))}
		case 1:
			r.Job = fmt.Sprint("job ", n+1)
		default:
			r.Job = fmt.Sprint("job ", w.r.IntN(n+1)-1)
		}
		if r.Job == j.Name {
			continue
		}
		j.Edges = append(j.Edges, controller.Edge{To: w.r.IntN(len(stages)),
			Bytes: pathmap.Bytes(w.r.IntN(20)), Reads: r})
	}
	return j
}

// TestWalksWithParents is TestWalks with jobs that read what others write, while hosts fail and come back. In the end
// every job has ended whose parents were not cancelled or left out, and each edge's bytes were received once.
func TestWalksWithParents(t *testing.T) {
	t.Parallel()
	f := fabric(t)
	reading, seeds := 0, tries.Of[uint64](6, 300)
	for seed := range seeds {
		w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 97)), s: state.New(f), seed: seed, lossy: true,
			families: true,
			received: map[[2]int]pathmap.Bytes{}}
		for range 250 {
			w.step()
		}
		for w.end = true; w.s.Finished()+len(w.s.Blocked()) < len(w.s.Data().Jobs) || len(w.s.Data().Lost) > 0; {
			w.step()
			if w.now > 1e6 {
				t.Fatalf("seed %d: %d of %d jobs end, %d wait: %v", seed, w.s.Finished(), len(w.s.Data().Jobs),
					len(w.s.Blocked()), w.s.Reasons())
			}
		}
		for _, id := range w.s.Blocked() {
			if why := w.s.Reasons()[id]; !strings.Contains(why, "it reads what job") {
				t.Fatalf("seed %d: job %d waits, and says %q", seed, id, why)
			}
		}
		w.conserved()
		for len(w.s.Blocked()) > 0 {
			apply(t, w.s, state.Entry{Kind: state.JobCancelled, At: w.now, JobID: w.s.Blocked()[0]})
		}
		for _, c := range w.s.Data().Coflows {
			if e := w.s.Job(c.Job).Edges[c.Edge]; e.Reads != nil && e.Reads.Job != "" && c.HostFlows > 0 {
				reading++
			}
		}
		w.restore()
	}
	if reading < int(seeds)*2/3 {
		t.Errorf("only %d coflows were read from parents", reading)
	}
}

// TestChildWaits follows a child whose parent comes late, is cancelled, comes again, ends, and loses its output.
func TestChildWaits(t *testing.T) {
	s := state.New(fabric(t))
	child := &controller.Job{Name: "child", Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)}},
		Edges: []controller.Edge{{Bytes: 100, Reads: &controller.Read{Job: "parent",
			Kind: controller.OneToOne}}}}
	parent := &controller.Job{Name: "parent", Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)}}}
	says := func(part string) {
		t.Helper()
		if why := s.Reasons()[0]; !strings.Contains(why, part) {
			t.Errorf("the child says %q, want %q", why, part)
		}
	}
	accept := func(j *controller.Job, r string) state.Entry {
		return state.Entry{Kind: state.JobAccepted, Job: j, Request: r}
	}
	apply(t, s, accept(child, "a"))
	says("has not been submitted")
	apply(t, s, accept(parent, "b"))
	says(`job "parent" (1) writes, which has not ended`)
	apply(t, s, state.Entry{Kind: state.JobCancelled, JobID: 1})
	says("was cancelled")
	frozen := s.Freeze()
	before := frozen.Digest()
	apply(t, s, accept(parent, "c"), place(2, 3), state.Entry{Kind: state.StageStarted, JobID: 2})
	if err := s.Apply(ptr(place(0, 1, 2))); err == nil {
		t.Error("the child is placed before its parent has ended")
	}
	apply(t, s, state.Entry{Kind: state.TaskEnded, At: time.Second, Task: s.Job(2).FirstTask})
	if len(s.Blocked()) != 0 || !slices.Equal(s.Job(0).Edges[0].Reads.Hosts, []southbound.HostID{3}) {
		t.Fatalf("the child waits: %v, and reads from %+v", s.Reasons(), s.Job(0).Edges[0].Reads)
	}
	apply(t, s, state.Entry{Kind: state.HostSeen, Host: 3})
	says("which is lost: it begins when that is back")
	apply(t, s, state.Entry{Kind: state.HostSeen, Host: 3, OK: true}, place(0, 3, 1))
	c := s.Coflow(s.Job(0).FirstCoflow)
	if !slices.Equal(c.Columns.Src, []southbound.HostID{3}) ||
		!slices.Equal(c.Columns.Dst, []southbound.HostID{1}) ||
		c.Columns.Size[0] != 50 || c.Columns.Local != 50 {
		t.Errorf("the child reads %+v", c.Columns)
	}
	if len(s.ReadyStages()) != 0 || frozen.Digest() != before {
		t.Errorf("stages %v start before they have read, or what was frozen has changed", s.ReadyStages())
	}
	apply(t, s, state.Entry{Kind: state.CoflowStarted, Coflow: c.ID},
		state.Entry{Kind: state.HostFlowEnded, Coflow: c.ID})
	if len(s.ReadyStages()) != 1 {
		t.Error("the stage does not start once it has read")
	}
}

func place(j controller.JobID, hosts ...southbound.HostID) state.Entry {
	return state.Entry{Kind: state.Placed, Placement: &controller.Placement{Job: j, Hosts: hosts}}
}

func ptr[T any](x T) *T { return &x }

// TestCircles: jobs that would wait for themselves are refused, and named.
func TestCircles(t *testing.T) {
	job := func(name string, parents ...string) *controller.Job {
		j := &controller.Job{Name: name, Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)}}}
		for _, p := range parents {
			j.Edges = append(j.Edges, controller.Edge{Reads: &controller.Read{Job: p, Kind: controller.OneToOne}})
		}
		return j
	}
	for _, c := range []struct {
		name  string
		there []*controller.Job
		jobs  []*controller.Job
		want  string // "": fine
	}{
		{"itself", nil, []*controller.Job{job("a", "a")}, `"a" reads from "a"`},
		{"two of a batch", nil, []*controller.Job{job("a", "b"), job("b", "a")}, `"a" reads from "b" reads from "a"`},
		{"one that waits", []*controller.Job{job("a", "b")}, []*controller.Job{job("b", "a")},
			`"b" reads from "a" reads from "b"`},
		{"a longer one", []*controller.Job{job("a", "b"), job("b", "c")}, []*controller.Job{job("c", "a")},
			`"c" reads from "a" reads from "b" reads from "c"`},
		{"a chain", []*controller.Job{job("a", "b")}, []*controller.Job{job("b", "c"), job("c")}, ""},
		{"a name of two", nil, []*controller.Job{job("a"), job("a"), job("b", "a")}, "2 jobs are called so"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := state.New(fabric(t))
			for i, j := range c.there {
				apply(t, s, state.Entry{Kind: state.JobAccepted, Job: j, Request: fmt.Sprint(i)})
			}
			switch err := s.CheckParents(c.jobs); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.Is(err, state.ErrParents) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestParentsNeedLevel3: a cluster of two versions takes no job that one of them does not know.
func TestParentsNeedLevel3(t *testing.T) {
	s := state.New(fabric(t))
	apply(t, s, founded()...)
	e := state.Entry{Kind: state.JobAccepted, Job: &controller.Job{Name: "a",
		Stages: []controller.Stage{{Tasks: make([]controller.Task,
			1)}}, Edges: []controller.Edge{{Reads: &controller.Read{
			Hosts: []southbound.HostID{0}, Kind: controller.OneToOne}}}}}
	if err := s.Apply(&e); !errors.Is(err, state.ErrLevel) {
		t.Errorf("at level 1: %v", err)
	}
	apply(t, s, state.Entry{Kind: state.LevelRaised, Cluster: &state.Cluster{Level: 3}}, e)
}
