package loop

import (
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// quiet is a policy that decides nothing.
type quiet struct{}

func (quiet) Wants() controller.KindSet             { return controller.Kinds(controller.FabricChanged) }
func (quiet) Capabilities() controller.Capabilities { return controller.Capabilities{Circuits: true} }
func (quiet) Decide(*controller.View, []controller.Event) *controller.Plan {
	return &controller.Plan{Wake: southbound.Never}
}

// hybrid is a fabric of three racks of two hosts.
const hybrid = "hybrid:racks=3,hosts=2,spines=1,slots=4"

// carrying is a state of three coflows that have started, on six hosts: coflow 0 of job 0, then coflows 1
// and 2 of job 1. The loop on it has made no step, and tells the usages that it returns.
func carrying(t *testing.T, fabric string) (*Loop, *state.State, *[]Usage) {
	t.Helper()
	spec, err := topo.ParseSpec(fabric)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := f.PathMap(spec.PathsKept(), 1)
	if err != nil {
		t.Fatal(err)
	}
	fixed := func(flows ...controller.Flow) controller.Edge {
		return controller.Edge{Kind: controller.Fixed, Flows: flows}
	}
	one := &controller.Job{Edges: []controller.Edge{fixed(controller.Flow{Src: 0, Dst: 2, Bytes: 100},
		controller.Flow{Src: 1, Dst: 2, Bytes: 200}, controller.Flow{Src: 1, Dst: 3, Bytes: 400},
		controller.Flow{Src: 0, Dst: 4, Bytes: 800})}}
	two := &controller.Job{Edges: []controller.Edge{fixed(controller.Flow{Src: 0, Dst: 3, Bytes: 1600}),
		fixed(controller.Flow{Src: 0, Dst: 2, Bytes: 3200})}}
	s := state.New(f)
	if err := s.ApplyAll([]state.Entry{{Kind: state.JobAccepted, Job: one},
		{Kind: state.JobAccepted, Job: two},
		{Kind: state.Placed, Placement: &controller.Placement{}},
		{Kind: state.Placed, Placement: &controller.Placement{Job: 1}}, {Kind: state.CoflowStarted, At: 11},
		{Kind: state.CoflowStarted, Coflow: 1, At: 12}, {Kind: state.CoflowStarted, Coflow: 2,
			At: 13}}); err != nil {
		t.Fatal(err)
	}
	told := &[]Usage{}
	l := New(f, Config{Policy: quiet{}, Paths: paths, Used: func(u Usage) { *told = append(*told, u) }})
	return l, s, told
}

// between is a reservation from rack 0 to rack 1.
func between(id southbound.CoflowID) *controller.CircuitReservation {
	return &controller.CircuitReservation{In: 0, Out: 1, Coflow: id}
}

// TestCount: what a reservation's rows have left is by the hosts' reports, and their sizes where there
// is none.
func TestCount(t *testing.T) {
	reported := func(base ...float64) func(southbound.CoflowID) (southbound.Remaining, bool) {
		return func(id southbound.CoflowID) (southbound.Remaining, bool) {
			switch id {
			case 0:
				return southbound.Remaining{F: .5, Base: base, At: 3}, true
			case 1:
				return southbound.Remaining{F: 1, Base: []float64{1000}, At: 6}, true
			}
			return southbound.Remaining{F: 1, Base: []float64{9}, At: 1}, false
		}
	}
	whole := reported(10, 20, 40, 80)
	first := []state.Entry{{Kind: state.HostFlowEnded, Coflow: 0, Row: 0}}
	all := []state.Entry{{Kind: state.HostFlowEnded, Coflow: 1, Row: 0}}
	for _, tc := range []struct {
		name   string
		left   func(southbound.CoflowID) (southbound.Remaining, bool)
		ended  []state.Entry
		coflow southbound.CoflowID
		want   Count
	}{
		{"no reports", nil, nil, 0, Count{Bytes: 700}},
		{"reported", whole, nil, 0, Count{Bytes: 35, Age: 7}},
		{"a row has ended", whole, first, 0, Count{Bytes: 30, Age: 7}},
		{"a row has ended, no reports", nil, first, 0, Count{Bytes: 600}},
		{"fewer rows reported", reported(10, 20), nil, 0, Count{Bytes: 415, Age: 7}},
		{"not known", whole, nil, 2, Count{Bytes: 3200}},
		{"ended", whole, all, 1, Count{}},
		{"the last", whole, nil, 1, Count{Bytes: 1000, Age: 4}},
		{"not created yet", whole, nil, 3, Count{}},
		{"every coflow", whole, nil, controller.AnyCoflow, Count{Bytes: 4235, Age: 7}},
		{"every coflow that is active", whole, all, controller.AnyCoflow, Count{Bytes: 3235, Age: 7}},
		{"read just now", func(southbound.CoflowID) (southbound.Remaining, bool) {
			return southbound.Remaining{F: 1, Base: []float64{1, 2, 4, 8}}, true
		}, nil, 0, Count{Bytes: 7}},
	} {
		l, s, _ := carrying(t, hybrid)
		if err := s.ApplyAll(tc.ended); err != nil {
			t.Fatal(err)
		}
		l.pass.left = tc.left
		if got := l.count(s, 10, between(tc.coflow)); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// TestUsage: each instant of a reservation is noted once, and told at its end with what was left at each.
func TestUsage(t *testing.T) {
	for _, tc := range []struct {
		coflow southbound.CoflowID
		bytes  float64
		anchor Anchor
	}{{0, 700, Anchor{0, 0, 11}}, {2, 3200, Anchor{1, 1, 13}}, {controller.AnyCoflow, 5500,
		Anchor{0, 0, 11}}} {
		l, s, told := carrying(t, hybrid)
		l.decider.view.Delta = 17
		r := between(tc.coflow)
		l.noteMade(s, 21, r)
		l.noteBegun(s, 22, r)
		l.noteService(s, 24, 23, r)
		l.noteService(s, 26, 25, r)
		if len(*told) > 0 || len(l.usages.known) != 1 {
			t.Errorf("coflow %d: before its end %d are known and told %+v", tc.coflow, len(l.usages.known), *told)
		}
		l.noteEnded(s, 27, r, state.Preempted)
		c := Count{Bytes: tc.bytes}
		want := Usage{CircuitReservation: *r, Anchor: tc.anchor, Delta: 17, Made: 21, Begun: 22, Connected: 23,
			InService: 24, Ended: 27, Cause: state.Preempted, AtMade: c, AtService: c, AtEnd: c,
			anchor: max(tc.coflow, 0)}
		if !slices.Equal(*told, []Usage{want}) || len(l.usages.known) != 0 {
			t.Errorf("coflow %d: told %+v, want %+v; %d are known", tc.coflow, *told, want, len(l.usages.known))
		}
	}
}

// TestUsageOfBefore: of a reservation that an earlier leader made only what came since is known, and
// one for every coflow has no anchor then.
func TestUsageOfBefore(t *testing.T) {
	l, s, told := carrying(t, hybrid)
	r := between(controller.AnyCoflow)
	l.noteBegun(s, 22, r)
	l.noteEnded(s, 27, r, state.RanOut)
	c := Count{Bytes: 5500}
	want := Usage{CircuitReservation: *r, Begun: 22, Ended: 27, Cause: state.RanOut, AtMade: c,
		AtEnd: c, anchor: -1}
	if !slices.Equal(*told, []Usage{want}) {
		t.Errorf("told %+v, want %+v", *told, want)
	}
	l.pass.left = func(southbound.CoflowID) (southbound.Remaining, bool) {
		return southbound.Remaining{F: 1, Base: []float64{1, 2, 4, 8}}, true
	}
	later := between(0)
	l.noteMade(s, 1, later)
	l.pass.left = nil
	l.noteBegun(s, 2, later)
	if got := l.usages.known[*later].AtMade; got.Bytes != 7 {
		t.Errorf("as it was made %v bytes were left, want 7", got.Bytes)
	}
}

// TestUsagesWithoutUsed: a loop without Config.Used keeps no usages.
func TestUsagesWithoutUsed(t *testing.T) {
	l, s, _ := carrying(t, hybrid)
	l.usages = newUsages(nil)
	r := between(0)
	l.noteMade(s, 1, r)
	l.noteBegun(s, 2, r)
	l.noteService(s, 3, 3, r)
	l.noteEnded(s, 4, r, state.RanOut)
	if len(l.usages.known) != 0 {
		t.Errorf("%d are kept", len(l.usages.known))
	}
}

// TestForgetUnbegun: only the reservations of that coflow that have not begun are forgotten.
func TestForgetUnbegun(t *testing.T) {
	x := newUsages(func(Usage) {})
	begun, unbegun, other := between(0), between(0), between(1)
	unbegun.NotBefore = 5
	x.of(begun).Begun = 1
	x.of(unbegun)
	x.of(other)
	x.forgetUnbegun(0)
	if len(x.known) != 2 || x.known[*begun] == nil || x.known[*other] == nil {
		t.Errorf("known are %v", x.known)
	}
}
