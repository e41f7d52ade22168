package joint_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/policytest"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// running is a job of one edge between two racks, as a state holds it; left is the share of its bytes
// that is left.
func running(t *testing.T, stream bool, hosts []southbound.HostID, left float64,
	extra ...state.Entry) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 2, Spines: 2, Slots: 2,
		NIC: 500 * pathmap.Mbps,
		EPS: 50 * pathmap.Mbps})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := state.New(f)
	job := &controller.Job{Name: "j", Stages: []controller.Stage{{Tasks: make([]controller.Task, 1)},
		{Tasks: make([]controller.Task, 1)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1e8, Stream: stream}}}
	entries := append([]state.Entry{{Kind: state.JobAccepted, Job: job},
		{Kind: state.Placed, At: time.Millisecond, Placement: &controller.Placement{Hosts: hosts}},
		{Kind: state.Routed, Routing: &controller.Routing{Tags: []southbound.Tag{southbound.PathTag(0)}}},
		{Kind: state.StageStarted, At: time.Millisecond}}, extra...)
	for i := range entries {
		if err := s.Apply(&entries[i]); err != nil {
			t.Fatal(err)
		}
	}
	v := &controller.View{Seed: 1, Now: 10 * time.Second, Paths: paths}
	s.FillView(v, func(southbound.CoflowID) (southbound.Remaining, bool) {
		return southbound.Remaining{F: 1, Base: []float64{1e8 * left}, Live: 1}, true
	})
	return v
}

// TestMigrate: a receiver in another rack moves to the sender's rack while that is cheap, and stays
// when it is not.
//
// Its host flow has 50 Mb/s between racks; within one, or on one host, it would have 500. What is left
// of 100 MB at 50 Mb/s takes 16 s × left; a gain of 450 Mb/s over that is 7,200 Mb × left, and sending
// again what was sent costs 800 Mb × (1-left).
func TestMigrate(t *testing.T) {
	stage1 := state.Entry{Kind: state.StageStarted, Stage: 1, At: time.Millisecond}
	begun := state.Entry{Kind: state.CoflowStarted, At: time.Millisecond}
	for _, tc := range []struct {
		name   string
		stream bool
		hosts  []southbound.HostID
		left   float64
		extra  []state.Entry
		factor float64
		moves  bool
	}{
		{"half is left", true, []southbound.HostID{0, 2}, 0.5, []state.Entry{stage1, begun}, 1, true},
		{"half is left, dear", true, []southbound.HostID{0, 2}, 0.5, []state.Entry{stage1, begun}, 20, false},
		{"a hundredth is left", true, []southbound.HostID{0, 2}, 0.01, []state.Entry{stage1, begun}, 1, false},
		{"nothing sent, whatever the factor", true, []southbound.HostID{0, 2}, 1,
			[]state.Entry{stage1, begun}, 1e6, true},
		{"not asked", true, []southbound.HostID{0, 2}, 1, []state.Entry{stage1, begun}, 0, false},
		{"the receiver waits, and has computed nothing", false, []southbound.HostID{0, 2}, 1, nil, 1e6, true},
		{"its host is lost", true, []southbound.HostID{0, 2}, 1,
			[]state.Entry{stage1, begun, {Kind: state.HostSeen, Host: 2}}, 1, false},
		{"it has moved since", true, []southbound.HostID{0, 2}, 1,
			[]state.Entry{stage1, begun, {Kind: state.Placed, At: time.Second,
				Placement: &controller.Placement{Hosts: []southbound.HostID{0, 3}, Move: []int32{1}}}}, 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, reference := running(t, tc.stream, tc.hosts, tc.left, tc.extra...),
				running(t, tc.stream, tc.hosts, tc.left, tc.extra...)
			plan := func() controller.Plan {
				p, err := policy.New("crosslayer", policy.Options{Overrides: policy.Overrides{Migrate: tc.factor}})
				if err != nil {
					t.Fatal(err)
				}
				return *p.Decide(v, nil)
			}
			got := plan()
			if err := policytest.Check(v, &got); err != nil {
				t.Error(err)
			}
			i := slices.IndexFunc(got.Place, func(p controller.Placement) bool { return len(p.Move) > 0 })
			if (i >= 0) != tc.moves {
				t.Fatalf("placements %+v", got.Place)
			}
			if i >= 0 && got.Place[i].Hosts[0]/2 != got.Place[i].Hosts[1]/2 {
				t.Errorf("placed on %v", got.Place[i].Hosts)
			}
			if !reflect.DeepEqual(plan(), got) {
				t.Error("a fresh policy decides something else")
			}
			v.Fabric, v.Paths, reference.Fabric, reference.Paths = nil, nil, nil, nil
			if !reflect.DeepEqual(v, reference) {
				t.Error("the view was written to")
			}
		})
	}
}

// TestMigrateNotFor: policies with another objective refuse the Migrate option.
func TestMigrateNotFor(t *testing.T) {
	for _, name := range []string{"random+ecmp", "application", "crosslayer-paper", "joint"} {
		if _, err := policy.New(name, policy.Options{Overrides: policy.Overrides{Migrate: 1}}); err == nil {
			t.Errorf("%s takes it", name)
		}
	}
	if _, err := policy.New("crosslayer+sunflow",
		policy.Options{Overrides: policy.Overrides{Migrate: 1}}); err != nil {
		t.Error(err)
	}
}
