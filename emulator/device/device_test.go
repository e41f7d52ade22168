package device_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/southbound"
)

const ms = time.Millisecond

// bench is a device with its plane and a clock that a test moves by hand.
type bench struct {
	*device.Device
	plane *mem.Plane
	now   time.Duration
	light []string
}

func newBench(kind device.Kind, change func(*device.Config)) *bench {
	b := &bench{}
	b.plane = mem.New(8, func() time.Duration { return b.now })
	c := device.Config{Name: "sw", ID: 7, Kind: kind, Ports: 8, Racks: 16, Plane: b.plane, Seed: 1,
		Delays: device.Delays{Apply: device.Fixed(1 * ms), Dark: device.Fixed(10 * ms),
			Lock:   device.Fixed(2 * ms),
			Detect: device.Fixed(3 * ms)},
		OnLight: func(now time.Duration, in southbound.Port, lit bool) {
			b.light = append(b.light, fmt.Sprintf("%v %d %v", now, in, lit))
		}}
	if change != nil {
		change(&c)
	}
	b.Device = device.New(c)
	return b
}

// until runs the device from transition to transition, as the simulator does, and returns what it emitted.
func (b *bench) until(t time.Duration) []string {
	var out []string
	emit := func(e southbound.DeviceEvent) { out = append(out, eventText(e)) }
	for {
		at, ok := b.Next()
		if !ok || at > t {
			break
		}
		b.now = max(b.now, at)
		b.Advance(b.now, emit)
	}
	b.now = t
	b.Advance(t, emit)
	return out
}

func eventText(e southbound.DeviceEvent) string {
	switch e.Kind {
	case southbound.ConnectionStatus:
		return fmt.Sprintf("%v %d→%d %v", e.At, e.In, e.Out, e.Status)
	case southbound.PortUp:
		return fmt.Sprintf("%v up %d", e.At, e.In)
	case southbound.PortDown:
		return fmt.Sprintf("%v down %d", e.At, e.In)
	case southbound.Synced:
		return fmt.Sprintf("%v synced", e.At)
	}
	return fmt.Sprintf("%v lost", e.At)
}

func connect(pairs ...southbound.Port) *southbound.Change {
	c := &southbound.Change{}
	for i := 0; i < len(pairs); i += 2 {
		c.Connect = append(c.Connect, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1],
			Off: pairs[i+1] == southbound.NoPort})
	}
	return c
}

func rule(dst southbound.RackID, tag southbound.Tag, primary, backup southbound.Port) southbound.Rule {
	return southbound.Rule{Match: southbound.Match{Dst: dst, Tag: tag, Src: southbound.AnyRack},
		Primary: primary,
		Backup:  backup}
}

// usual is what stages take on a bench.
var usual = device.Took{Known: true, Apply: ms, Dark: 10 * ms, Lock: 2 * ms}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func (b *bench) set(t *testing.T, c *southbound.Change) {
	t.Helper()
	if err := b.Set(b.now, c); err != nil {
		t.Fatal(err)
	}
}

