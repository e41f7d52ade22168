package route_test

import (
	"math"
	"reflect"
	"testing"

	"lightloom/controller"
	"lightloom/controller/multihop"
	"lightloom/controller/policy"
	"lightloom/controller/policy/policytest"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestMultihopLaws: on random views with four OCSes the laws hold, some pairs of racks take paths over several
// circuits, and once they have them, they keep them. Each path takes less time than packets, by what it tells.
func TestMultihopLaws(t *testing.T) {
	fresh := func(tell route.Explainer) controller.Policy {
		p, err := policy.New("random+ecmp-multihop", policy.Options{Explain: tell})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	policytest.RunOn(t, tries.Of(100, 1000), policytest.Parallel, func() controller.Policy { return fresh(nil) })
	paths := 0
	for seed := range tries.Of[uint64](200, 2000) {
		v, told := policytest.Parallel(seed), 0
		p := fresh(func(_ *controller.View, w route.Why) {
			if m := w.Multihop; m != nil {
				if told++; !(m.Takes < 0.8*m.Packets) || m.Links == nil || m.Tried == 0 {
					t.Errorf("view %d: %+v", seed, *m)
				}
			}
		})
		all := append(multihop.Paths{}, p.Decide(v, nil).Multihop...)
		if told != len(all) {
			t.Fatalf("view %d: %d paths, %d told", seed, len(all), told)
		}
		if paths += len(all); len(all) == 0 {
			continue
		}
		v.Multihop = all
		if again := fresh(func(_ *controller.View, w route.Why) {
			if w.Multihop != nil {
				t.Errorf("view %d: tells again of %+v", seed, *w.Multihop)
			}
		}).Decide(v, nil).Multihop; !reflect.DeepEqual(again, all) {
			t.Fatalf("view %d: paths %v, and once they are there %v", seed, all, again)
		}
	}
	if t.Logf("%d paths", paths); paths < 20 {
		t.Errorf("only %d paths", paths)
	}
}

// TestMultihopShares: of two pairs that could take one circuit, the one with most bytes does, and the other goes over
// packets, since the circuit is busy then. Rack 0 has circuits to 1 (of its own use), rack 1 to 2.
func TestMultihopShares(t *testing.T) {
	spec := "hybrid:racks=4,hosts=1,spines=2,eps=1Gbps,ocs=2Gbps,nic=10Gbps,dark=10ms"
	v := viewOf(t, spec, []controller.CoflowView{
		flow(0, 0, 2, 300e6), // 2.4 s over packets, 1.2 s over both circuits
		flow(1, 1, 2, 200e6), // lit for this: 0.8 s, and 2 s with the first
	}, map[int]int{0: 1, 1: 2})
	m := route.Multihop{}
	p := &controller.Plan{Wake: southbound.Never}
	m.Fill(v, nil, p)
	// (300 + 200 MB) · 8 / 2 Gb/s = 2.0 s, which is not below 0.8 · 2.4 s = 1.92 s.
	if len(p.Multihop) != 0 {
		t.Errorf("paths %v, want none", p.Multihop)
	}
	v.Coflows[1].Remaining.Base[0] = 150e6 // 1.8 s
	p = &controller.Plan{Wake: southbound.Never}
	m.Fill(v, nil, p)
	of := &v.Circuits[1]
	of.Until = southbound.Never // of a slice
	none := &controller.Plan{Wake: southbound.Never}
	m.Fill(v, nil, none)
	// Over the first circuit and then packets it is no sooner than over packets alone: they are what takes 2.4 s.
	if want := (multihop.Paths{}); !reflect.DeepEqual(none.Multihop, want) {
		t.Errorf("with the second circuit of a slice paths %v, want %v", none.Multihop, want)
	}
	if len(p.Multihop) != 1 || p.Multihop[0].Src != 0 || p.Multihop[0].Dst != 2 || len(p.Multihop[0].Circuits) != 2 {
		t.Errorf("paths %v, want one from 0 to 2 over two circuits", p.Multihop)
	}
}

// TestMultihopBetween: where both uplinks of rack 0 are busy, and what leads by default from rack 1 to rack 3, packets
// from 0 to 3 take the circuit to rack 1, the spine that is idle there, and a circuit to rack 3.
func TestMultihopBetween(t *testing.T) {
	spec := "hybrid:racks=9,hosts=1,spines=2,eps=1Gbps,ocs=2Gbps,nic=10Gbps,dark=10ms"
	flows := []controller.CoflowView{flow(0, 0, 3, 900e6), flow(1, 0, 4, 400e6), flow(2, 0, 4, 400e6),
		flow(3, 1, 3, 400e6)}
	flows[2].Tag[0] = southbound.PathTag(1)
	v := viewOf(t, spec, flows, nil)
	n := multihop.Network{Fabric: v.Fabric, Paths: v.Paths}
	busy := func(r southbound.RackID) pathmap.NodeID {
		links, _ := n.First(r, 3)
		return v.Fabric.Topology.Link(links[0]).To
	}
	last := southbound.RackID(5) // whose default way is not over the idle spine
	for busy(last) != busy(1) {
		last++
	}
	v = viewOf(t, spec, flows, map[int]int{0: 1, int(last): 3})
	m := route.Multihop{}
	p := &controller.Plan{Wake: southbound.Never}
	m.Fill(v, nil, p)
	for _, x := range p.Multihop {
		if x.Src == 0 && x.Dst == 3 && x.Hop(v.Fabric) == 1 && len(x.Circuits) == 2 && x.Spine != busy(1) {
			return
		}
	}
	t.Errorf("paths %v, none from 0 to 3 over a circuit, the other spine and a circuit", p.Multihop)
}

// TestMultihopLost: that packets are taken again is told for each reason: the circuit has moved, a circuit joins the
// racks, or too little is left.
func TestMultihopLost(t *testing.T) {
	spec := "hybrid:racks=4,hosts=1,spines=2,eps=1Gbps,ocs=2Gbps,nic=10Gbps,dark=10ms"
	path := multihop.Path{Src: 0, Dst: 2, Spine: pathmap.None,
		Circuits: []multihop.Circuit{{In: 0, Out: 1}, {In: 1, Out: 2}}}
	for _, tc := range []struct {
		name  string
		bytes float64
		lit   map[int]int
	}{
		{"the circuit has moved", 300e6, map[int]int{0: 1, 1: 3}},
		{"and little is left", 1e5, map[int]int{0: 1, 1: 3}},
		{"a circuit joins them", 300e6, map[int]int{0: 2}},
	} {
		v := viewOf(t, spec, []controller.CoflowView{flow(0, 0, 2, tc.bytes)}, tc.lit)
		if tc.name == "a circuit joins them" {
			v.Circuits[0].Phase = controller.Reconfiguring
		}
		for _, had := range []multihop.Paths{nil, {path}} {
			v.Multihop = had
			var told []route.MultihopWhy
			m := route.Multihop{}
			m.Tell(func(_ *controller.View, w route.Why) { told = append(told, *w.Multihop) })
			p := &controller.Plan{Wake: southbound.Never}
			m.Fill(v, nil, p)
			if len(p.Multihop) > 0 || len(told) != len(had) {
				t.Errorf("%s: paths %v, told %+v", tc.name, p.Multihop, told)
			}
			if len(told) == 1 && (told[0].Links != nil || told[0].Takes != told[0].Packets || told[0].Takes <= 0) {
				t.Errorf("%s: told %+v", tc.name, told[0])
			}
		}
	}
}

func flow(id southbound.CoflowID, src, dst southbound.HostID, bytes float64) controller.CoflowView {
	return controller.CoflowView{ID: id, Started: true, Routed: true, Src: []southbound.HostID{src},
		Dst: []southbound.HostID{dst}, Size: []pathmap.Bytes{pathmap.Bytes(math.Ceil(bytes))}, Ended: []bool{false},
		Tag: []southbound.Tag{southbound.PathTag(0)}, Remaining: southbound.Remaining{F: 1, Base: []float64{bytes}, Live: 1}}
}

// viewOf is a view of a fabric with coflows and with circuits that are in service and held for any.
func viewOf(t *testing.T, spec string, coflows []controller.CoflowView, lit map[int]int) *controller.View {
	t.Helper()
	parsed, err := topo.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(parsed)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(f.Spec.PathsKept(), 1)
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Fabric: f, Paths: m, Coflows: coflows}
	for in := range f.OCSPorts() {
		c := controller.CircuitView{Out: southbound.NoPort, Coflow: controller.AnyCoflow}
		if out, ok := lit[in]; ok {
			c = controller.CircuitView{Out: southbound.Port(out), Phase: controller.InService, Held: true,
				Coflow: controller.AnyCoflow}
		}
		v.Circuits = append(v.Circuits, c)
	}
	return v
}
