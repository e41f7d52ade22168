package flowsim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTasks(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{})
	tasks := []southbound.Task{{Task: 3, Host: 1, Compute: 5 * ms}, {Task: 1, Host: 0, Compute: 5 * ms},
		{Task: 2, Host: 7}}
	for range 2 { // the second time is nothing
		if err := s.Host().Run(tasks); err != nil {
			t.Fatal(err)
		}
	}
	if at, ok := s.Next(); !ok || at != 0 {
		t.Errorf("next at %v (%v), want 0", at, ok)
	}
	got := advance(t, s, 10*ms)
	want := []southbound.Event{
		{Kind: southbound.TaskEnded, Task: 2, Host: 7},
		{At: 5 * ms, Kind: southbound.TaskEnded, Task: 1, Host: 0},
		{At: 5 * ms, Kind: southbound.TaskEnded, Task: 3, Host: 1},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("event %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if err := s.Host().Run(tasks[:1]); err != nil { // an ended one too
		t.Fatal(err)
	}
	if ev := advance(t, s, time.Second); len(ev) != 0 {
		t.Errorf("a known task ran again: %+v", ev)
	}
}

func TestBadInput(t *testing.T) {
	rowsOf := func(src, dst southbound.HostID, size pathmap.Bytes, tag southbound.Tag) []southbound.Start {
		return []southbound.Start{{Coflow: 9, Src: []southbound.HostID{src}, Dst: []southbound.HostID{dst},
			Size: []pathmap.Bytes{size}, Tag: []southbound.Tag{tag}}}
	}
	pairOf := func(src, dst southbound.HostID, tag southbound.Tag, rate pathmap.BitsPerSecond) *southbound.Rates {
		return &southbound.Rates{Pairs: []southbound.PairRate{{Src: src, Dst: dst, Tag: tag, Rate: rate}}}
	}
	even := func(all ...southbound.CoflowID) southbound.EvenSpread {
		return southbound.EvenSpread{Coflows: all, From: []pathmap.BitsPerSecond{1}}
	}
	cases := []struct {
		name string
		do   func(h southbound.Hosts) error
		want string
	}{
		{"task on no host", func(h southbound.Hosts) error { return h.Run([]southbound.Task{{Task: 4, Host: 8}}) },
			"run task 4: host 8: hosts are 0 to 7"},
		{"task below zero", func(h southbound.Hosts) error {
			return h.Run([]southbound.Task{{Task: 4,
				Compute: -1}})
		},
			"run task 4: it computes for -1ns, which is below zero"},
		{"ragged columns", func(h southbound.Hosts) error {
			return h.Start([]southbound.Start{{Coflow: 9, Size: []pathmap.Bytes{1}}})
		}, "start coflow 9: columns of 0 sources, 0 destinations, 1 sizes, 0 tags"},
		{"to itself", func(h southbound.Hosts) error {
			return h.Start(rowsOf(1, 1, 1, 0))
		}, "start coflow 9: row 0: from host 1 to itself"},
		{"from no host", func(h southbound.Hosts) error {
			return h.Start(rowsOf(-1, 1, 1, 0))
		}, "start coflow 9: row 0: host -1: hosts are 0 to 7"},
		{"no bytes", func(h southbound.Hosts) error { return h.Start(rowsOf(0, 1, 0, 0)) },
			"row 0: 0 bytes; take 1 to"},
		{"too many bytes", func(h southbound.Hosts) error {
			return h.Start(rowsOf(0, 1, southbound.MaxSize+1, 0))
		}, "bytes; take 1 to"},
		{"a wildcard for a tag", func(h southbound.Hosts) error {
			return h.Start(rowsOf(0, 1, 1,
				southbound.AnyTag))
		},
			"tag 254: tags are 0 to 7, or 255 to hold"},
		{"rows unsorted", func(h southbound.Hosts) error {
			return h.Start([]southbound.Start{{Coflow: 9, Src: []southbound.HostID{1, 0},
				Dst:  []southbound.HostID{2, 2},
				Size: []pathmap.Bytes{1, 1}, Tag: []southbound.Tag{0, 0}}})
		}, "row 1: 0→2 after 1→2: rows are sorted by destination, then source"},
		{"steer of nothing", func(h southbound.Hosts) error { return h.Steer([]southbound.Steer{{HostFlowKey: key(5, 0)}}) },
			"steer: coflow 5: not started here"},
		{"steer of no row", func(h southbound.Hosts) error { return h.Steer([]southbound.Steer{{HostFlowKey: key(0, 1)}}) },
			"steer: row 1 of coflow 0: it has 1 rows"},
		{"steer nowhere", func(h southbound.Hosts) error {
			return h.Steer([]southbound.Steer{{HostFlowKey: key(0, 0), Tag: 8}})
		},
			"steer row 0 of coflow 0: tag 8: tags are 0 to 7, or 255 to hold"},
		{"fair and paced", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Fair: true, Pace: []southbound.Pace{{}}})
		}, "set rates: fair, and yet with paces, spreads, extras or pairs"},
		{"pace of nothing", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Pace: []southbound.Pace{{Coflow: 5}}})
		}, "set rates: pace: coflow 5: not started here"},
		{"pace twice", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Pace: []southbound.Pace{{}, {}}})
		}, "set rates: pace: coflow 0 is named twice"},
		{"pace before the run", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Pace: []southbound.Pace{{Until: -1}}})
		}, "set rates: pace: coflow 0 until -1ns, which is below zero"},
		{"spread and paced", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Pace: []southbound.Pace{{}}, Spread: []southbound.Spread{{}}})
		}, "set rates: spread: coflow 0 is named twice"},
		{"spread over no host", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Spread: []southbound.Spread{{To: []southbound.HostRate{{Host: 8}}}}})
		}, "set rates: spread: coflow 0: host 8: hosts are 0 to 7"},
		{"even spread of nothing", func(h southbound.Hosts) error { return h.SetRates(&southbound.Rates{Even: even(0, 5)}) },
			"set rates: even spread: coflow 5: not started here"},
		{"even spread, unsorted", func(h southbound.Hosts) error { return h.SetRates(&southbound.Rates{Even: even(0, -1)}) },
			"set rates: even spread: coflow -1 after 0: coflows ascend, each once"},
		{"even spread twice", func(h southbound.Hosts) error { return h.SetRates(&southbound.Rates{Even: even(0, 0)}) },
			"set rates: even spread: coflow 0 after 0: coflows ascend, each once"},
		{"even spread and paced", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Pace: []southbound.Pace{{}}, Even: even(0)})
		}, "set rates: even spread: coflow 0 is named twice"},
		{"even spread and another", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Spread: []southbound.Spread{{}}, Even: even(0)})
		}, "set rates: even spread: coflow 0 is named twice"},
		{"even spread over no host", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Even: southbound.EvenSpread{To: make([]pathmap.BitsPerSecond, 9)}})
		}, "set rates: even spread: 9 rates, from 0 on: rates are 0 or more, of 8 hosts"},
		{"extra alone", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Extra: []southbound.Extra{{Rate: 1}}})
		}, "set rates: extra: coflow 0 has neither a pace nor a spread"},
		{"extra twice", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Pace: []southbound.Pace{{}},
				Extra: []southbound.Extra{{Rate: 1}, {Rate: 1}}})
		}, "rows are sorted by coflow, then row, and named once"},
		{"extra of nothing", func(h southbound.Hosts) error {
			return h.SetRates(&southbound.Rates{Pace: []southbound.Pace{{}}, Extra: []southbound.Extra{{}}})
		}, "rate 0; take one above zero"},
		{"pair of no host", func(h southbound.Hosts) error { return h.SetRates(pairOf(0, 8, 0, 1)) },
			"pair 0→8: host 8"},
		{"pair of a held tag", func(h southbound.Hosts) error {
			return h.SetRates(pairOf(0, 2, southbound.TagHold, 1))
		}, "pair 0→2: tag 255"},
		{"pair below zero", func(h southbound.Hosts) error { return h.SetRates(pairOf(0, 2, 0, -1)) },
			"pair 0→2: rate -1"},
	}
	s := simulate(t, fabric(t, small), Options{})
	wire(t, s)
	start(t, s, 0, row{0, 2, mb, 1})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.do(s.Host()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if ev := advance(t, s, time.Hour); len(ev) != 0 { // nothing was half done
		t.Errorf("something moved: %+v", ev)
	}
	if _, _, err := s.Advance(0, nil, nil); err == nil || s.Now() != time.Hour {
		t.Errorf("back to the past: %v, now %v", err, s.Now())
	}
	if _, ok := s.Host().Remaining(9); ok {
		t.Error("a refused coflow is known")
	}
	if _, err := New(nil, Options{}); err == nil {
		t.Error("a simulator of no fabric")
	}
	if _, err := New(s.fabric, Options{Optical: device.Delays{Dark: device.Fixed(-1)}}); err == nil {
		t.Error("a dark time below zero")
	}
}

