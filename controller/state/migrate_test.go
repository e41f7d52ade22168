package state_test

import (
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

// TestWalksWithMigration is TestWalks while tasks of running jobs are moved, on every second seed while
// hosts fail too. In the end every job has ended, and of each edge exactly its bytes have been
// received.
func TestWalksWithMigration(t *testing.T) {
	t.Parallel()
	f := fabric(t)
	seeds := tries.Of[uint64](8, 150)
	moved, redone := int64(0), 0
	for seed := range seeds {
		w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 4)), s: state.New(f), seed: seed,
			lossy: seed%2 == 1, moving: true,
			received: map[[2]int]pathmap.Bytes{}}
		for range 200 {
			w.step()
		}
		w.end, w.moving = true, false
		for n := 0; w.s.Finished() < len(w.s.Data().Jobs); n++ {
			if n == 4000 {
				t.Fatalf("seed %d: %d of %d jobs end", seed, w.s.Finished(), len(w.s.Data().Jobs))
			}
			w.step()
		}
		w.conserved()
		w.restore()
		if m := w.s.Data().Migrated; m != nil {
			moved += m.Tasks
		}
		for _, j := range w.s.Data().Jobs {
			redone += len(j.Redo)
		}
	}
	if moved < int64(seeds) || redone < int(seeds) {
		t.Errorf("only %d tasks were moved and %d coflows carried again in %d walks", moved, redone, seeds)
	}
}

// migrate moves some tasks of a job to where slots are, if there are any.
func (w *walk) migrate() (state.Entry, bool) {
	var v controller.View
	w.s.FillView(&v, nil)
	d := w.s.Data()
	for _, k := range w.r.Perm(len(d.Jobs)) {
		j := d.Jobs[k]
		if j.Incremental || j.Placed == state.Unset || j.Ended != state.Unset ||
			slices.Contains(j.Hosts, controller.NoHost) {
			continue
		}
		p := &controller.Placement{Job: j.ID, Hosts: slices.Clone(j.Hosts)}
		free := slices.Clone(v.Free)
		for i := range p.Hosts {
			h, size := southbound.HostID(w.r.IntN(len(free))), sizeOf(d, j.FirstTask+southbound.TaskID(i))
			if d.Tasks[int(j.FirstTask)+i].Ended == state.Unset && free[h] >= size && h != p.Hosts[i] &&
				w.r.IntN(2) == 0 {
				free[h] -= size
				free[p.Hosts[i]] += size
				p.Hosts[i], p.Move = h, append(p.Move, int32(i))
			}
		}
		if len(p.Move) > 0 {
			return state.Entry{Kind: state.Placed, Placement: p}, true
		}
	}
	return state.Entry{}, false
}