func TestCircuitMoves(t *testing.T) {
	b := newBench(device.Optical, nil)
	b.set(t, connect(0, 1, 2, 3))
	// accepted at 0, applied at 1, light at 11, locked at 13
	want(t, "first", b.until(20*ms), []string{"0s 0→1 PENDING_CONNECTION", "0s 2→3 PENDING_CONNECTION",
		"13ms 0→1 CONNECTED", "13ms 2→3 CONNECTED"})
	want(t, "light", b.light, []string{"13ms 0 true", "13ms 2 true"})
	b.light = nil

	b.set(t, connect(0, 1)) // the existing circuit is not touched
	want(t, "same pair", b.until(40*ms), []string(nil))

	b.set(t, connect(4, 3)) // takes the output of 2→3; 0→1 keeps its light
	want(t, "displaced", b.until(60*ms), []string{
		"40ms 2→3 PENDING_DELETION", "40ms 4→3 PENDING_CONNECTION", "41ms 2→3 DISCONNECTED", "53ms 4→3 CONNECTED"})
	want(t, "light", b.light, []string{"41ms 2 false", "53ms 4 true"})
	want(t, "log", b.Log(), []device.LitInterval{
		{In: 0, Out: 1, From: 11 * ms, To: southbound.Never, Took: usual},
		{In: 2, Out: 3, From: 11 * ms, To: 41 * ms, Took: usual},
		{In: 4, Out: 3, From: 51 * ms, To: southbound.Never, Took: usual}})
	want(t, "seen", b.Seen(b.now).Connections,
		[]southbound.Connection{{In: 0, Out: 1, Status: southbound.Connected},
			{In: 4, Out: 3, Status: southbound.Connected}})

	b.set(t, &southbound.Change{Replace: true, Connect: []southbound.CrossConnect{{In: 0, Out: 1}}})
	want(t, "replace", b.until(80*ms), []string{"60ms 4→3 PENDING_DELETION", "61ms 4→3 DISCONNECTED"})
	if out, ok := b.plane.Cross(b.now, 0); !ok || out != 1 {
		t.Errorf("0→1 lost its light: %v %v", out, ok)
	}
	if _, ok := b.plane.Cross(b.now, 4); ok {
		t.Error("4 still has light")
	}
}

func TestChangeBeforeApplied(t *testing.T) {
	b := newBench(device.Optical, nil)
	b.set(t, connect(0, 1))
	b.set(t, connect(0, 2)) // 0→1 was never made: gone at once, and never lit
	want(t, "events", b.until(30*ms), []string{"0s 0→1 PENDING_CONNECTION", "0s 0→1 DISCONNECTED",
		"0s 0→2 PENDING_CONNECTION", "13ms 0→2 CONNECTED"})
	want(t, "log", b.Log(), []device.LitInterval{{In: 0, Out: 2, From: 11 * ms, To: southbound.Never,
		Took: usual}})
}

func TestAskedAgainWhileLeaving(t *testing.T) {
	b := newBench(device.Optical, nil)
	b.set(t, connect(0, 1))
	b.until(20 * ms)
	b.set(t, connect(0, 2))
	b.set(t, connect(3, 1))
	b.set(t, connect(0, 1)) // before anything has moved: the light stays, and what was to displace it never comes
	want(t, "events", b.until(60*ms), []string{
		"20ms 0→1 PENDING_DELETION", "20ms 0→2 PENDING_CONNECTION", "20ms 3→1 PENDING_CONNECTION",
		"20ms 0→2 DISCONNECTED", "20ms 3→1 DISCONNECTED", "20ms 0→1 CONNECTED"})
	want(t, "log", b.Log(), []device.LitInterval{{In: 0, Out: 1, From: 11 * ms, To: southbound.Never,
		Took: usual}})
}

func TestChangeWhileDark(t *testing.T) {
	b := newBench(device.Optical, nil)
	b.set(t, connect(0, 1))
	b.until(5 * ms) // mirrors are moving
	b.set(t, connect(0, 2))
	want(t, "events", b.until(30*ms), []string{"5ms 0→1 PENDING_DELETION", "5ms 0→2 PENDING_CONNECTION",
		"6ms 0→1 DISCONNECTED", "18ms 0→2 CONNECTED"})
	want(t, "log", b.Log(), []device.LitInterval{{In: 0, Out: 2, From: 16 * ms, To: southbound.Never,
		Took: usual}})
}