func TestKnownCoflowIsLeft(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{NoHeaders: true})
	wire(t, s)
	rates(t, s, southbound.Rates{Fair: true})
	start(t, s, 0, row{0, 2, mb, 1})
	advance(t, s, 40*ms)
	start(t, s, 0, row{0, 2, mb, 1}) // by a new leader
	if got := ends(advance(t, s, time.Second)); got[key(0, 0)] != 80*ms {
		t.Errorf("ended at %v, want 80ms", got[key(0, 0)])
	}
	if l, ok := s.Host().Remaining(0); !ok || l.Row(0) != 0 {
		t.Errorf("an ended coflow has %+v left (%v)", l, ok)
	}
	if err := s.Host().Steer([]southbound.Steer{{HostFlowKey: key(0, 0), Tag: 2}}); err != nil {
		t.Errorf("steer of an ended row: %v", err)
	}
}

// TestStages: apply 1 ms, dark 10 ms, lock 2 ms, and a ToR that takes 3 ms to find out.
func TestStages(t *testing.T) {
	opt := Options{NoHeaders: true, Optical: device.Delays{Apply: device.Fixed(1 * ms),
		Lock: device.Fixed(2 * ms)},
		Switch: device.Delays{Detect: device.Fixed(3 * ms)}}
	s := simulate(t, fabric(t, small), opt)
	wire(t, s)
	connect(t, s, southbound.CrossConnect{In: 0, Out: 1})
	_, got, err := s.Advance(100*ms, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := s.fabric
	status := func(at time.Duration, st southbound.Status) southbound.DeviceEvent {
		return southbound.DeviceEvent{At: at, Device: f.OCSNode, Kind: southbound.ConnectionStatus,
			In: 0, Out: 1, Status: st}
	}
	port := func(at time.Duration, rack int, kind southbound.DeviceEventKind) southbound.DeviceEvent {
		return southbound.DeviceEvent{At: at, Device: f.ToRNode[rack], Kind: kind,
			In:  southbound.Port(f.OCSUplink[rack]),
			Out: southbound.NoPort}
	}
	want := []southbound.DeviceEvent{status(0, southbound.PendingConnection),
		port(3*ms, 0, southbound.PortDown), port(3*ms, 1, southbound.PortDown), port(3*ms, 2,
			southbound.PortDown),
		port(3*ms, 3, southbound.PortDown),
		status(13*ms, southbound.Connected), port(16*ms, 0, southbound.PortUp)}
	if len(got) != len(want) {
		t.Fatalf("got %d events, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("event %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if c := s.Counters(); len(c.Lit) != 1 || c.Lit[0].From != 11*ms || device.CheckLit(c.Lit) != nil {
		t.Errorf("log of light: %+v", c.Lit)
	}
}

func TestLoopIsTold(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{})
	wire(t, s)
	f := s.fabric
	spine, _ := f.Topology.Named("spine0")
	m := southbound.Match{Dst: 1, Tag: 1, Src: southbound.AnyRack}
	set(t, s, spine, &southbound.Change{Rules: []southbound.Rule{{Match: m, Primary: 0,
		Backup: southbound.NoPort}}})
	rates(t, s, southbound.Rates{Fair: true})
	start(t, s, 0, row{0, 2, mb, 1})
	_, _, err := s.Advance(ms, nil, nil)
	if err == nil || !strings.Contains(err.Error(),
		"walk from host 0 to host 2 with tag 1: it never arrives: h0-0 → "+
			"tor0 → spine0 → tor0") {
		t.Errorf("got %v", err)
	}
	if _, _, err := s.Advance(2*ms, nil, nil); err != nil {
		t.Errorf("told twice: %v", err)
	}
	if c := s.Counters(); c.Stalls != 1 || c.Delivered != 0 {
		t.Errorf("%d stalls, %d bytes", c.Stalls, c.Delivered)
	}
	set(t, s, spine, &southbound.Change{Drop: []southbound.Match{m}})
	if got := ends(advance(t, s, time.Second)); len(got) != 1 {
		t.Error("it did not go on")
	}
}

// TestStalls: a dark time of zero stops no host flow, and a host flow that stands still is counted once.
func TestStalls(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{NoHeaders: true})
	rates(t, s, southbound.Rates{Fair: true})
	start(t, s, 0, row{0, 2, mb, 1}, row{1, 3, mb, 1})
	wire(t, s) // at the same instant
	up := s.fabric.Topology.OutPort(s.fabric.ToRNode[0], int32(spinePort(s.fabric, 0)))
	for _, step := range []struct {
		name   string
		cables []bool
		want   int64
	}{
		{"tables in time", nil, 0},
		{"cut", []bool{false}, 2},
		{"still cut", nil, 2},
		{"mended", []bool{true}, 2},
		{"cut for no time", []bool{false, true}, 2},
		{"cut again", []bool{false}, 4},
	} {
		for _, lit := range step.cables {
			s.Cable(up, lit)
		}
		advance(t, s, s.Now()+ms)
		if got := s.Counters().Stalls; got != step.want {
			t.Errorf("%s: %d stalls, want %d", step.name, got, step.want)
		}
	}
}

func TestHeadersAndCounters(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{})
	wire(t, s)
	connect(t, s, southbound.CrossConnect{In: 0, Out: 1})
	advance(t, s, 20*ms)
	rates(t, s, southbound.Rates{Fair: true})
	start(t, s, 0, row{0, 1, mb, 0}, row{0, 2, mb, 7}, row{2, 6, mb, 2})
	got := ends(advance(t, s, time.Second))
	// 1 MB is 1045580.11 bytes of frames: 83.6464088… ms at 100 Mb/s, twice that for the two that share
	// host 0's link
	want := []time.Duration{20*ms + 167292818, 20*ms + 167292818, 20*ms + 83646409}
	for i, at := range want {
		if got[key(0, int32(i))] != at {
			t.Errorf("row %d ended at %v, want %v", i, got[key(0, int32(i))], at)
		}
	}
	c := s.Counters()
	if c.RackLocal != mb || c.OCS != mb || c.EPS != mb || c.Delivered != 3*mb || c.Ends != 3 || c.Stalls != 0 {
		t.Errorf("counters are %+v", c)
	}
	up := s.linkBy(s.fabric.HostNode[0], 0)
	if c.Payload[up] != 2*mb || c.Wire[up] != 2091161 {
		t.Errorf("host 0 sent %d bytes, %d on the wire", c.Payload[up], c.Wire[up])
	}
}

