package explain

import (
	"fmt"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestMemory: a memory keeps what was said last of each job, of so many jobs, and says what it has dropped.
func TestMemory(t *testing.T) {
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Fabric: f}
	m := NewMemory()
	tell := m.Teller()
	job := func(id controller.JobID) *controller.Job {
		return &controller.Job{ID: id, Name: fmt.Sprint("job-", id), Stages: []controller.Stage{{Name: "map"}}}
	}
	say := func(id controller.JobID, host southbound.HostID) {
		tell(v, route.Why{Job: job(id), Slot: &route.SlotWhy{Host: host, Input: 2e6,
			Reason: "the nearest free slot"}})
	}
	for i := range mostLines + 3 {
		say(7, southbound.HostID(i%2))
	}
	got := m.Of(7)
	if len(got) != mostLines+1 || got[0] != "3 earlier decisions are not kept" {
		t.Fatalf("%d lines, the first %q", len(got), got[0])
	}
	if want := "at 0.00 s: task 0 of job-7 (map) on h0-0, receiving 2 MB: the nearest free slot"; got[mostLines] != want {
		t.Errorf("%q, want %q", got[mostLines], want)
	}
	if m.Of(8) != nil {
		t.Errorf("of a job of which nobody has spoken: %q", m.Of(8))
	}
	for id := range mostJobs {
		say(controller.JobID(1000+id), 0)
	}
	if m.Of(7) != nil || len(m.Of(1000)) != 1 || len(m.jobs) != mostJobs {
		t.Errorf("%d jobs are kept, job 7 with %d lines", len(m.jobs), len(m.Of(7)))
	}
	v.Coflows = []controller.CoflowView{{ID: 3, Job: 1001}}
	tell(v, route.Why{Coflow: 3, Proof: &route.Proof{Flows: 4, Value: 1.5, Bound: 1.5}})
	tell(v, route.Why{Coflow: 4, Proof: &route.Proof{Flows: 4}}) // of a coflow that is not in the view: dropped
	if got := m.Of(1001); len(got) != 2 || !strings.Contains(got[1], "4 host flows decided on with coflow 3") {
		t.Errorf("%q", got)
	}
}
