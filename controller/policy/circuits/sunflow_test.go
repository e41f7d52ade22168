package circuits

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// view is a fabric of two hosts a rack, 500 Mb/s a host and 1 Gb/s an OCS port, one coflow sending.
func view(t testing.TB, src, dst []southbound.HostID, size []pathmap.Bytes,
	change func(*topo.Spec)) *controller.View {
	t.Helper()
	spec := topo.Spec{Kind: topo.Hybrid, Racks: 4, Hosts: 2, Spines: 2, NIC: 500 * pathmap.Mbps,
		EPS: 50 * pathmap.Mbps,
		OCS: pathmap.Gbps, Dark: 10 * time.Millisecond, Slots: 2}
	if change != nil {
		change(&spec)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	c := controller.CoflowView{ID: 3, Generation: 1, Started: true, Routed: true, Src: src,
		Dst: dst, Size: size,
		Remaining: southbound.Remaining{F: 1}}
	for _, b := range size {
		c.Remaining.Base, c.Ended, c.Tag = append(c.Remaining.Base, float64(b)), append(c.Ended,
			false), append(c.Tag, 0)
	}
	return &controller.View{Fabric: f, Now: time.Second, Coflows: []controller.CoflowView{c},
		Delta:             10 * time.Millisecond,
		ElephantThreshold: 1e6}
}

func reserve(v *controller.View) *controller.Plan {
	var p controller.Plan
	p.Reset()
	Sunflow{}.Fill(v, nil, &p)
	return &p
}

func TestReserves(t *testing.T) {
	const mb = pathmap.Bytes(1e6)
	over := func(b pathmap.Bytes, r pathmap.BitsPerSecond) time.Duration { return controller.Wire(b).Over(r) }
	for _, tc := range []struct {
		name     string
		src, dst []southbound.HostID
		size     []pathmap.Bytes
		spec     func(*topo.Spec)
		change   func(*controller.View)
		want     []time.Duration // lengths of the reservations
	}{
		{"one host sends at its own rate", []southbound.HostID{0}, []southbound.HostID{2},
			[]pathmap.Bytes{4 * mb}, nil, nil,
			[]time.Duration{10*time.Millisecond + over(4*mb, 500*pathmap.Mbps)}},
		{"two hosts fill the circuit", []southbound.HostID{0, 1}, []southbound.HostID{2, 3},
			[]pathmap.Bytes{4 * mb, 4 * mb},
			nil, nil,
			[]time.Duration{10*time.Millisecond + over(4*mb, 500*pathmap.Mbps)}},
		{"one host receives from two", []southbound.HostID{0, 1}, []southbound.HostID{2, 2},
			[]pathmap.Bytes{4 * mb, 4 * mb},
			nil, nil,
			[]time.Duration{10*time.Millisecond + over(8*mb, 500*pathmap.Mbps)}},
		{"two mice make an elephant", []southbound.HostID{0, 1}, []southbound.HostID{2, 3},
			[]pathmap.Bytes{mb / 2, mb / 2},
			nil, nil,
			[]time.Duration{10*time.Millisecond + over(mb/2, 500*pathmap.Mbps)}},
		{"a mouse", []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{mb - 1}, nil, nil, nil},
		{"within a rack", []southbound.HostID{0}, []southbound.HostID{1}, []pathmap.Bytes{9 * mb},
			nil, nil, nil},
		{"a rack without port", []southbound.HostID{0}, []southbound.HostID{7}, []pathmap.Bytes{9 * mb},
			func(s *topo.Spec) {
				s.Ports = 3
			}, nil, nil},
		{"no OCS", []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{9 * mb},
			func(s *topo.Spec) { s.Kind, s.OCS, s.Dark = topo.LeafSpine, 0, 0 }, nil, nil},
		{"not started", []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{9 * mb}, nil,
			func(v *controller.View) { v.Coflows[0].Started = false }, nil},
		{"an elephant nearly done", []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{9 * mb}, nil,
			func(v *controller.View) { v.Coflows[0].Remaining.Base[0] = 1000 }, nil},
		{"lit already", []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{4 * mb}, nil,
			func(v *controller.View) {
				v.Circuits = []controller.CircuitView{{Out: 1, Phase: controller.InService},
					{Out: southbound.NoPort}}
			}, []time.Duration{over(4*mb, 500*pathmap.Mbps)}},
		{"a dark link to the OCS", []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{4 * mb}, nil,
			func(v *controller.View) {
				v.Down = make([]bool, len(v.Fabric.Topology.Links()))
				v.Down[v.Fabric.Topology.OutPort(v.Fabric.ToRNode[1], v.Fabric.OCSUplink[1])] = true
			}, nil},
		{"both ports held for a while", []southbound.HostID{0}, []southbound.HostID{2},
			[]pathmap.Bytes{4 * mb}, nil,
			func(v *controller.View) {
				v.Reserved = []controller.CircuitReservation{{NotBefore: 0, NotAfter: 2 * time.Second, In: 0, Out: 1,
					Coflow: controller.AnyCoflow}}
			}, nil}, // the one that stands carries it
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := view(t, tc.src, tc.dst, tc.size, tc.spec)
			if tc.change != nil {
				tc.change(v)
			}
			p := reserve(v)
			var got []time.Duration
			for _, r := range p.Reserve {
				got = append(got, r.NotAfter-r.NotBefore)
				if r.Fallback != controller.Packets {
					t.Errorf("host flows are held: %+v", r)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("reserved for %v, want %v", got, tc.want)
			}
		})
	}
}