func TestAllStop(t *testing.T) {
	b := newBench(device.Optical, func(c *device.Config) { c.AllStop = true })
	b.set(t, connect(0, 1))
	b.until(20 * ms)
	b.set(t, connect(2, 3))
	want(t, "events", b.until(25*ms), []string{"20ms 2→3 PENDING_CONNECTION", "21ms 0→1 PENDING_CONNECTION"})
	if out, lit := b.plane.Cross(b.now, 0); lit {
		t.Errorf("the plane carries 0→%d, which has stopped", out)
	}
	want(t, "events", b.until(40*ms), []string{"33ms 0→1 CONNECTED", "33ms 2→3 CONNECTED"})
	if _, lit := b.plane.Cross(b.now, 0); !lit {
		t.Error("the plane does not carry 0→1 again")
	}
	want(t, "log", b.Log(), []device.LitInterval{
		{In: 0, Out: 1, From: 11 * ms, To: 21 * ms, Took: usual},
		{In: 0, Out: 1, From: 31 * ms, To: southbound.Never, Took: usual},
		{In: 2, Out: 3, From: 31 * ms, To: southbound.Never, Took: usual}})
}

func TestRefusedWhole(t *testing.T) {
	good := rule(1, 0, 0, 1)
	source := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: 0, Src: 16}, Primary: 0,
		Backup: southbound.NoPort}
	tests := []struct {
		name   string
		kind   device.Kind
		change *southbound.Change
		err    string
	}{
		{"rules to an optical switch", device.Optical,
			&southbound.Change{Rules: []southbound.Rule{good}}, "takes no rules"},
		{"drop to an optical switch", device.Optical, &southbound.Change{Drop: []southbound.Match{good.Match}},
			"takes no rules"},
		{"circuit to a packet switch", device.Packet, connect(0, 1), "takes no cross-connects"},
		{"input out of range", device.Optical, connect(1, 2, 8, 0), "inputs are 0 to 7"},
		{"output out of range", device.Optical, connect(1, 2, 0, 9), "outputs are 0 to 7"},
		{"negative input", device.Optical, connect(1, 2, -1, 0), "inputs are 0 to 7"},
		{"input twice", device.Optical, connect(0, 1, 0, 2), "used twice"},
		{"output twice", device.Optical, connect(0, 1, 2, 1), "used twice"},
		{"off and on", device.Optical, connect(0, southbound.NoPort, 0, 1), "used twice"},
		{"rack out of range", device.Packet, &southbound.Change{Rules: []southbound.Rule{good,
			rule(16, 0, 0, 1)}},
			"racks are 0 to 15"},
		{"source out of range", device.Packet, &southbound.Change{Rules: []southbound.Rule{good, source}},
			"source racks are"},
		{"port out of range", device.Packet, &southbound.Change{Rules: []southbound.Rule{good,
			rule(2, 0, 8, 1)}},
			"ports are 0 to 7"},
		{"backup out of range", device.Packet, &southbound.Change{Rules: []southbound.Rule{good,
			rule(2, 0, 0, 8)}},
			"ports are 0 to 7"},
		{"its own backup", device.Packet, &southbound.Change{Rules: []southbound.Rule{good, rule(2, 0, 3, 3)}},
			"its own backup"},
		{"tag out of range", device.Packet, &southbound.Change{Rules: []southbound.Rule{good, rule(2, 8, 0, 1)}},
			"tags are 0 to 7"},
		{"rule twice", device.Packet, &southbound.Change{Rules: []southbound.Rule{good, good}}, "given twice"},
		{"drop out of range", device.Packet, &southbound.Change{Rules: []southbound.Rule{good},
			Drop: []southbound.Match{{Dst: 99}}}, "racks are"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(tt.kind, nil)
			if tt.kind == device.Optical {
				b.set(t, connect(5, 6))
			} else {
				b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(9, 0, 2, 3)}})
			}
			b.until(20 * ms)
			before, gen := b.Seen(b.now), b.plane.Generation()
			err := b.Set(b.now, tt.change)
			if !errors.Is(err, southbound.ErrRefused) || !strings.Contains(err.Error(), tt.err) ||
				!strings.Contains(err.Error(), `"sw"`) {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			want(t, "events", b.until(60*ms), []string(nil))
			want(t, "seen", b.Seen(b.now), before)
			want(t, "plane", b.plane.Generation(), gen)
		})
	}
}

