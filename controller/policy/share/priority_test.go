package share

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// contest is a view in which four jobs of two users send to host 2, the third to host 4 too.
func contest(t *testing.T) *controller.View {
	v := view(t)
	v.Coflows = nil
	for i, bytes := range []pathmap.Bytes{4e6, 2e6, 8e6, 3e10} {
		j := &controller.Job{ID: controller.JobID(i), FirstCoflow: southbound.CoflowID(i),
			User:    []string{"fifo", "b"}[i%2],
			Arrival: time.Duration(i) * time.Second,
			Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)},
				{Tasks: make([]controller.Task, 1)}},
			Incremental: true, Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: bytes}}}
		v.Partial = append(v.Partial, controller.Partial{Job: j})
		c := controller.CoflowView{ID: j.FirstCoflow, Job: j.ID, Arrival: j.Arrival, Started: true,
			Start: j.Arrival,
			Src:   []southbound.HostID{0, 3}, Dst: []southbound.HostID{2,
				2}, Size: []pathmap.Bytes{bytes / 2, bytes / 2},
			Ended: make([]bool, 2), Tag: make([]southbound.Tag, 2), Generation: 1, LiveRows: 2}
		if i == 2 {
			c.Src, c.Dst = []southbound.HostID{0, 0}, []southbound.HostID{2, 4}
		}
		v.Coflows = append(v.Coflows, c)
	}
	return v
}

func TestPriority(t *testing.T) {
	for _, tc := range []struct {
		intent Intent
		want   string // coflow:priority
	}{
		{FairIntent, "[0:5 1:6 2:6 3:3]"}, // 2 is alone at host 4
		{FIFOIntent, "[0:5 1:6]"},         // 2 and 3 are not the heads of their queues
		{QueueIntent, "[0:5 1:6 3:4]"},
		{BinIntent, "[0:5 1:5 2:5 3:1]"},
		{OrderIntent, "[0:6 1:5 2:6 3:3]"},
	} {
		v := contest(t)
		var p controller.Plan
		part := &Priority{Intent: tc.intent}
		part.Fill(v, nil, &p)
		var got []string
		for _, x := range p.Share.Priority {
			got = append(got, fmt.Sprintf("%d:%d", x.Coflow, x.Priority))
			if near := slices.Equal(x.Low, []int32{1}); near != (x.Coflow != 2) {
				t.Errorf("intent %d: rows %v of coflow %d stay in their rack", tc.intent, x.Low, x.Coflow)
			}
		}
		if fmt.Sprint(got) != tc.want || !p.Share.Fair {
			t.Errorf("intent %d: %v, want %s", tc.intent, got, tc.want)
		}
		var again controller.Plan
		if part.Fill(v, nil, &again); again.Share != nil {
			t.Errorf("intent %d: the same priorities are said twice", tc.intent)
		}
	}
}

// TestPriorityAnew holds priorities that rest on what was kept of coflows against a fresh part's, where one thing has
// changed.
func TestPriorityAnew(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(v *controller.View)
	}{
		{"another head of the queue", func(v *controller.View) {
			v.Running = []controller.Running{{Job: &controller.Job{ID: 9, User: "fifo", Arrival: -time.Second}}}
		}},
		{"a row ends", func(v *controller.View) {
			v.Coflows[2].Ended, v.Coflows[2].LiveRows = []bool{true, false}, 1
		}},
		{"other rows", func(v *controller.View) {
			v.Coflows[2].Dst, v.Coflows[2].Generation = []southbound.HostID{4, 4}, 2
		}},
		{"a coflow is gone", func(v *controller.View) { v.Coflows = slices.Delete(v.Coflows, 1, 2) }},
	} {
		changed := false
		for _, intent := range []Intent{FairIntent, FIFOIntent, QueueIntent, BinIntent, OrderIntent} {
			kept, v := &Priority{Intent: intent}, contest(t)
			kept.Fill(v, nil, new(controller.Plan))
			before := kept.said
			tc.change(v)
			kept.Fill(v, nil, new(controller.Plan))
			fresh := &Priority{Intent: intent}
			fresh.Fill(v, nil, new(controller.Plan))
			if !slices.EqualFunc(kept.said, fresh.said, samePriority) {
				t.Errorf("%s, intent %d: %+v, and anew %+v", tc.name, intent, kept.said, fresh.said)
			}
			changed = changed || !slices.EqualFunc(before, fresh.said, samePriority)
		}
		if !changed {
			t.Errorf("%s: changes no priority", tc.name)
		}
	}
}

// TestPriorityOfViews has what any view's coflows are given be valid, and distinct at each machine as
// far as there are priorities.
func TestPriorityOfViews(t *testing.T) {
	for seed := range uint64(300) {
		v := policytest.View(seed)
		var p controller.Plan
		new(Priority).Fill(v, nil, &p)
		if err := p.Share.CheckPriorities(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
