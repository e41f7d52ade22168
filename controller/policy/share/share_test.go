package share

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func view(t *testing.T) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 3, Hosts: 2, Spines: 1, NIC: 500 * pathmap.Mbps,
		EPS: 50 * pathmap.Mbps, OCS: pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Three host flows leave rack 0 over one uplink of 50 Mb/s, one stays within it.
	c := controller.CoflowView{ID: 1, Generation: 1, Started: true, Routed: true,
		Src: []southbound.HostID{0, 0, 1, 0}, Dst: []southbound.HostID{1, 2, 2,
			4}, Size: []pathmap.Bytes{9, 9, 9, 9},
		Tag: []southbound.Tag{0, 1, 1, 1}, Ended: make([]bool, 4),
		Remaining: southbound.Remaining{F: 1, Base: []float64{9, 9, 9, 9}}}
	return &controller.View{Fabric: f, Paths: m, Coflows: []controller.CoflowView{c},
		Circuits: make([]controller.CircuitView, 3)}
}

func fill(m *MaxMin, v *controller.View) *southbound.Rates {
	var p controller.Plan
	m.Fill(v, nil, &p)
	return p.Share
}

func rates(r *southbound.Rates) map[class]pathmap.BitsPerSecond {
	all := map[class]pathmap.BitsPerSecond{}
	if r != nil {
		for _, p := range r.Pairs {
			all[class{p.Src, p.Dst, p.Tag}] = p.Rate
		}
	}
	return all
}

func TestMaxMin(t *testing.T) {
	third := 50 * pathmap.Mbps / 3
	local := 500*pathmap.Mbps - 2*third // what host 0's link has left
	m, v := &MaxMin{}, view(t)
	steps := []struct {
		name   string
		change func()
		want   map[class]pathmap.BitsPerSecond // what is said
	}{
		{"all on packets", func() {}, map[class]pathmap.BitsPerSecond{{0, 1, 0}: local,
			{0, 2, 1}: third, {1, 2, 1}: third,
			{0, 4, 1}: third}},
		{"nothing new", func() {}, nil},
		{"one ends", func() { v.Coflows[0].Ended[2] = true },
			map[class]pathmap.BitsPerSecond{{0, 1, 0}: 450 * pathmap.Mbps,
				{0, 2, 1}: 25 * pathmap.Mbps, {0, 4, 1}: 25 * pathmap.Mbps}},
		{"one moves to a circuit", func() {
			v.Circuits[0] = controller.CircuitView{Out: 1, Phase: controller.InService, Held: true, Coflow: 1}
		}, map[class]pathmap.BitsPerSecond{{0, 1, 0}: 225 * pathmap.Mbps, {0, 2,
			southbound.TagCircuit}: 225 * pathmap.Mbps,
			{0, 4, 1}: 50 * pathmap.Mbps}},
		{"a circuit of another coflow carries none", func() { v.Circuits[0].Coflow = 2 },
			map[class]pathmap.BitsPerSecond{
				{0, 1, 0}: 450 * pathmap.Mbps, {0, 4, 1}: 25 * pathmap.Mbps}},
		{"one is held for its circuit", func() {
			v.Reserved = []controller.CircuitReservation{{In: 0, Out: 1, Coflow: 1, NotAfter: 1,
				Fallback: controller.Hold}}
		}, map[class]pathmap.BitsPerSecond{{0, 4, 1}: 50 * pathmap.Mbps}},
	}
	for _, s := range steps {
		s.change()
		r := fill(m, v)
		if (r == nil) != (s.want == nil) {
			t.Fatalf("%s: says %+v", s.name, r)
		}
		got := rates(r)
		for c, want := range s.want {
			if d := got[c] - want; d < -3 || d > 3 { // whole bits, rounded down
				t.Errorf("%s: class %+v has %v, want %v", s.name, c, got[c], want)
			}
		}
		if len(got) != len(s.want) {
			t.Errorf("%s: says %+v, want %+v", s.name, got, s.want)
		}
	}
}

// TestMaxMinCountsHostFlows: two host flows of a class have each half of what one has.
func TestMaxMinCountsHostFlows(t *testing.T) {
	v := view(t)
	c := v.Coflows[0]
	c.ID = 2
	v.Coflows = append(v.Coflows, c)
	if got, want := rates(fill(&MaxMin{}, v))[class{0, 2, 1}], 50*pathmap.Mbps/6; got != want {
		t.Errorf("rate %v, want %v", got, want)
	}
}

func TestTCPSaysFairOnce(t *testing.T) {
	var tcp TCP
	var p controller.Plan
	tcp.Fill(nil, nil, &p)
	if p.Share == nil || !p.Share.Fair {
		t.Errorf("first: %+v", p.Share)
	}
	p.Share = nil
	tcp.Fill(nil, nil, &p)
	if p.Share != nil {
		t.Errorf("second: %+v", p.Share)
	}
}