// TestWeight: of two coflows for the same ports the shorter goes first, unless the longer has a weight
// to match.
func TestWeight(t *testing.T) {
	for _, tc := range []struct {
		weight func(southbound.CoflowID) float64
		first  southbound.CoflowID
	}{{nil, 4}, {func(c southbound.CoflowID) float64 {
		return map[southbound.CoflowID]float64{3: 1,
			4: 1}[c]
	}, 4},
		{func(c southbound.CoflowID) float64 { return map[southbound.CoflowID]float64{3: 5, 4: 1}[c] }, 3},
		{func(c southbound.CoflowID) float64 { return map[southbound.CoflowID]float64{3: 1, 4: .1}[c] }, 3}} {
		v := view(t, []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{9e6}, nil)
		v.Coflows = append(v.Coflows, view(t, []southbound.HostID{1}, []southbound.HostID{3},
			[]pathmap.Bytes{4e6},
			nil).Coflows[0])
		v.Coflows[1].ID = 4
		var p controller.Plan
		p.Reset()
		Sunflow{Weight: tc.weight}.Fill(v, nil, &p)
		if len(p.Reserve) != 2 || p.Reserve[0].Coflow != tc.first {
			t.Errorf("%+v, want coflow %d first", p.Reserve, tc.first)
		}
	}
}

// TestOwnReservationsCarry: a coflow's existing reservations count for the time in which they carry
// bytes, which is their length without the reconfiguration delay of each; if that is enough, nothing is
// added.
func TestOwnReservationsCarry(t *testing.T) {
	const ms = time.Millisecond
	need := controller.Wire(4e6).Over(500 * pathmap.Mbps)
	for _, tc := range []struct {
		name  string
		long  []time.Duration // of the reservations that stand, one every second
		added int
	}{
		{"one", []time.Duration{need + 10*ms}, 0},
		{"one, but for less than a reconfiguration delay", []time.Duration{need + 1*ms}, 0},
		{"two", []time.Duration{need/2 + 10*ms, need/2 + 10*ms}, 0},
		{"two that forget the delay", []time.Duration{need/2 - 1*ms, need/2 - 1*ms}, 1},
		{"three that forget the delay", []time.Duration{need / 3, need / 3, need / 3}, 1},
		{"three that are mostly delay", []time.Duration{10 * ms, 9 * ms, need}, 0},
	} {
		v := view(t, []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{4e6}, nil)
		// The ports are another's until the first: nothing could begin earlier.
		v.Reserved = []controller.CircuitReservation{{NotAfter: 2 * time.Second, In: 0, Out: 2,
			Coflow: controller.AnyCoflow}}
		for i, long := range tc.long {
			from := 2*time.Second + time.Duration(i)*long
			if i > 0 {
				from = v.Reserved[i].NotAfter + 5*ms // not the same circuit going on
			}
			v.Reserved = append(v.Reserved, controller.CircuitReservation{NotBefore: from,
				NotAfter: from + long, In: 0, Out: 1,
				Coflow: 3})
		}
		if p := reserve(v); len(p.Reserve) != tc.added || len(p.Withdraw) > 0 {
			t.Errorf("%s: reserves %s and withdraws %v; want %d more", tc.name, circuits(v, p),
				p.Withdraw, tc.added)
		}
	}
}

