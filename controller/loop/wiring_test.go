package loop_test

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// onlooker is a policy that keeps what it is shown last, and what it was asked about.
type onlooker struct {
	blind bool
	view  controller.View
	asked []controller.Kind
}

func (*onlooker) Wants() controller.KindSet {
	return controller.Kinds(controller.FabricChanged, controller.TrafficRead)
}
func (o *onlooker) Capabilities() controller.Capabilities {
	return controller.Capabilities{Circuits: true, Blind: o.blind}
}
func (o *onlooker) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	o.view = *v
	o.view.Coflows, o.view.Links = slices.Clone(v.Coflows), slices.Clone(v.Links)
	for _, e := range ev {
		o.asked = append(o.asked, e.Kind)
	}
	return &controller.Plan{Wake: southbound.Never}
}

// TestViewIsWired: the loop's inputs reach the policy: bytes left (unless the policy is blind), link
// rates from switches' counters, traffic from hosts' counters, and the figures of its configuration.
func TestViewIsWired(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name   string
		blind  bool
		source demand.Source
		left   bool // the policy sees what is left
	}{
		{"oracle", false, demand.FromOracle, true},
		{"blind", true, demand.FromOracle, false},
		{"counters", false, demand.FromCounters, true},
		{"counters, for one that would be blind", true, demand.FromCounters, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec, err := topo.ParseSpec("hybrid:racks=2,hosts=1,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms")
			if err != nil {
				t.Fatal(err)
			}
			f, err := topo.New(spec)
			if err != nil {
				t.Fatal(err)
			}
			paths, err := f.PathMap(1, 1)
			if err != nil {
				t.Fatal(err)
			}
			s, o := state.New(f), &onlooker{blind: tc.blind}
			if err := s.ApplyAll([]state.Entry{
				{Kind: state.JobAccepted, Job: &controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed,
					Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 1000}}}}}},
				{Kind: state.Placed, Placement: &controller.Placement{}},
				{Kind: state.Routed, Routing: &controller.Routing{Tags: make([]southbound.Tag,
					1)}}, {Kind: state.CoflowStarted},
			}); err != nil {
				t.Fatal(err)
			}
			asking, times := false, 0
			l := loop.New(f, loop.Config{Asked: func(begins bool) {
				if times++; begins == asking {
					t.Errorf("call %d of Asked: %v again", times, begins)
				}
				asking = begins
			}, Policy: o, Paths: paths, Seed: 42, Delta: 17 * ms, ElephantThreshold: 1234,
				Demand: demand.Options{Source: tc.source, Period: 100 * ms}})
			tor, sent := f.ToRNode[0], pathmap.Bytes(0)
			step := func(now time.Duration) {
				t.Helper()
				in := loop.Inputs{
					Remaining: func(id southbound.CoflowID) (southbound.Remaining, bool) {
						return southbound.Remaining{F: 1, Base: []float64{77}, Live: 1}, id == 0
					},
					Counters: func() (demand.Sample, error) {
						return demand.Sample{At: now, Counters: []demand.Counter{{Src: 0, Dst: 1, Bytes: sent}}}, nil
					},
					Counts: []loop.DeviceCounts{{Device: tor, Ports: []southbound.PortCounters{{Port: 1, At: now,
						OutOctets: uint64(sent)}}}},
				}
				for n := 0; ; n++ {
					entries, act, wake := l.Step(s, now, in)
					if len(act.Errs) > 0 || n > 50 {
						t.Fatalf("at %v: %v", now, act.Errs)
					}
					if err := s.ApplyAll(entries); err != nil {
						t.Fatal(err)
					}
					if in.Counts, in.Devices = nil, nil; wake > now {
						return
					}
				}
			}
			for k := range 4 {
				step(time.Duration(k) * 100 * ms)
				sent += 12_500_000 // 1 Gb/s for a tenth of a second
			}
			sent -= 6_250_000
			step(350 * ms)
			if asking || times == 0 {
				t.Errorf("after %d calls of Asked the policy is still being asked: %v", times, asking)
			}
			v := &o.view
			if left := v.Coflows[0].Remaining; tc.left != (len(left.Base) == 1 && left.Base[0] == 77) ||
				left.Live != 1 {
				t.Errorf("is shown what is left as %+v", left)
			}
			if v.Seed != 42 || v.Delta != 17*ms || v.ElephantThreshold != 1234 || v.Paths != paths {
				t.Errorf("is shown seed %d, delta %v, threshold %d", v.Seed, v.Delta, v.ElephantThreshold)
			}
			if known := l.Links()[f.Topology.OutPort(tor, 1)]; known.Rate != pathmap.Gbps {
				t.Errorf("the rate of a link is known as %+v", known)
			}
			if tc.source == demand.FromOracle {
				if v.Traffic != nil || slices.Contains(o.asked, controller.TrafficRead) {
					t.Errorf("is shown traffic %+v", v.Traffic)
				}
				return
			}
			if v.Traffic == nil || v.Traffic.Bytes[0][1] == 0 || v.Traffic.Bytes[1][0] != 0 ||
				!slices.Contains(o.asked, controller.TrafficRead) {
				t.Errorf("is shown traffic %+v, asked about %v", v.Traffic, o.asked)
			}
			if len(v.Links) == 0 || v.Links[f.Topology.OutPort(tor, 1)].Rate != pathmap.Gbps {
				t.Errorf("is shown links %+v", v.Links)
			}
		})
	}
}