func TestJoiningALatePace(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{NoHeaders: true})
	wire(t, s)
	start(t, s, 0, row{0, 2, mb, 1}, row{1, 3, 100, southbound.TagHold})
	rates(t, s, southbound.Rates{Pace: []southbound.Pace{{Coflow: 0, Until: 100 * ms}}})
	s.At(100*ms-10*time.Microsecond, func() { // a ten-thousandth is left: the factor is rebased
		if err := s.Host().Steer([]southbound.Steer{{HostFlowKey: key(0, 1), Tag: 2}}); err != nil {
			t.Error(err)
		}
	})
	advance(t, s, 100*ms-5*time.Microsecond)
	l, _ := s.Host().Remaining(0)
	if d := l.Row(0) - 50; d*d > 1e-6 || l.Row(1) < 49.999 || l.Row(1) > 50.001 {
		t.Errorf("left %v and %v, want 50 and 50", l.Row(0), l.Row(1))
	}
	got := ends(advance(t, s, time.Second))
	if len(got) != 2 || got[key(0, 0)] != 100*ms || got[key(0, 1)] != 100*ms {
		t.Errorf("ended at %v", got)
	}
}

func TestRestartStalls(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{NoHeaders: true})
	wire(t, s)
	rates(t, s, southbound.Rates{Fair: true})
	start(t, s, 0, row{0, 2, mb, 1})
	spine, _ := s.fabric.Topology.Named("spine0")
	s.At(40*ms, func() { s.Do(spine, func(now time.Duration, d *device.Device) { d.Restart(now, 5*ms) }) })
	_, ev, err := s.Advance(time.Second, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Device(spine).Set(context.Background(), &southbound.Change{}); err != nil {
		t.Errorf("after the boot: %v", err)
	}
	kinds := map[southbound.DeviceEventKind]time.Duration{}
	for _, e := range ev {
		if e.Device == spine {
			kinds[e.Kind] = e.At
		}
	}
	if kinds[southbound.Lost] != 40*ms || kinds[southbound.Synced] != 45*ms {
		t.Errorf("events %+v", ev)
	}
	l, _ := s.Host().Remaining(0)
	if d := l.Row(0) - float64(mb)/2; d*d > 1 {
		t.Errorf("%v bytes left, want half: the rules went", l.Row(0))
	}
}