// TestEstimatedElephants: of estimated traffic only elephants between different racks get circuits, and
// nothing gets none, whatever counts as an elephant.
func TestEstimatedElephants(t *testing.T) {
	for _, tc := range []struct {
		name      string
		in, out   int
		bytes     pathmap.Bytes
		threshold pathmap.Bytes
		want      int
	}{
		{"an elephant", 0, 1, 1e7, 1e7, 1}, {"a mouse", 0, 1, 1e7 - 1, 1e7, 0}, {"nothing", 0, 1, 0, 0, 0},
		{"a byte, where each counts", 0, 1, 1, 0, 1}, {"within a rack", 2, 2, 1e9, 1e6, 0},
		{"from the last rack", 3, 0, 2e6, 1e6, 1},
	} {
		v := view(t, nil, nil, nil, nil)
		v.Coflows, v.ElephantThreshold = nil, tc.threshold
		v.Traffic = &controller.Traffic{At: v.Now, Next: v.Now + time.Second, Bytes: make([][]pathmap.Bytes, 4)}
		for i := range v.Traffic.Bytes {
			v.Traffic.Bytes[i] = make([]pathmap.Bytes, 4)
		}
		v.Traffic.Bytes[tc.in][tc.out] = tc.bytes
		p := reserve(v)
		if len(p.Reserve) != tc.want || tc.want == 1 &&
			(int(p.Reserve[0].In) != tc.in || int(p.Reserve[0].Out) != tc.out ||
				p.Reserve[0].Coflow != controller.AnyCoflow) {
			t.Errorf("%s: reserves %s", tc.name, circuits(v, p))
		}
	}
}

// TestFirstOfEqualWavelengths: with nothing to carry yet a pair is given the first wavelength.
func TestFirstOfEqualWavelengths(t *testing.T) {
	v := view(t, []southbound.HostID{0, 2}, []southbound.HostID{2, 4}, []pathmap.Bytes{9e6, 9e6},
		func(s *topo.Spec) { s.Waves = 3 })
	if got := circuits(v, reserve(v)); !strings.HasPrefix(got, "0>1 ") || !strings.Contains(got, ", 1>2 ") {
		t.Errorf("reserves %s, want 0>1 and 1>2 of the first wavelength", got)
	}
}

// TestWithdrawsOnce: of coflows that are in demand no more each is named once, in order, however much
// stands for it.
func TestWithdrawsOnce(t *testing.T) {
	v := view(t, []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{4e6}, nil)
	for k, c := range []southbound.CoflowID{9, 7, 9, 7, 7} {
		from := time.Duration(5+k) * time.Second
		v.Reserved = append(v.Reserved, controller.CircuitReservation{NotBefore: from,
			NotAfter: from + time.Second, In: 2,
			Out: 3, Coflow: c})
	}
	if p := reserve(v); !slices.Equal(p.Withdraw, []southbound.CoflowID{7, 9}) || len(p.Reserve) != 1 {
		t.Errorf("withdraws %v and reserves %s", p.Withdraw, circuits(v, p))
	}
}

// TestBareCoflowThatArrives: fixed flows that are placed in the same plan are planned for; a stage's
// edge is not.
func TestBareCoflowThatArrives(t *testing.T) {
	v := view(t, nil, nil, nil, nil)
	v.Coflows = nil
	v.Waiting = []*controller.Job{
		{ID: 0, FirstCoflow: 7, Edges: []controller.Edge{{Kind: controller.Fixed,
			Flows: []controller.Flow{{Src: 0, Dst: 2, Bytes: 5e6}}}}},
		{ID: 1, FirstCoflow: 8, Stages: make([]controller.Stage, 2),
			Edges: []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 9e7}}},
	}
	for i := range v.Waiting[1].Stages {
		v.Waiting[1].Stages[i].Tasks = make([]controller.Task, 1)
	}
	p := controller.Plan{Wake: southbound.Never,
		Place: []controller.Placement{{Job: 0}, {Job: 1, Hosts: []southbound.HostID{0, 5}}}}
	Sunflow{}.Fill(v, nil, &p)
	if len(p.Reserve) != 1 || p.Reserve[0].Coflow != 7 || p.Reserve[0].NotBefore != v.Now {
		t.Errorf("reserved %+v, want coflow 7 from now on", p.Reserve)
	}
}

// TestShorterFirst: of two coflows for the same ports the one with the smaller T(C) goes first,
// whatever their ids.
func TestShorterFirst(t *testing.T) {
	v := view(t, []southbound.HostID{0}, []southbound.HostID{2}, []pathmap.Bytes{50e6}, nil)
	c := v.Coflows[0]
	c.ID, c.Size, c.Remaining.Base = 9, []pathmap.Bytes{5e6}, []float64{5e6}
	v.Coflows = append(v.Coflows, c)
	p := reserve(v)
	if len(p.Reserve) != 2 || p.Reserve[0].Coflow != 9 || p.Reserve[1].NotBefore != p.Reserve[0].NotAfter {
		t.Fatalf("reserved %+v, want coflow 9, then 3", p.Reserve)
	}
	// The same circuit goes on: no reconfiguration delay in between.
	if got, want := p.Reserve[1].NotAfter-p.Reserve[1].NotBefore, controller.Wire(50e6).
		Over(500*pathmap.Mbps); got != want {
		t.Errorf("coflow 3 is given %v, want %v", got, want)
	}
}

