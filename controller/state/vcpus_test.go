package state

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestVCPUs: tasks take the vCPUs that they are given, or their slot's part, and give them back when
// they end, are cancelled or lose their host; what is given cannot be more than there is. A snapshot
// holds all of it.
func TestVCPUs(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 1, Spines: 1, Slots: 4, VCPUs: "8/2"})
	if err != nil {
		t.Fatal(err)
	}
	s := New(f)
	apply := func(e Entry, fails bool) {
		t.Helper()
		if err := s.Apply(&e); (err != nil) != fails {
			t.Fatalf("%v: %v", e.Kind, err)
		}
	}
	want := func(milli ...int64) {
		t.Helper()
		again := New(f)
		snap, err := s.Snapshot()
		if err == nil {
			err = again.Restore(snap)
		}
		if err != nil || !slices.Equal(s.vcpus, milli) || !slices.Equal(again.vcpus, milli) {
			t.Fatalf("%v are left, %v after a snapshot, %v; want %v", s.vcpus, again.vcpus, err, milli)
		}
	}
	job := func() *controller.Job {
		return &controller.Job{Stages: []controller.Stage{{Name: "s",
			Tasks: []controller.Task{{Load: time.Second},
				{Load: time.Second}, {Compute: time.Second}}}}}
	}
	place := func(id controller.JobID, milli []int32) Entry {
		return Entry{Kind: Placed, Placement: &controller.Placement{Job: id, Hosts: []southbound.HostID{0, 0, 1},
			MilliVCPUs: milli}}
	}
	apply(Entry{Kind: JobAccepted, Job: job()}, false)
	apply(Entry{Kind: JobAccepted, Job: job()}, false)
	apply(place(0, []int32{5000, 3001, 0}), true) // more than host 0 has
	apply(place(0, []int32{5000, 3000, 1}), true) // task 2 has no load
	apply(place(0, []int32{5000, 3000}), true)
	apply(place(0, []int32{5000, 1000, 0}), false)
	want(2000, 1500)
	apply(place(1, nil), false) // two slots' parts of 8 vCPUs, and one of 2
	want(-2000, 1000)           // a policy that gives none does not look
	apply(Entry{Kind: StageStarted, JobID: 0}, false)
	apply(Entry{Kind: TaskEnded, Task: 0}, false)
	want(3000, 1000)
	apply(Entry{Kind: JobCancelled, JobID: 1}, false)
	want(7000, 1500)
	apply(Entry{Kind: HostSeen, Host: 0}, false)
	want(0, 1500)
	apply(Entry{Kind: HostSeen, Host: 0, OK: true}, false)
	want(8000, 1500)
}