func TestAtOrder(t *testing.T) {
	s := simulate(t, fabric(t, topo.Spec{Kind: topo.LeafSpine}), Options{})
	var got []string
	s.At(2*ms, func() { got = append(got, "b"); s.At(ms, func() { got = append(got, "late") }) })
	s.At(2*ms, func() { got = append(got, "c") })
	s.At(ms, func() { got = append(got, "a") })
	advance(t, s, 2*ms)
	if strings.Join(got, " ") != "a b c late" {
		t.Errorf("called %v", got)
	}
}

func TestFabrics(t *testing.T) {
	for _, spec := range []topo.Spec{{Kind: topo.LeafSpine}, {Kind: topo.Crossbar, Racks: 5},
		{Kind: topo.Hybrid, Racks: 4, Ports: 2}} {
		t.Run(spec.Kind, func(t *testing.T) {
			s := simulate(t, fabric(t, spec), Options{})
			wire(t, s)
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, southbound.HostID(s.fabric.Hosts() - 1), mb, 0})
			if got := ends(advance(t, s, time.Second)); len(got) != 1 {
				t.Errorf("%d ends", len(got))
			}
		})
	}
}

// TestWatch runs a watch beside the simulation, as a driver's caller would.
func TestWatch(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{})
	wire(t, s)
	ocs := s.fabric.OCSNode
	events := make(chan southbound.DeviceEvent, 100)
	watch := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			done <- s.Device(ocs).Watch(ctx, func(e southbound.DeviceEvent) { events <- e })
		}()
		if e := <-events; e.Kind != southbound.Synced {
			t.Errorf("began with %+v", e)
		}
		return done
	}
	ctx, stop := context.WithCancel(context.Background())
	done := watch(ctx)
	connect(t, s, southbound.CrossConnect{In: 2, Out: 3})
	advance(t, s, time.Second)
	for _, want := range []southbound.Status{southbound.PendingConnection, southbound.Connected} {
		if e := <-events; e.Status != want || e.In != 2 || e.Out != 3 {
			t.Errorf("got %+v, want %v", e, want)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("a watch that was ended: %v", err)
	}
	connect(t, s, southbound.CrossConnect{In: 2, Off: true})
	advance(t, s, 2*time.Second)
	done = watch(context.Background())
	s.Do(ocs, func(now time.Duration, d *device.Device) { d.Restart(now, ms) })
	advance(t, s, 3*time.Second)
	if err := <-done; !errors.Is(err, device.ErrDown) {
		t.Errorf("a watch of a device that restarted: %v", err)
	}
	if ctx.Err() == nil || s.Device(ocs).Set(ctx, &southbound.Change{}) == nil {
		t.Error("a set without a context to live in")
	}
}