func TestRules(t *testing.T) {
	b := newBench(device.Packet, nil)
	b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(2, southbound.AnyTag, 1, southbound.NoPort),
		rule(2, 7, 3, 1)}})
	want(t, "before", len(b.Seen(b.now).Rules), 0)
	b.until(1 * ms)
	want(t, "seen", b.Seen(b.now).Rules, []southbound.Rule{rule(2, 7, 3, 1),
		rule(2, southbound.AnyTag, 1, southbound.NoPort)})
	gen := b.plane.Generation()
	b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(2, 7, 3, 1)},
		Drop: []southbound.Match{{Dst: 5, Src: southbound.AnyRack}}})
	b.set(t, &southbound.Change{Replace: true,
		Rules: []southbound.Rule{rule(2, 7, 3, 1), rule(2, southbound.AnyTag, 1, southbound.NoPort)}})
	b.until(9 * ms)
	want(t, "plane untouched", b.plane.Generation(), gen)
	b.set(t, &southbound.Change{Drop: []southbound.Match{rule(2, 7, 0, 0).Match}})
	b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(3, 1, 4, 5)}})
	b.until(20 * ms)
	want(t, "seen", b.Seen(b.now).Rules, []southbound.Rule{rule(2, southbound.AnyTag, 1, southbound.NoPort),
		rule(3, 1, 4, 5)})
	want(t, "accepted", b.Accepted().Rules, b.Seen(b.now).Rules)
}

func TestLight(t *testing.T) {
	b := newBench(device.Packet, nil)
	b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(2, 7, 3, 1)}})
	b.until(10 * ms)
	port := func() southbound.Port { p, _ := b.plane.Lookup(2, 0, 7); return p }
	b.Light(b.now, 3, false)
	want(t, "not yet detected", b.until(12*ms), []string(nil))
	want(t, "primary", port(), southbound.Port(3))
	want(t, "detected", b.until(20*ms), []string{"13ms down 3"})
	want(t, "backup", port(), southbound.Port(1))
	want(t, "seen", b.Seen(b.now).Down, []southbound.Port{3})
	b.Light(b.now, 3, true)
	b.until(21 * ms)
	b.Light(b.now, 3, false) // a flap shorter than the detection is not seen
	want(t, "flap", b.until(40*ms), []string(nil))
	b.Light(b.now, 3, true)
	want(t, "back", b.until(50*ms), []string{"43ms up 3"})
	want(t, "primary", port(), southbound.Port(3))
	b.Light(b.now, 99, true)
}

func TestFaults(t *testing.T) {
	t.Run("stick", func(t *testing.T) {
		b := newBench(device.Optical, nil)
		b.Fault(device.Fault{Kind: device.Stick, Port: 0, Times: 1})
		b.set(t, connect(0, 1, 2, 3))
		want(t, "events", b.until(time.Second), []string{"0s 0→1 PENDING_CONNECTION",
			"0s 2→3 PENDING_CONNECTION",
			"13ms 2→3 CONNECTED"})
		b.set(t, connect(0, southbound.NoPort))
		want(t, "taken back", b.until(2*time.Second), []string{"1s 0→1 DISCONNECTED"})
		b.set(t, connect(0, 1))
		want(t, "again", b.until(3*time.Second), []string{"2s 0→1 PENDING_CONNECTION", "2.013s 0→1 CONNECTED"})
	})
	t.Run("fail", func(t *testing.T) {
		b := newBench(device.Optical, nil)
		b.Fault(device.Fault{Kind: device.Fail, Port: southbound.NoPort, Times: 1})
		b.set(t, connect(0, 1))
		want(t, "events", b.until(time.Second), []string{"0s 0→1 PENDING_CONNECTION", "1ms 0→1 FAILED"})
		want(t, "log", len(b.Log()), 0)
		b.set(t, connect(0, 1)) // the same pair, once failed, is tried again
		want(t, "again", b.until(2*time.Second), []string{"1s 0→1 DISCONNECTED", "1s 0→1 PENDING_CONNECTION",
			"1.013s 0→1 CONNECTED"})
	})
	t.Run("slow", func(t *testing.T) {
		b := newBench(device.Optical, nil)
		b.Fault(device.Fault{Kind: device.Slow, Port: southbound.NoPort, Delay: 100 * ms, Times: 1})
		b.set(t, connect(0, 1))
		b.set(t, connect(2, 3)) // does not overtake
		want(t, "events", b.until(time.Second), []string{"0s 0→1 PENDING_CONNECTION",
			"0s 2→3 PENDING_CONNECTION",
			"113ms 0→1 CONNECTED", "113ms 2→3 CONNECTED"})
	})
	t.Run("lie", func(t *testing.T) {
		b := newBench(device.Packet, nil)
		b.Fault(device.Fault{Kind: device.Lie, Port: southbound.NoPort})
		b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(2, 7, 3, 1)}})
		b.until(time.Second)
		want(t, "seen", len(b.Seen(b.now).Rules), 0)
		b.ClearFaults()
		b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(2, 7, 3, 1)}})
		b.until(2 * time.Second)
		want(t, "seen", len(b.Seen(b.now).Rules), 1)
	})
}

