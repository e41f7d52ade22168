package state

import (
	"cmp"
	"errors"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestResize: vCPUs of a running task change, and lent ones go back before others are given them. What cannot be is
// refused with the reason, and changes nothing; a change for a task that has ended is stale.
func TestResize(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 1, Spines: 1, Slots: 4, VCPUs: "8/2"})
	if err != nil {
		t.Fatal(err)
	}
	s := New(f)
	apply := func(e Entry) error { return s.Apply(&e) }
	resize := func(at time.Duration, task southbound.TaskID, milli, extra int32) error {
		return apply(Entry{Kind: TaskResized, At: at, Planning: Planning{Resize: &controller.Resize{Task: task,
			MilliVCPUs: milli, ExtraMilli: extra}}})
	}
	job := func() *controller.Job {
		return &controller.Job{Stages: []controller.Stage{{Name: "s",
			Tasks: []controller.Task{{Load: 8 * time.Second}, {Compute: time.Second}}}}}
	}
	place := func(id controller.JobID, milli int32) error {
		return apply(Entry{Kind: Placed, Placement: &controller.Placement{Job: id, Hosts: []southbound.HostID{0, 1},
			MilliVCPUs: []int32{milli, 0}}})
	}
	refused := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for range 2 {
		if err := apply(Entry{Kind: JobAccepted, Job: job()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := place(0, 1000); err != nil {
		t.Fatal(err)
	}
	refused(resize(0, 0, 1000, 1000), "has not begun")
	if err := apply(Entry{Kind: StageStarted, At: time.Second}); err != nil {
		t.Fatal(err)
	}
	before := s.Digest()
	refused(resize(time.Second, 0, 8000, 1), "it asks for 8001 thousandths, and host 0 has 8000 in all")
	refused(resize(time.Second, 1, 1000, 0), "it has no load")
	refused(resize(time.Second, 0, 0, 0), "take 1 up")
	refused(resize(time.Second, 9, 1000, 0), "no such task")
	if s.Digest() != before {
		t.Error("what was refused has changed the state")
	}
	if err := resize(3*time.Second, 0, 1000, 6000); err != nil {
		t.Fatal(err)
	}
	if x := &s.d.Tasks[0]; x.Done != 2*time.Second || x.Try != 1 || s.lent[0] != 6000 || s.vcpus[0] != 7000 {
		t.Errorf("%+v, %d lent, %d left", *x, s.lent[0], s.vcpus[0])
	}
	refused(place(1, 2000), "gives 2000, and lends 6000")
	if err := resize(4*time.Second, 0, 1000, 0); err != nil {
		t.Fatal(err)
	}
	if err := place(1, 2000); err != nil {
		t.Error(err)
	}
	again := New(f)
	snap, err := s.Snapshot()
	if err == nil {
		err = again.Restore(snap)
	}
	if err != nil || again.Digest() != s.Digest() || len(again.loaded) != 2 {
		t.Errorf("%v, jobs with loads %v", err, again.loaded)
	}
	if err := apply(Entry{Kind: TaskEnded, At: 5 * time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := resize(6*time.Second, 0, 500, 0); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a task that has ended: %v", err)
	}
}

// TestResizesTogether: changes and placements of one plan are held against what those before them leave,
// before any is in the log.
func TestResizesTogether(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 1, Spines: 1, Slots: 4, VCPUs: "8/2"})
	if err != nil {
		t.Fatal(err)
	}
	s := New(f)
	for id, milli := range []int32{2000, 2000, 0} {
		job := &controller.Job{Stages: []controller.Stage{{Name: "s", Tasks: []controller.Task{{Load: 8 * time.Second}}}}}
		entries := []Entry{{Kind: JobAccepted, Job: job}, {Kind: Placed, Placement: &controller.Placement{
			Job: controller.JobID(id), Hosts: []southbound.HostID{0}, MilliVCPUs: []int32{milli}}},
			{Kind: StageStarted, JobID: controller.JobID(id)}}
		if milli == 0 {
			entries = entries[:1]
		}
		for i := range entries {
			if err := s.Apply(&entries[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask := func(a *Asked, task southbound.TaskID, milli, extra int32) error {
		_, _, err := s.Resized(&controller.Resize{Task: task, MilliVCPUs: milli, ExtraMilli: extra}, a, time.Second)
		return err
	}
	place := func(a *Asked, milli int32) error {
		return s.CheckPlacement(&controller.Placement{Job: 2, Hosts: []southbound.HostID{0}, MilliVCPUs: []int32{milli}}, a)
	}
	move := func(a *Asked, milli int32) error {
		return s.CheckPlacement(&controller.Placement{Job: 0, Hosts: []southbound.HostID{1}, Move: []int32{0},
			MilliVCPUs: []int32{milli}}, a)
	}
	back := func(a *Asked) error { // to the host that job 0 has left
		return s.CheckPlacement(&controller.Placement{Job: 2, Hosts: []southbound.HostID{0}, MilliVCPUs: []int32{6000}}, a)
	}
	there := func(a *Asked) error {
		return s.CheckPlacement(&controller.Placement{Job: 2, Hosts: []southbound.HostID{1}, MilliVCPUs: []int32{1600}}, a)
	}
	for _, tt := range []struct {
		name string
		ask  func(a *Asked) error
		last string // of all, the error
	}{
		{"each alone", func(a *Asked) error { return ask(a, 0, 6000, 0) }, ""},
		{"for good, together", func(a *Asked) error { return cmp.Or(ask(a, 0, 6000, 0), ask(a, 1, 3000, 0)) },
			"host 0 has -1000 thousandths left"},
		{"one gives what the other takes", func(a *Asked) error {
			return cmp.Or(ask(a, 0, 1000, 0), ask(a, 1, 6000, 0), place(a, 1000))
		}, ""},
		{"lent, together", func(a *Asked) error { return cmp.Or(ask(a, 0, 2000, 3000), ask(a, 1, 2000, 3000)) },
			"host 0 has 4000 thousandths left, and lends 6000"},
		{"twice", func(a *Asked) error { return cmp.Or(ask(a, 0, 1000, 0), ask(a, 0, 3000, 0)) }, "already"},
		{"a placement after it", func(a *Asked) error { return cmp.Or(ask(a, 0, 4000, 0), place(a, 3000)) },
			"host 0 has 2000 thousandths of a vCPU left, and gives 3000"},
		{"a placement beside what is lent", func(a *Asked) error { return cmp.Or(ask(a, 0, 2000, 3000), place(a, 2000)) },
			"gives 2000, and lends 3000"},
		{"a placement where a task has left", func(a *Asked) error { return cmp.Or(move(a, 0), back(a)) }, ""},
		{"a placement where a task has come", func(a *Asked) error { return cmp.Or(move(a, 0), there(a)) },
			"host 1 has 1500 thousandths of a vCPU left, and gives 1600"},
		{"a task that comes to what is lent", func(a *Asked) error { a.lent[1] = 1500; return move(a, 600) },
			"host 1 has 2000 thousandths of a vCPU left, gives 600, and lends 1500"},
	} {
		switch err := tt.ask(NewAsked()); {
		case tt.last == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.last != "" && (err == nil || !strings.Contains(err.Error(), tt.last)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.last)
		}
	}
}
