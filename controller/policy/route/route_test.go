package route

import (
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// view is four racks of two hosts under three spines, and one unrouted coflow of everybody to everybody.
func view(t *testing.T, seed uint64) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 4, Hosts: 2, Spines: 3})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := controller.CoflowView{ID: 5, Remaining: southbound.Remaining{F: 1}}
	for d := range southbound.HostID(8) {
		for s := range southbound.HostID(8) {
			if s != d {
				c.Src, c.Dst, c.Size = append(c.Src, s), append(c.Dst, d), append(c.Size, 1e6)
			}
		}
	}
	c.Ended, c.Tag, c.Remaining.Base = make([]bool, len(c.Src)), make([]southbound.Tag, len(c.Src)),
		make([]float64, len(c.Src))
	return &controller.View{Seed: seed, Fabric: f, Paths: m, Coflows: []controller.CoflowView{c}}
}

type part interface {
	Fill(*controller.View, []controller.Event, *controller.Plan)
}

func fillOf(v *controller.View, p part) *controller.Plan {
	var plan controller.Plan
	plan.Reset()
	p.Fill(v, nil, &plan)
	return &plan
}

// TestECMPSpreads: all three paths are used, about alike, and another seed uses them otherwise.
func TestECMPSpreads(t *testing.T) {
	count := map[southbound.Tag]int{}
	differ := false
	for seed := range uint64(20) {
		tags := fillOf(view(t, seed), ECMP{}).Route[0].Tags
		for _, tag := range tags {
			count[tag]++
		}
		differ = differ || !slices.Equal(tags, fillOf(view(t, seed+1), ECMP{}).Route[0].Tags)
	}
	if count[southbound.TagDefault] != 20*8 { // within racks
		t.Errorf("%d default tags, want those of the host flows within racks, %d",
			count[southbound.TagDefault], 20*8)
	}
	for i := range 3 {
		if n := count[southbound.PathTag(i)]; n < 250 || n > 390 { // 48 × 20 host flows ÷ 3 paths = 320
			t.Errorf("path %d is used %d times, want about 320", i, n)
		}
	}
	if !differ {
		t.Error("no seed changes a path")
	}
}

func TestShortestTakesDefault(t *testing.T) {
	for r, tag := range fillOf(view(t, 1), Shortest{}).Route[0].Tags {
		if tag != southbound.TagDefault {
			t.Fatalf("host flow %d has tag %d", r, tag)
		}
	}
}

// TestMends: once a path goes dark, just the host flows on it move, and nothing moves when all is lit.
func TestMends(t *testing.T) {
	for name, p := range map[string]part{"ecmp": ECMP{}, "shortest": Shortest{}, "anneal": &Annealed{}} {
		t.Run(name, func(t *testing.T) {
			v := view(t, 3)
			before := fillOf(v, p).Route[0].Tags
			c := &v.Coflows[0]
			c.Routed, c.Tag = true, before
			if r := fillOf(v, p).Route; len(r) > 0 {
				t.Fatalf("routes a routed coflow again: %+v", r)
			}
			v.Down = make([]bool, len(v.Fabric.Topology.Links()))
			dark := v.Paths.AppendPath(nil, 0, 1, 0)[0] // rack 0 to a spine
			v.Down[dark], v.Down[pathmap.Reverse(dark)] = true, true
			c.Ended[0] = true
			after := fillOf(v, p).Route
			if len(after) != 1 {
				t.Fatalf("routings %+v, want one", after)
			}
			f := newFinder(v)
			for r, tag := range after[0].Tags {
				s, d := v.HostRack(c.Src[r]), v.HostRack(c.Dst[r])
				led := s == d || c.Ended[r] || f.leads(s, d, before[r])
				if led && tag != before[r] || s != d && !c.Ended[r] && !f.leads(s, d, tag) {
					t.Errorf("host flow %d of racks %d→%d: tag %d, was %d", r, s, d, tag, before[r])
				}
			}
		})
	}
}

// TestDarkEverywhere: with no path left the default is as good as any, and nothing is moved about.
func TestDarkEverywhere(t *testing.T) {
	for name, p := range map[string]part{"ecmp": ECMP{}, "shortest": Shortest{}} {
		v := view(t, 3)
		v.Down = make([]bool, len(v.Fabric.Topology.Links()))
		for l := range v.Down {
			v.Down[l] = true
		}
		for _, tag := range fillOf(v, p).Route[0].Tags {
			if tag != southbound.TagDefault {
				t.Fatalf("%s: tag %d", name, tag)
			}
		}
		v.Coflows[0].Routed = true
		if r := fillOf(v, p).Route; len(r) > 0 {
			t.Errorf("%s: moves host flows from nowhere to nowhere: %+v", name, r)
		}
	}
}

// TestAnnealLeavesCircuitsOut: host flows that a reservation carries do not take a path from those on
// packets.
func TestAnnealLeavesCircuitsOut(t *testing.T) {
	v := view(t, 1)
	c := &v.Coflows[0]
	c.Src, c.Dst, c.Size = []southbound.HostID{0, 1, 2}, []southbound.HostID{2, 3, 4}, []pathmap.Bytes{1, 1, 1}
	c.Ended, c.Tag, c.Remaining.Base = make([]bool, 3), make([]southbound.Tag, 3), make([]float64, 3)
	plan := controller.Plan{Wake: southbound.Never,
		Reserve: []controller.CircuitReservation{{In: 0, Out: 1, Coflow: 5}}}
	(&Annealed{}).Fill(v, nil, &plan)
	tags := plan.Route[0].Tags
	if len(tags) != 3 || tags[0] == tags[1] {
		t.Errorf("tags %v, want three, the carried two apart", tags)
	}
}

func BenchmarkECMP(b *testing.B) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 150, Hosts: 1, Spines: 4})
	if err != nil {
		b.Fatal(err)
	}
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		b.Fatal(err)
	}
	c := controller.CoflowView{ID: 5}
	for d := range southbound.HostID(150) {
		for s := range southbound.HostID(150) {
			if s != d {
				c.Src, c.Dst = append(c.Src, s), append(c.Dst, d)
			}
		}
	}
	v := &controller.View{Fabric: f, Paths: m, Coflows: []controller.CoflowView{c}}
	var p controller.Plan
	for b.Loop() {
		p.Reset()
		ECMP{}.Fill(v, nil, &p)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.Src)), "ns/hostflow")
}