func TestRestartCircuits(t *testing.T) {
	tests := []struct {
		mode   device.Recovery
		during bool // light during the boot
		events []string
		after  bool
	}{
		{device.Remove, false, []string{"20ms lost", "120ms synced"}, false},
		{device.Restore, false, []string{"20ms lost", "120ms 0→1 PENDING_CONNECTION", "120ms synced",
			"133ms 0→1 CONNECTED"},
			true},
		{device.Maintain, true, []string{"20ms lost", "120ms 0→1 CONNECTED", "120ms synced"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.mode.String(), func(t *testing.T) {
			b := newBench(device.Optical, func(c *device.Config) { c.Recovery = tt.mode })
			b.set(t, connect(0, 1))
			b.until(20 * ms)
			b.Restart(b.now, 100*ms)
			events := b.until(50 * ms)
			_, lit := b.plane.Cross(b.now, 0)
			want(t, "light during", lit, tt.during)
			if err := b.Set(b.now, connect(2, 3)); !errors.Is(err, device.ErrDown) {
				t.Errorf("set during restart: %v", err)
			}
			want(t, "events", append(events, b.until(200*ms)...), tt.events)
			_, lit = b.plane.Cross(b.now, 0)
			want(t, "light after", lit, tt.after)
			if err := device.CheckLit(b.Log()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRestartRules(t *testing.T) {
	for _, mode := range []device.Recovery{device.Remove, device.Restore, device.Maintain} {
		t.Run(mode.String(), func(t *testing.T) {
			b := newBench(device.Packet, func(c *device.Config) { c.Recovery = mode })
			b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(2, 7, 3, 1)}})
			b.until(20 * ms)
			b.Restart(b.now, 100*ms)
			b.Light(b.now, 3, false) // lost during the boot: found out after it
			b.until(50 * ms)
			_, during := b.plane.Lookup(2, 0, 7)
			want(t, "during", during, mode == device.Maintain)
			want(t, "events", b.until(200*ms), []string{"120ms synced", "123ms down 3"})
			p, after := b.plane.Lookup(2, 0, 7)
			want(t, "after", after, mode != device.Remove)
			if after {
				want(t, "backup", p, southbound.Port(1))
			}
		})
	}
}

// failing is a plane whose next call fails.
type failing struct {
	*mem.Plane
	err error
}

func (f *failing) SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	if err := f.err; err != nil {
		f.err = nil
		return err
	}
	return f.Plane.SetRules(set, drop, replace)
}

func TestPlaneFails(t *testing.T) {
	for _, delay := range []time.Duration{0, ms} {
		f := &failing{}
		b := newBench(device.Packet, func(c *device.Config) {
			f.Plane = c.Plane.(*mem.Plane)
			c.Plane, c.Delays.Apply = f, device.Fixed(delay)
		})
		f.err = southbound.ErrUnsupported
		err := b.Set(0, &southbound.Change{Rules: []southbound.Rule{rule(2, 7, 3, 1)}})
		if delay == 0 && !errors.Is(err, southbound.ErrUnsupported) {
			t.Errorf("at once: %v", err)
		}
		b.until(10 * ms)
		if delay > 0 && (err != nil || !errors.Is(b.Err(), southbound.ErrUnsupported)) {
			t.Errorf("later: %v, %v", err, b.Err())
		}
		want(t, "accepted", len(b.Accepted().Rules), 0)
		b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(2, 7, 3, 1)}})
		b.until(20 * ms)
		want(t, "seen", len(b.Seen(b.now).Rules), 1)
	}
}