// BenchmarkSunflow plans from nothing: that many coflows on that many racks, each of up to 16 × 16 racks.
func BenchmarkSunflow(b *testing.B) {
	for _, size := range [][2]int{{16, 20}, {60, 100}, {150, 300}} {
		racks, coflows := size[0], size[1]
		rng := rand.New(rand.NewPCG(1, 8))
		r := newReplay(b, racks, 10*time.Millisecond)
		for id := range southbound.CoflowID(coflows) {
			m := uniform(racks, 0)
			for range 1 + rng.IntN(1+rng.IntN(256)) {
				m[rng.IntN(racks)][rng.IntN(racks)] = time.Millisecond + time.Duration(rng.Int64N(int64(100*time.Millisecond)))
			}
			r.add(0, id, m)
			r.v.Coflows = append(r.v.Coflows, r.arrive[id].coflow)
		}
		b.Run(fmt.Sprintf("racks_%d_coflows_%d", racks, coflows), func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = len(reserve(r.v).Reserve)
			}
			b.ReportMetric(float64(n), "reservations")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(coflows), "µs/coflow")
		})
		b.Run(fmt.Sprintf("again_racks_%d_coflows_%d", racks, coflows), func(b *testing.B) {
			r.v.Reserved = slices.Clone(reserve(r.v).Reserve)
			for b.Loop() {
				if p := reserve(r.v); len(p.Withdraw) > coflows/10 {
					b.Fatalf("%d coflows planned anew though nothing happened", len(p.Withdraw))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(coflows), "µs/coflow")
		})
	}
}

// TestOnly: pairs that Only does not want are left out, and their reservations are withdrawn; if it
// wants all pairs, the plan is the same as without Only.
func TestOnly(t *testing.T) {
	kept := 0
	for seed := range uint64(300) {
		v := policytest.View(seed)
		var plain, all, half controller.Plan
		for _, try := range []struct {
			p *controller.Plan
			s Sunflow
		}{
			{&plain, Sunflow{}},
			{&all, Sunflow{Only: func(southbound.CoflowID, southbound.Port, southbound.Port) bool {
				return true
			}}},
			{&half, Sunflow{Only: func(_ southbound.CoflowID, in, _ southbound.Port) bool { return in%2 == 0 }}},
		} {
			try.p.Reset()
			try.s.Fill(v, nil, try.p)
		}
		if a, b := fmt.Sprintf("%+v", plain), fmt.Sprintf("%+v", all); a != b {
			t.Fatalf("view %d: %s, without Only %s", seed, b, a)
		}
		for _, r := range half.Reserve {
			if r.In%2 != 0 {
				t.Fatalf("view %d: %+v is not wanted", seed, r)
			}
		}
		kept += len(half.Reserve)
		for _, r := range v.Reserved {
			if r.NotBefore > v.Now && r.In%2 != 0 && !slices.Contains(half.Withdraw, r.Coflow) {
				t.Fatalf("view %d: %+v still stands", seed, r)
			}
		}
	}
	if kept == 0 {
		t.Error("nothing was reserved")
	}
}

// TestNothingToReserve: without an optical switch, or by an estimate of bytes that is not of this
// instant, no circuit is reserved or withdrawn, and nothing is looked at.
func TestNothingToReserve(t *testing.T) {
	hosts := []southbound.HostID{0}
	fresh := func(change func(*controller.View)) *controller.View {
		v := view(t, hosts, []southbound.HostID{2}, []pathmap.Bytes{4e6}, nil)
		change(v)
		return v
	}
	stale := &controller.Traffic{At: time.Second / 2, Bytes: [][]pathmap.Bytes{{0, 4e6}, {0, 0}}}
	packets, err := topo.New(topo.Spec{Kind: topo.LeafSpine, Racks: 2, Hosts: 2, Spines: 1, EPS: pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	if p := reserve(fresh(func(*controller.View) {})); len(p.Reserve) != 1 {
		t.Fatalf("with both, %+v", p)
	}
	for name, v := range map[string]*controller.View{
		"no optical switch": fresh(func(v *controller.View) { v.Fabric = packets }),
		"a stale estimate":  fresh(func(v *controller.View) { v.Traffic = stale }),
	} {
		var p controller.Plan
		p.Reset()
		m := new(memory)
		Sunflow{memory: m}.Fill(v, nil, &p)
		if len(p.Reserve)+len(p.Withdraw) > 0 || p.Wake != southbound.Never {
			t.Errorf("%s: %+v", name, p)
		}
		if !reflect.DeepEqual(m, new(memory)) {
			t.Errorf("%s: the view was looked at", name)
		}
	}
}
