package share

import (
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// oneReceiver is a view of coflows of one host flow each to host 0 of a crossbar of 10 Mb/s, of so many
// bytes of which so many are left, the first started first.
func oneReceiver(t *testing.T, size, left []pathmap.Bytes) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: 4, Hosts: 1, NIC: 10 * pathmap.Mbps,
		EPS: 10 * pathmap.Mbps})
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Seed: 1, Fabric: f}
	if v.Paths, err = f.PathMap(southbound.MaxPaths, 1); err != nil {
		t.Fatal(err)
	}
	for i := range size {
		v.Coflows = append(v.Coflows, controller.CoflowView{ID: southbound.CoflowID(i),
			Started: true, Routed: true,
			Start: time.Duration(i) * time.Second, Src: []southbound.HostID{southbound.HostID(i + 1)},
			Dst: []southbound.HostID{0}, Size: size[i : i+1], Ended: []bool{false}, Tag: []southbound.Tag{0},
			Remaining: southbound.Remaining{F: 1, Base: []float64{float64(left[i])}}})
	}
	return v
}

// ratesOf are the rates of the coflows' one host flow, in Mb/s.
func ratesOf(v *controller.View, a *OnFRoBA) []float64 {
	var p controller.Plan
	p.Reset()
	a.Fill(v, nil, &p)
	out := make([]float64, len(v.Coflows))
	for _, e := range p.Share.Extra {
		out[e.Coflow] = float64(e.Rate) / 1e6
	}
	return out
}

// TestOnFRoBA: a link that one host flow fills is not given to others before it ends, unless flows can
// be preempted or what is left is distributed.
func TestOnFRoBA(t *testing.T) {
	const mb = pathmap.Bytes(1e6)
	for _, tt := range []struct {
		name       string
		by         OnFRoBA
		size, left []pathmap.Bytes
		want       []float64
	}{
		{"the smallest sends alone", OnFRoBA{Select: SLF}, []pathmap.Bytes{4 * mb, mb, 9 * mb}, nil,
			[]float64{0, 10, 0}},
		{"the shortest alone is the smallest", OnFRoBA{Select: SFF}, []pathmap.Bytes{4 * mb, mb, 9 * mb}, nil,
			[]float64{0, 10, 0}},
		{"the first in turn", OnFRoBA{Select: InTurn}, []pathmap.Bytes{4 * mb, mb, 9 * mb}, nil,
			[]float64{10, 0, 0}},
		{"all with a path, by the roots of their bytes", OnFRoBA{Select: VFF},
			[]pathmap.Bytes{4 * mb, mb, 9 * mb}, nil,
			[]float64{20. / 6, 10. / 6, 5}},
		{"what is under way goes on", OnFRoBA{Select: SLF}, []pathmap.Bytes{4 * mb, mb, 9 * mb},
			[]pathmap.Bytes{3 * mb, mb, 9 * mb}, []float64{10, 0, 0}},
		{"or is preempted", OnFRoBA{Select: SLF, Preempt: true}, []pathmap.Bytes{4 * mb, mb, 9 * mb},
			[]pathmap.Bytes{3 * mb, mb, 9 * mb}, []float64{0, 10, 0}},
		{"nothing is left to distribute", OnFRoBA{Select: SLF, DRB: true}, []pathmap.Bytes{4 * mb, mb}, nil,
			[]float64{0, 10}},
		{"nothing to send", OnFRoBA{Select: SLF, DRB: true, Preempt: true}, nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			left := tt.left
			if left == nil {
				left = tt.size
			}
			got := ratesOf(oneReceiver(t, tt.size, left), &tt.by)
			for i, w := range tt.want {
				if got[i] < w*(1-1e-4)-1e-9 || got[i] > w*(1+1e-4) {
					t.Errorf("rates %v, want %v", got, tt.want)
				}
			}
		})
	}
}

// TestOnFRoBAResidual: what a host flow leaves when it ends goes, until something waits no more, to
// those that were allocated less; without DRB it is idle.
func TestOnFRoBAResidual(t *testing.T) {
	const mb = pathmap.Bytes(1e6)
	for drb, want := range map[bool]float64{true: 10, false: 5} {
		a := &OnFRoBA{Select: VFF, DRB: drb}
		v := oneReceiver(t, []pathmap.Bytes{mb, mb}, []pathmap.Bytes{mb, mb})
		if got := ratesOf(v, a); got[0] < 4.99 || got[0] > 5 || got[1] < 4.99 || got[1] > 5 {
			t.Fatalf("DRB %v: rates %v, want a half each", drb, got)
		}
		v.Coflows[0].Ended[0] = true
		if got := ratesOf(v, a); got[1] < want*(1-1e-4) || got[1] > want {
			t.Errorf("DRB %v: rate %v once the other has ended, want %v", drb, got[1], want)
		}
	}
}
