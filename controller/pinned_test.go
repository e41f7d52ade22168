package controller

import (
	"strings"
	"testing"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestPinned: jobs whose tasks or flows can never be where they say are refused.
func TestPinned(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 2, Slots: 2}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	stage := func(hosts ...southbound.HostID) Stage {
		return Stage{Name: "s", Tasks: make([]Task, 2), Hosts: hosts}
	}
	pairs := func(flows ...Flow) []Edge { return []Edge{{Kind: Pairs, To: 1, Flows: flows}} }
	good := Flow{Src: 0, Dst: 1, Bytes: 10}
	for _, tt := range []struct {
		job  Job
		says string
	}{
		{Job{Stages: []Stage{stage(0, 1), stage(1, 0)}, Edges: pairs(good)}, ""},
		{Job{Stages: []Stage{stage(0, 1), stage()}, Edges: pairs(good)}, "name the hosts of all stages"},
		{Job{Stages: []Stage{stage(0), stage(0, 1)}, Edges: pairs(good)}, "1 hosts for 2 tasks"},
		{Job{Stages: []Stage{stage(0, 4), stage(0, 1)}, Edges: pairs(good)}, "host 4: the fabric's hosts are 0 to 3"},
		{Job{Stages: []Stage{stage(0, 0), stage(0, 1)}, Edges: pairs(good)}, "host 0 take more than the 2 slots"},
		{Job{Incremental: true, Stages: []Stage{stage(0, 1)}}, "is incremental"},
		{Job{Stages: []Stage{stage(), stage()}, Edges: pairs()}, "has no flows"},
		{Job{Stages: []Stage{stage(), stage()}, Edges: pairs(Flow{Src: 2, Bytes: 1})}, "flow 2→0: the tasks are 0 to 1"},
		{Job{Stages: []Stage{stage(), stage()}, Edges: pairs(Flow{})}, "0 bytes"},
		{Job{Stages: []Stage{stage(), stage()}, Edges: pairs(Flow{Bytes: MaxBytes}, good)}, "for all flows of an edge"},
		{Job{Stages: []Stage{stage(), stage()}, Edges: []Edge{{Kind: Pairs, To: 1, Bytes: 1, Flows: []Flow{good}}}},
			"leave these out"},
	} {
		err := tt.job.CheckOn(f)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %q", err, tt.says)
		}
	}
}
