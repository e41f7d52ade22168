package loop_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// pledging is a loop on a fabric of one rack's pair over two spines of 1 Gb/s, its devices never heard of.
type pledging struct {
	s   *state.State
	l   *loop.Loop
	m   *pathmap.Map
	now time.Duration
}

func newPledging(t *testing.T) *pledging {
	t.Helper()
	spec, err := topo.ParseSpec("leafspine:racks=2,hosts=2,spines=2,eps=1Gbps,nic=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	p := &pledging{s: state.New(f)}
	if p.m, err = f.PathMap(2, 1); err != nil {
		t.Fatal(err)
	}
	p.l = loop.New(f, loop.Config{Policy: silent{}, Paths: p.m})
	return p
}

type silent struct{}

func (silent) Wants() controller.KindSet             { return controller.Kinds(controller.FabricChanged) }
func (silent) Capabilities() controller.Capabilities { return controller.Capabilities{} }
func (silent) Decide(*controller.View, []controller.Event) *controller.Plan {
	return &controller.Plan{Wake: southbound.Never}
}

// ask steps until nothing more happens and returns the refusals, by ask.
func (p *pledging) ask(t *testing.T, requests ...loop.BandwidthRequest) []error {
	t.Helper()
	refused := make([]error, len(requests))
	for i := range requests {
		requests[i].Refused = func(err error) { refused[i] = err }
	}
	in := loop.Inputs{BandwidthRequests: requests}
	for {
		entries, _, wake := p.l.Step(p.s, p.now, in)
		if err := p.s.ApplyAll(entries); err != nil {
			t.Fatal(err)
		}
		in = loop.Inputs{}
		if wake > p.now {
			return refused
		}
	}
}

// TestBandwidthReservations: two paths of 0.9 Gb/s each may be reserved; the third request is refused
// with what is left, until one is given back or runs out. A request said twice is granted once.
func TestBandwidthReservations(t *testing.T) {
	p := newPledging(t)
	request := func(req string, rate pathmap.BitsPerSecond, life time.Duration) loop.BandwidthRequest {
		return loop.BandwidthRequest{Request: req, Owner: "nimbus", Src: 0, Dst: 2, Rate: rate, Lifetime: life}
	}
	got := p.ask(t, request("a", 900*pathmap.Mbps, 0), request("b", 800*pathmap.Mbps, time.Second),
		request("c", 200*pathmap.Mbps, 0), request("a", 900*pathmap.Mbps, 0))
	if got[0] != nil || got[1] != nil || !errors.Is(got[2], state.ErrNoRoom) || got[3] != nil ||
		len(p.s.BandwidthReservations()) != 2 {
		t.Fatalf("refused %v, %d stand", got, len(p.s.BandwidthReservations()))
	}
	if a, b := p.s.BandwidthReservations()[0], p.s.BandwidthReservations()[1]; a.Tag == b.Tag ||
		a.Until != southbound.Never ||
		b.Until != time.Second {
		t.Errorf("%+v and %+v", a, b)
	}
	if b, err := loop.Bandwidths(p.s, p.m, []loop.Pair{{Src: 1, Dst: 3}, {Src: 0, Dst: 1}}); err != nil ||
		b[0].Unreserved != 100*pathmap.Mbps || b[0].Fair != 200*pathmap.Mbps || b[0].Paths != 2 ||
		b[1].Unreserved != 9*pathmap.Gbps-1700*pathmap.Mbps {
		t.Errorf("%+v, %v", b, err)
	}
	for src := southbound.HostID(-1); src <= 4; src++ {
		for dst := southbound.HostID(-1); dst <= 4; dst++ {
			ok := src != dst && min(src, dst) >= 0 && max(src, dst) < 4
			_, err := loop.Bandwidths(p.s, p.m, []loop.Pair{{Src: 0, Dst: 1}, {Src: src, Dst: dst}})
			if _, found := loop.Widest(p.s, p.m, src, dst, nil); (err == nil) != ok || (found == nil) != ok {
				t.Errorf("from host %d to %d of four: %v, %v", src, dst, err, found)
			}
		}
	}
	if _, err := loop.Bandwidths(p.s, p.m, make([]loop.Pair, loop.MaxPairs+1)); err == nil ||
		!strings.Contains(err.Error(), "65537 pairs") {
		t.Errorf("too many pairs: %v", err)
	}
	if _, err := loop.Bandwidths(p.s, p.m, slices.Repeat([]loop.Pair{{Src: 0, Dst: 1}},
		loop.MaxPairs)); err != nil {
		t.Errorf("as many pairs as may be: %v", err)
	}
	p.now = time.Second
	if got := p.ask(t, request("d", 800*pathmap.Mbps, 0)); len(p.s.BandwidthReservations()) != 1 ||
		got[0] == nil {
		// b runs out in this very pass; the request came before it
		t.Fatalf("refused %v, %d stand", got, len(p.s.BandwidthReservations()))
	}
	if got := p.ask(t, request("d", 800*pathmap.Mbps, 0), loop.BandwidthRequest{Release: 1},
		loop.BandwidthRequest{Release: 7}); got[0] != nil ||
		got[1] != nil || !errors.Is(got[2], loop.ErrNoBandwidthReservation) {
		t.Fatal(got)
	}
	if len(p.s.BandwidthReservations()) != 1 || p.s.BandwidthReservations()[0].ID != 3 {
		t.Errorf("%+v", p.s.BandwidthReservations())
	}
	if got := p.ask(t, loop.BandwidthRequest{Request: "x", Src: 0, Dst: 0, Rate: 1},
		loop.BandwidthRequest{Request: "y", Src: 0, Dst: 2, Rate: -5}); got[0] == nil || got[1] == nil {
		t.Error(got)
	}
}

// TestFairBesideHostFlows: one more connection would get an even part of the best path, shared with the
// host flows there. Those whose tag has no path use the default one; those on circuits, held, over or
// within a rack use none.
func TestFairBesideHostFlows(t *testing.T) {
	one, two := southbound.PathTag(0), southbound.PathTag(1)
	for _, tc := range []struct {
		name string
		tags [3]southbound.Tag // of 0→2, 0→3 and, within a rack, 0→1
		over int               // how many of them have ended
		want pathmap.BitsPerSecond
	}{
		{"both on one path", [3]southbound.Tag{one, one, one}, 0, pathmap.Gbps},
		{"one on each", [3]southbound.Tag{one, two, one}, 0, pathmap.Gbps / 2},
		{"on the second and by default", [3]southbound.Tag{two, southbound.TagDefault, two}, 0,
			pathmap.Gbps / 2},
		{"on a path that there is none", [3]southbound.Tag{southbound.PathTag(2), two, one}, 0,
			pathmap.Gbps / 2},
		{"far beyond", [3]southbound.Tag{two, southbound.PathTag(5), one}, 0, pathmap.Gbps / 2},
		{"one has ended", [3]southbound.Tag{one, two, one}, 1, pathmap.Gbps},
	} {
		p := newPledging(t)
		job := &controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed, Flows: []controller.Flow{
			{Src: 0, Dst: 1, Bytes: 9}, {Src: 0, Dst: 2, Bytes: 9}, {Src: 0, Dst: 3, Bytes: 9}}}}}
		entries := []state.Entry{{Kind: state.JobAccepted, Job: job},
			{Kind: state.Placed, Placement: &controller.Placement{}},
			{Kind: state.Routed, Routing: &controller.Routing{Tags: []southbound.Tag{tc.tags[2],
				tc.tags[0], tc.tags[1]}}},
			{Kind: state.CoflowStarted}}
		for row := range tc.over {
			entries = append(entries, state.Entry{Kind: state.HostFlowEnded, Row: int32(row + 1)})
		}
		if err := p.s.ApplyAll(entries); err != nil {
			t.Fatal(err)
		}
		b, err := loop.Bandwidths(p.s, p.m, []loop.Pair{{Src: 1, Dst: 3}})
		if err != nil || b[0].Fair != tc.want || b[0].Paths != 2 {
			t.Errorf("%s: %+v, %v; want %v", tc.name, b, err, tc.want)
		}
	}
}