// TestCounted holds the tables of pairs against sorting.
func TestCounted(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 41))
		hosts := 2 + r.IntN(9)
		var all []class
		for range r.IntN(200) {
			all = append(all, class{southbound.HostID(r.IntN(hosts)), southbound.HostID(r.IntN(hosts)),
				southbound.Tag(r.IntN(4) * 2)})
		}
		classes, flows := counted(all, hosts)
		slices.SortFunc(all, class.compare)
		var got []class
		for i, c := range classes {
			for range flows[i] {
				got = append(got, c)
			}
		}
		if !slices.Equal(got, all) {
			t.Fatalf("seed %d: %v, want %v", seed, got, all)
		}
	}
}

// TestLinksFollowCircuits: what is remembered of paths over packets is not what a circuit takes, which
// may move to another wavelength.
func TestLinksFollowCircuits(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 3, Hosts: 2, Spines: 2, EPS: 50 * pathmap.Mbps,
		OCS: pathmap.Gbps, Waves: 2})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(southbound.MaxPaths, 1)
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Fabric: f, Paths: m, Circuits: make([]controller.CircuitView, f.OCSPorts())}
	used := &MaxMin{}
	for _, ports := range [][2]southbound.Port{{0, 1}, {3, 4}, {0, 1}} {
		for in := range v.Circuits {
			v.Circuits[in] = controller.CircuitView{Out: southbound.NoPort}
		}
		v.Circuits[ports[0]] = controller.CircuitView{Out: ports[1], Phase: controller.InService}
		for _, tag := range []southbound.Tag{southbound.TagCircuit, southbound.PathTag(0),
			southbound.PathTag(1)} {
			c := class{0, 2, tag}
			got, want := used.links(v, c), links(v, c)
			if !slices.Equal(got, want) {
				t.Errorf("circuit %v: tag %d takes links %v, want %v", ports, tag, got, want)
			}
			if tag == southbound.TagCircuit && (len(got) != 4 ||
				f.Topology.Link(got[1]).ToPort != int32(ports[0]) ||
				f.Topology.Link(got[2]).FromPort != int32(ports[1])) {
				t.Errorf("circuit %v takes links %v", ports, got)
			}
		}
	}
}

// TestUnknownPathsAreDefault: a tag that the path map does not know, from the first one on, takes the
// default way.
func TestUnknownPathsAreDefault(t *testing.T) {
	v := view(t)
	n := v.Paths.Paths(0, 1)
	want := links(v, class{0, 2, southbound.PathTag(0)})
	if len(want) < 4 {
		t.Fatalf("path 0 takes links %v", want)
	}
	for _, tag := range []southbound.Tag{southbound.TagDefault, southbound.PathTag(n),
		southbound.PathTag(n + 1)} {
		if got := links(v, class{0, 2, tag}); !slices.Equal(got, want) {
			t.Errorf("%d paths, tag %d: takes links %v, want %v", n, tag, got, want)
		}
	}
}

// TestBlockedHostHolds: Aalo lets a host of a coflow send nothing, also within its rack, where one of
// its host flows finds the link out of the rack taken: host flows of one host share its rate.
func TestBlockedHostHolds(t *testing.T) {
	v := view(t)
	first, second := v.Coflows[0], v.Coflows[0]
	first.Src, first.Dst = []southbound.HostID{1}, []southbound.HostID{2}
	first.Size, first.Tag, first.Ended = first.Size[:1], []southbound.Tag{1}, make([]bool, 1)
	first.Remaining.Base = first.Remaining.Base[:1]
	second.ID, second.Arrival = 2, 1
	second.Src, second.Dst = []southbound.HostID{0, 0}, []southbound.HostID{1, 2}
	second.Size, second.Tag, second.Ended = second.Size[:2], []southbound.Tag{0, 1}, make([]bool, 2)
	second.Remaining.Base = second.Remaining.Base[:2]
	v.Coflows = []controller.CoflowView{first, second}
	p := controller.Plan{Wake: southbound.Never}
	NewDCLAS().Fill(v, nil, &p)
	if err := policytest.Check(v, &p); err != nil {
		t.Error(err)
	}
	if got := atPorts(p.Share, &v.Coflows[0], 0); got != 50*pathmap.Mbps {
		t.Errorf("the first has %v, want all of the uplink", got)
	}
	if from := p.Share.Spread[1].From; p.Share.Spread[1].Coflow != 2 || len(from) > 0 {
		t.Errorf("the second is told %+v, want nothing of host 0", p.Share.Spread[1])
	}
}

// TestSpreadNamesBothEnds: a spread names the rate of a lone host flow at both its ends.
func TestSpreadNamesBothEnds(t *testing.T) {
	v := crossbar(t, []flow{{0, 1, 5}, {2, 3, 5}, {4, 3, 5}})
	p := controller.Plan{Wake: southbound.Never}
	NewDCLAS().Fill(v, nil, &p)
	for row, want := range []pathmap.BitsPerSecond{pathmap.Gbps, pathmap.Gbps / 2, pathmap.Gbps / 2} {
		if got := atPorts(p.Share, &v.Coflows[0], row); got != want {
			t.Errorf("row %d has %v, want %v: %+v", row, got, want, p.Share.Spread)
		}
	}
}
