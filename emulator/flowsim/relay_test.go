package flowsim

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// carousel turns the circuits of four racks by hand: slots of 100 ms, 10 of them dark, 8 Gb/s, a byte a
// nanosecond.
type carousel struct {
	*Sim
	t    *testing.T
	down []southbound.Event
}

var turns = southbound.Relay{Slot: 100 * time.Millisecond, ReconfigurationDelay: 10 * time.Millisecond}

func newCarousel(t *testing.T) *carousel {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: 4, EPS: 8 * pathmap.Gbps,
		Dark: turns.ReconfigurationDelay})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(f, Options{Seed: 1, NoHeaders: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Host().(southbound.Relayer).Relay(turns); err != nil {
		t.Fatal(err)
	}
	return &carousel{Sim: s, t: t}
}

// slot plays one slot from its beginning to its end. Host flows of coflow 0 whose circuit it is are
// steered to it.
func (c *carousel) slot(k int, rows [][2]southbound.HostID) {
	c.t.Helper()
	f, n := c.fabric, 4
	set := func(id southbound.DeviceID, change southbound.Change) {
		if err := c.Device(id).Set(context.Background(), &change); err != nil {
			c.t.Fatal(err)
		}
	}
	var on southbound.Change
	for i := range n {
		on.Connect = append(on.Connect, southbound.CrossConnect{In: southbound.Port(i),
			Out: southbound.Port((i + k%(n-1) + 1) % n)})
	}
	set(f.OCSNode, on)
	c.to(turns.ReconfigurationDelay)
	var steers []southbound.Steer
	for i, x := range on.Connect {
		match := southbound.Match{Dst: southbound.RackID(x.Out), Tag: southbound.TagCircuit,
			Src: southbound.AnyRack}
		set(f.ToRNode[i], southbound.Change{Rules: []southbound.Rule{{Match: match,
			Primary: southbound.Port(f.OCSUplink[i]),
			Backup:  southbound.NoPort}}})
		for row, r := range rows {
			if int(r[0]) == i && int(r[1]) == int(x.Out) {
				steers = append(steers, southbound.Steer{HostFlowKey: southbound.HostFlowKey{Row: int32(row)},
					Tag: southbound.TagCircuit})
			}
		}
	}
	c.steer(steers)
	c.to(turns.Slot - turns.ReconfigurationDelay)
	for i := range steers {
		steers[i].Tag = southbound.TagHold
	}
	c.steer(steers)
	for i, x := range on.Connect {
		set(f.ToRNode[i], southbound.Change{Drop: []southbound.Match{{Dst: southbound.RackID(x.Out),
			Tag: southbound.TagCircuit, Src: southbound.AnyRack}}})
	}
}

func (c *carousel) steer(s []southbound.Steer) {
	c.t.Helper()
	if err := c.Host().Steer(s); err != nil {
		c.t.Fatal(err)
	}
}

func (c *carousel) to(more time.Duration) {
	c.t.Helper()
	var err error
	if c.down, _, err = c.Advance(c.Now()+more, c.down, nil); err != nil {
		c.t.Fatal(err)
	}
}

func (c *carousel) start(rows [][2]southbound.HostID, size ...pathmap.Bytes) {
	c.t.Helper()
	st := southbound.Start{Size: size}
	for _, r := range rows {
		st.Src, st.Dst, st.Tag = append(st.Src, r[0]), append(st.Dst, r[1]), append(st.Tag, southbound.TagHold)
	}
	if err := errors.Join(c.Host().Start([]southbound.Start{st}),
		c.Host().SetRates(&southbound.Rates{Fair: true})); err != nil {
		c.t.Fatal(err)
	}
}

func (c *carousel) left(row int32) float64 {
	l, ok := c.Host().Remaining(0)
	if !ok {
		c.t.Fatal("coflow 0 is not known")
	}
	return l.Row(row)
}

// TestRelay follows one host flow, 0→1, of 400 ms beside a small one. Racks 2 and 3 keep 90 ms each for
// it once, and what it has left counts what they keep.
func TestRelay(t *testing.T) {
	c := newCarousel(t)
	rows := [][2]southbound.HostID{{0, 1}, {2, 3}}
	c.start(rows, 400e6, 1e6)
	// 0 leads to 1, 2, 3 in turn: 90 ms directly, and as much to be kept twice, which 2 brings in the
	// third slot and 3 in the fifth. The last 40 ms fit 0's own next slots, and go directly.
	for k, want := range []float64{310e6, 310e6, 220e6, 130e6, 40e6, 40e6, 0} {
		c.slot(k, rows)
		if got := c.left(0); math.Abs(got-want) > 1 {
			t.Errorf("after slot %d %.0f bytes are left, want %.0f", k, got, want)
		}
		if n := c.Counters(); float64(n.Delivered) < 401e6-c.left(0)-c.left(1)-2 ||
			float64(n.Delivered) > 401e6-c.left(0)-c.left(1)+2 {
			t.Errorf("after slot %d %d bytes have come, and %.0f and %.0f are left of 401 MB", k,
				n.Delivered, c.left(0),
				c.left(1))
		}
		if c.left(0) <= 0 {
			break
		}
	}
	ended := 0
	for _, e := range c.down {
		if e.Kind == southbound.HostFlowEnded {
			ended++
		}
	}
	n := c.Counters()
	if ended != 2 || n.Ends != 2 || n.Delivered != 401e6 || n.EPS != 0 || n.OCS <= 401e6 {
		t.Errorf("%d host flows are told to have ended, %d have; %d bytes have come, %d over circuits and %d over packets",
			ended, n.Ends, n.Delivered, n.OCS, n.EPS)
	}
}

// TestRelayLosesHosts: bytes that racks keep for a host flow are dropped with its host, without events.
// A rack goes on keeping bytes if its own host is lost.
func TestRelayLosesHosts(t *testing.T) {
	for _, tc := range []struct {
		lost southbound.HostID
		left bool
	}{{0, false}, {1, false}, {2, true}, {3, true}} {
		c := newCarousel(t)
		rows := [][2]southbound.HostID{{0, 1}}
		c.start(rows, 400e6)
		for k := range 3 {
			c.slot(k, rows)
		}
		before := c.left(0)
		if err := c.Fail(tc.lost, false); err != nil {
			t.Fatal(err)
		}
		if after := c.left(0); tc.left && after != before || !tc.left && after != 0 {
			t.Errorf("with host %d lost %.0f bytes are left of %.0f", tc.lost, after, before)
		}
		for k := range 4 {
			c.slot(3+k, rows)
		}
		ended := false
		for _, e := range c.down {
			ended = ended || e.Kind == southbound.HostFlowEnded
		}
		if ended != tc.left || len(c.fluid.live) != 0 {
			t.Errorf("with host %d lost the host flow's end is told: %v; %d coflows live", tc.lost, ended,
				len(c.fluid.live))
		}
	}
}

func TestRelayRefusals(t *testing.T) {
	c := newCarousel(t)
	ask := func(s *Sim, r southbound.Relay) error { return s.Host().(southbound.Relayer).Relay(r) }
	if err := ask(c.Sim, turns); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := ask(c.Sim, southbound.Relay{Slot: time.Second}); err == nil ||
		!strings.Contains(err.Error(), "they are 100ms with 10ms") {
		t.Errorf("another rotation: %v", err)
	}
	if err := ask(c.Sim, southbound.Relay{Slot: time.Millisecond,
		ReconfigurationDelay: time.Millisecond}); err == nil {
		t.Error("slots without light are taken")
	}
	for _, text := range []string{"crossbar:ports=4,rate=1Gbps", "hybrid:racks=4,hosts=1,wavelengths=2"} {
		spec, err := topo.FromArgument(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := topo.New(spec.WithDefaults())
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := ask(s, turns); !errors.Is(err, southbound.ErrUnsupported) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