// TestFairBesideCircuits: host flows that wait for a circuit, or are on it, take nothing of the one
// path over packets.
func TestFairBesideCircuits(t *testing.T) {
	begun := []state.Entry{{Kind: state.CircuitReservationBegun}, {Kind: state.CircuitIntended, Out: 1}}
	for _, tc := range []struct {
		name     string
		fallback controller.Fallback
		entries  []state.Entry
		want     pathmap.BitsPerSecond
	}{
		{"over packets meanwhile", controller.Packets, begun, pathmap.Gbps / 2},
		{"held", controller.Hold, begun, pathmap.Gbps},
		{"on the circuit", controller.Packets, append(slices.Clone(begun),
			state.Entry{Kind: state.CircuitSettled, Out: 1,
				OK: true}), pathmap.Gbps},
	} {
		spec, err := topo.ParseSpec("hybrid:racks=2,hosts=2,spines=1,eps=1Gbps,nic=10Gbps,ocs=10Gbps,dark=10ms")
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.PathMap(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := state.New(f)
		job := &controller.Job{Edges: []controller.Edge{{Kind: controller.Fixed, Flows: []controller.Flow{
			{Src: 0, Dst: 2, Bytes: 9}}}}}
		entries := append([]state.Entry{{Kind: state.JobAccepted, Job: job},
			{Kind: state.Placed, Placement: &controller.Placement{}},
			{Kind: state.Routed, Routing: &controller.Routing{Tags: []southbound.Tag{southbound.PathTag(0)}}},
			{Kind: state.CircuitReserved, CircuitReservation: &controller.CircuitReservation{Out: 1,
				NotAfter: time.Hour,
				Fallback: tc.fallback}}, {Kind: state.CoflowStarted}}, tc.entries...)
		if err := s.ApplyAll(entries); err != nil {
			t.Fatal(err)
		}
		b, err := loop.Bandwidths(s, m, []loop.Pair{{Src: 1, Dst: 3}})
		if err != nil || b[0].Fair != tc.want || b[0].Paths != 1 {
			t.Errorf("%s: %+v, %v; want %v", tc.name, b, err, tc.want)
		}
	}
}

// TestBandwidthReservationsNeverExceed: whatever is asked and given back, no link carries more
// reservations than it may, a restored replica agrees, and the sums are those of the list.
func TestBandwidthReservationsNeverExceed(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := newPledging(t)
		for range 40 {
			p.now += time.Duration(r.IntN(50)) * time.Millisecond
			a := loop.BandwidthRequest{Src: southbound.HostID(r.IntN(4)), Dst: southbound.HostID(r.IntN(4)),
				Rate:     pathmap.BitsPerSecond(r.Int64N(int64(pathmap.Gbps))),
				Lifetime: time.Duration(r.IntN(300)) * time.Millisecond}
			if r.IntN(4) == 0 {
				a = loop.BandwidthRequest{Release: controller.BandwidthReservationID(1 + r.IntN(10))}
			}
			p.ask(t, a)
			sum := map[pathmap.LinkID]pathmap.BitsPerSecond{}
			for _, g := range p.s.BandwidthReservations() {
				if g.Until <= p.now {
					t.Fatalf("seed %d: %+v stands at %v", seed, g, p.now)
				}
				for _, l := range g.Links {
					sum[l] += g.Rate
				}
			}
			for l, link := range p.s.Fabric().Topology.Links() {
				if x := sum[pathmap.LinkID(l)]; x > controller.ReservableBandwidth(link.Capacity) ||
					x != p.s.ReservedBandwidth(pathmap.LinkID(l)) {
					t.Fatalf("seed %d: link %d of %v has %v reserved, the state says %v", seed, l, link.Capacity, x,
						p.s.ReservedBandwidth(pathmap.LinkID(l)))
				}
			}
		}
		snap, err := p.s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		o := state.New(p.s.Fabric())
		if err := o.Restore(snap); err != nil || o.Digest() != p.s.Digest() || o.Boundary() != p.s.Boundary() {
			t.Fatalf("seed %d: restored: %v", seed, err)
		}
	}
}