// TestMigration follows one shuffle: a receiver is moved in the middle of it. What it has received is
// kept, what was on its way begins again, its slot is free, and what it cost is written down.
func TestMigration(t *testing.T) {
	s := state.New(fabric(t))
	job := &controller.Job{Name: "j", Stages: []controller.Stage{{Tasks: make([]controller.Task, 2)},
		{Tasks: make([]controller.Task, 2)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 40}}}
	move := func(again pathmap.Bytes, hosts []southbound.HostID, tasks ...int32) *controller.Placement {
		return &controller.Placement{Hosts: hosts, Move: tasks, Resent: again}
	}
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: job},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 1, 2, 3}}},
		state.Entry{Kind: state.StageStarted}, state.Entry{Kind: state.TaskEnded, Task: 0},
		state.Entry{Kind: state.TaskEnded, Task: 1},
		state.Entry{Kind: state.CoflowStarted}, state.Entry{Kind: state.HostFlowEnded, Row: 0}) // 0→2
	before := s.Digest()
	for name, p := range map[string]*controller.Placement{
		"task that has ended":   move(0, []southbound.HostID{2, 1, 2, 3}, 0),
		"nobody moved":          move(0, []southbound.HostID{0, 1, 2, 3}),
		"moved to where it is":  move(0, []southbound.HostID{0, 1, 2, 3}, 2),
		"not named":             move(0, []southbound.HostID{0, 1, 1, 2}, 2),
		"out of order":          move(0, []southbound.HostID{0, 1, 1, 0}, 3, 2),
		"twice":                 move(0, []southbound.HostID{0, 1, 1, 3}, 2, 2),
		"no such task":          move(0, []southbound.HostID{0, 1, 1, 3}, 9),
		"no such host":          move(0, []southbound.HostID{0, 1, 99, 3}, 2),
		"no host":               move(0, []southbound.HostID{0, 1, -1, 3}, 2),
		"too few":               move(0, []southbound.HostID{0, 1}, 2),
		"less than nothing":     move(-1, []southbound.HostID{0, 1, 1, 3}, 2),
		"another job":           {Job: 7, Hosts: []southbound.HostID{0}, Move: []int32{0}},
		"more than there is of": move(0, []southbound.HostID{0, 1, 3, 3}, 1<<30),
	} {
		if err := s.Apply(&state.Entry{Kind: state.Placed, Placement: p}); err == nil || s.Digest() != before {
			t.Errorf("%s: taken, or the state has changed: %v", name, err)
		}
	}
	p := move(3, []southbound.HostID{0, 1, 1, 3}, 2)
	if keys := s.LeftBehind(p); len(keys) != 1 || keys[0] != (southbound.HostFlowKey{Coflow: 0, Row: 1}) { // 1→2
		t.Errorf("left behind: %v", keys)
	}
	apply(t, s, state.Entry{Kind: state.Placed, At: 5, Placement: p})
	d := s.Data()
	if c, redo := d.Coflows[0], d.Coflows[1]; c.Bytes != 30 || c.Remaining != 2 || redo.Local != 10 ||
		redo.Bytes != 0 ||
		d.Tasks[2].Try != 1 || d.Tasks[2].Moved != 5 {
		t.Fatalf("after the move: %+v, again %+v, task %+v", c, redo, d.Tasks[2])
	}
	if *d.Migrated != (state.Migrated{Tasks: 1, Bytes: 3}) {
		t.Errorf("it cost %+v", *d.Migrated)
	}
	apply(t, s, state.Entry{Kind: state.CoflowStarted, Coflow: 1},
		state.Entry{Kind: state.HostFlowEnded, Row: 2},
		state.Entry{Kind: state.HostFlowEnded, Row: 3},
		state.Entry{Kind: state.StageStarted, Stage: 1, At: 10})
	// A task that computes begins again: what it has done is lost, and nothing is sent.
	apply(t, s, state.Entry{Kind: state.Placed, At: 10 + time.Second,
		Placement: move(0, []southbound.HostID{0, 1, 1, 2},
			3)})
	if *d.Migrated != (state.Migrated{Tasks: 2, Bytes: 3, Compute: time.Second}) || len(d.Coflows) != 2 {
		t.Errorf("it cost %+v, and there are %d coflows", *d.Migrated, len(d.Coflows))
	}
	apply(t, s, state.Entry{Kind: state.StageStarted, Stage: 1}, state.Entry{Kind: state.TaskEnded, Task: 2},
		state.Entry{Kind: state.TaskEnded, Task: 3})
	if s.Finished() != 1 {
		t.Errorf("the job has not ended: %+v", d.Jobs[0])
	}
}

// TestMigrationOfIncremental: tasks that are placed as slots come free are not moved.
func TestMigrationOfIncremental(t *testing.T) {
	s := state.New(fabric(t))
	job := &controller.Job{Name: "j", Incremental: true,
		Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)}}}
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: job},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0}}})
	err := s.Apply(&state.Entry{Kind: state.Placed,
		Placement: &controller.Placement{Hosts: []southbound.HostID{1},
			Move: []int32{0}}})
	if err == nil || !strings.Contains(err.Error(), "incrementally") {
		t.Errorf("got %v", err)
	}
}

// TestMigrationTakesSlots: tasks are moved to hosts that are there and have slots, which they take.
func TestMigrationTakesSlots(t *testing.T) {
	s := state.New(fabric(t)) // two slots a host
	tasks := func(n int) *controller.Job {
		return &controller.Job{Name: "j", Stages: []controller.Stage{{Tasks: make([]controller.Task, n)}}}
	}
	move := func(hosts []southbound.HostID, tasks ...int32) state.Entry {
		return state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: hosts, Move: tasks}}
	}
	apply(t, s, state.Entry{Kind: state.JobAccepted, Job: tasks(3)},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Hosts: []southbound.HostID{0, 0, 1}}},
		state.Entry{Kind: state.JobAccepted, JobID: 1, Job: tasks(1)},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Job: 1, Hosts: []southbound.HostID{2}}},
		state.Entry{Kind: state.HostSeen, Host: 3})
	refused := func(name, want string, e state.Entry) {
		t.Helper()
		if err := s.Apply(&e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q in it", name, err, want)
		}
	}
	refused("to a host that is lost", "host 3 is lost", move([]southbound.HostID{3, 0, 1}, 0))
	refused("two to one slot", "host 2 has no slot left", move([]southbound.HostID{2, 2, 1}, 0, 1))
	apply(t, s, move([]southbound.HostID{2, 0, 1}, 0))
	refused("another to where it went", "host 2 has no slot left", move([]southbound.HostID{2, 2, 1}, 1))
	apply(t, s, move([]southbound.HostID{4, 0, 1}, 0), move([]southbound.HostID{4, 2, 1}, 1))
}
