package route

import (
	"testing"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestLinkBack: a link between rack 0 and a spine is back. Host flows of rack 0 are routed again and
// use it; flows of racks without a path over it keep their paths, and without any change no flow moves.
func TestLinkBack(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 4, Hosts: 4, Spines: 2, NIC: pathmap.Gbps,
		EPS: pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	coflow := func(id southbound.CoflowID, from, to int) controller.CoflowView {
		c := controller.CoflowView{ID: id, Job: controller.JobID(id), Routed: true, Started: true,
			Remaining: southbound.Remaining{F: 1}}
		for h := range 4 {
			c.Src, c.Dst = append(c.Src, southbound.HostID(4*from+h)), append(c.Dst, southbound.HostID(4*to+h))
			// all on one spine, as while the other was away
			c.Size, c.Tag = append(c.Size, 1e6), append(c.Tag, southbound.PathTag(0))
			c.Ended, c.Remaining.Base = append(c.Ended, false), append(c.Remaining.Base, 1e6)
		}
		return c
	}
	path := m.AppendPath(nil, 0, 1, 1) // the path without flows
	changed := make([]bool, len(f.Topology.Links()))
	changed[path[0]], changed[pathmap.Reverse(path[0])] = true, true
	for name, part := range map[string]interface {
		Fill(*controller.View, []controller.Event, *controller.Plan)
	}{"ecmp": ECMP{}, "anneal": &Annealed{}} {
		v := &controller.View{Seed: 1, Now: 1, Fabric: f, Paths: m,
			Coflows: []controller.CoflowView{coflow(0, 0, 1),
				coflow(1, 2, 3)}}
		var p controller.Plan
		if part.Fill(v, nil, &p); len(p.Route) != 0 {
			t.Errorf("%s moves host flows for nothing: %+v", name, p.Route)
		}
		v.Changed = changed
		p = controller.Plan{}
		part.Fill(v, nil, &p)
		if len(p.Route) != 1 || p.Route[0].Coflow != 0 {
			t.Fatalf("%s routes %+v, want coflow 0 alone", name, p.Route)
		}
		used := map[southbound.Tag]int{}
		for _, tag := range p.Route[0].Tags {
			used[tag]++
		}
		if used[southbound.PathTag(0)] == 0 || used[southbound.PathTag(1)] == 0 || name == "anneal" &&
			used[southbound.PathTag(0)] != 2 {
			t.Errorf("%s spreads %v", name, used)
		}
	}
}

// TestAnew: two coflows share one of two spines. Only with Anew one of them goes over to the other, and
// the next decision leaves both where they are.
func TestAnew(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 4, Hosts: 1, Spines: 2, NIC: pathmap.Gbps,
		EPS: pathmap.Gbps / 2})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	coflow := func(id southbound.CoflowID, src, dst southbound.HostID) controller.CoflowView {
		return controller.CoflowView{ID: id, Job: controller.JobID(id), Routed: true, Started: true,
			Src: []southbound.HostID{src}, Dst: []southbound.HostID{dst}, Size: []pathmap.Bytes{1e9},
			Tag: []southbound.Tag{southbound.PathTag(0)}, Ended: []bool{false},
			Remaining: southbound.Remaining{F: 1, Base: []float64{1e9}}}
	}
	for _, tc := range []struct {
		name string
		part Certified
		want int // coflows that are routed
	}{
		{"corba", Certified{Router: certified.CoRBA, ByCoflow: true}, 0},
		{"corba-anew", Certified{Router: certified.CoRBA, ByCoflow: true, Anew: true}, 1},
		{"froba-anew", Certified{Router: certified.FRoBA, Anew: true}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := &controller.View{Seed: 1, Now: 1, Fabric: f, Paths: m, Coflows: []controller.CoflowView{
				coflow(0, 0, 2), coflow(1, 0, 3)}}
			for _, want := range []int{tc.want, 0} {
				p := fillOf(v, &tc.part)
				if len(p.Route) != want {
					t.Fatalf("routes %+v, want %d coflows", p.Route, want)
				}
				for _, r := range p.Route {
					v.Coflows[r.Coflow].Tag = r.Tags
				}
			}
			if apart := v.Coflows[0].Tag[0] != v.Coflows[1].Tag[0]; apart != (tc.want > 0) {
				t.Errorf("tags %v and %v", v.Coflows[0].Tag, v.Coflows[1].Tag)
			}
		})
	}
}