// stuck is a plane whose next move of mirrors fails.
type stuck struct {
	*mem.Plane
	err error
}

func (f *stuck) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	if err := f.err; err != nil {
		f.err = nil
		return err
	}
	return f.Plane.Move(off, on, dark)
}

// TestMirrorsFail: where mirrors do not move, the circuits that should come have failed, what they
// displaced is gone, the error is kept, and asking again makes them.
func TestMirrorsFail(t *testing.T) {
	f := &stuck{}
	b := newBench(device.Optical, func(c *device.Config) {
		f.Plane = c.Plane.(*mem.Plane)
		c.Plane = f
	})
	b.set(t, connect(0, 1, 4, 5))
	b.until(20 * ms)
	f.err = southbound.ErrUnsupported
	b.set(t, connect(0, 2, 3, 1))
	want(t, "events", b.until(40*ms), []string{"20ms 0→1 PENDING_DELETION", "20ms 0→2 PENDING_CONNECTION",
		"20ms 3→1 PENDING_CONNECTION", "21ms 0→1 DISCONNECTED", "21ms 0→2 FAILED", "21ms 3→1 FAILED"})
	if err := b.Err(); !errors.Is(err, southbound.ErrUnsupported) ||
		!strings.Contains(err.Error(), "move mirrors") {
		t.Errorf("error %v", err)
	}
	want(t, "seen", b.Seen(b.now).Connections,
		[]southbound.Connection{{In: 0, Out: 2, Status: southbound.Failed},
			{In: 3, Out: 1, Status: southbound.Failed}, {In: 4, Out: 5, Status: southbound.Connected}})
	b.set(t, connect(0, 2))
	want(t, "events", b.until(60*ms), []string{"40ms 0→2 DISCONNECTED", "40ms 0→2 PENDING_CONNECTION",
		"53ms 0→2 CONNECTED"})
}

func TestNewPanics(t *testing.T) {
	for _, c := range []device.Config{{}, {Kind: device.Packet}, {Kind: device.Optical, Ports: 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was taken", c)
				}
			}()
			device.New(c)
		}()
	}
}

func TestDoorInVirtualTime(t *testing.T) {
	b := newBench(device.Optical, nil)
	var all []string
	door := device.NewDoor(b.Device, func() time.Duration {
		return b.now
	}, func(e southbound.DeviceEvent) { all = append(all, eventText(e)) })
	ctx, cancel := context.WithCancel(t.Context())
	if err := door.Set(ctx, connect(0, 1)); err != nil {
		t.Fatal(err)
	}
	synced, done := make(chan struct{}), make(chan error, 1)
	var seen []string
	go func() {
		done <- door.Watch(ctx, func(e southbound.DeviceEvent) {
			if seen = append(seen, eventText(e)); e.Kind == southbound.Synced {
				close(synced)
			}
		})
	}()
	<-synced
	for {
		at, ok := door.Next()
		if !ok {
			break
		}
		b.now = at
		door.Advance(at)
	}
	s, err := door.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "read", s.Connections, []southbound.Connection{{In: 0, Out: 1, Status: southbound.Connected}})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	want(t, "watch", seen, []string{"0s 0→1 PENDING_CONNECTION", "0s synced", "13ms 0→1 CONNECTED"})
	want(t, "all", all, []string{"0s 0→1 PENDING_CONNECTION", "13ms 0→1 CONNECTED"})
	if err := door.Set(ctx, connect(0, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
}
