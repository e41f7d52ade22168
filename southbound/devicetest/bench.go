package devicetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"lightloom/southbound"
)

// Bench is a device to be tested: fresh, without rules or circuits, light on every port. It has at
// least 6 ports and, if it is a packet switch, 8 racks.
type Bench struct {
	Device  southbound.Device
	Optical bool
	Ports   int32
	Racks   int32

	NoSources bool // of a packet switch: it takes no rules that name a source

	// Light makes a port of a packet switch lose or regain its light; nil: not offered.
	Light func(port southbound.Port, lit bool)
	// Rival opens the same device for another controller, with a larger or smaller election id than
	// Device's; nil: the driver knows no arbitration.
	Rival func(t *testing.T, larger bool) southbound.Device
}

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// Run runs the suite. open is called once a test and cleans up by t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) *Bench) {
	tests := []struct {
		name    string
		optical bool
		packet  bool
		run     func(t *testing.T, b *Bench)
	}{
		{"begins empty", true, true, beginsEmpty},
		{"empty change is nothing", true, true, emptyChange},
		{"cancelled set", true, true, cancelledSet},
		{"watch ends with its context", true, true, watchEnds},
		{"refuses whole", true, true, refusesWhole},
		{"arbitration", true, true, arbitration},
		{"claim", true, true, claim},
		{"concurrent sets", true, true, concurrentSets},

		{"rules are read back", false, true, rulesReadBack},
		{"rules are replaced and dropped", false, true, rulesReplaced},
		{"random rules", false, true, randomRules},
		{"light is told", false, true, lightIsTold},

		{"circuit is made and removed", true, false, circuitMade},
		{"same circuit is not touched", true, false, sameCircuit},
		{"circuit displaces", true, false, circuitDisplaces},
		{"circuits are replaced", true, false, circuitsReplaced},
		{"watch begins with the current state", true, false, watchBegins},
		{"random circuits", true, false, randomCircuits},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := open(t)
			if b.Optical && !tt.optical || !b.Optical && !tt.packet {
				t.Skip("for the other kind of switch")
			}
			tt.run(t, b)
		})
	}
}

func (b *Bench) set(t *testing.T, c *southbound.Change) {
	t.Helper()
	if err := b.Device.Set(t.Context(), c); err != nil {
		t.Fatalf("set %+v: %v", c, err)
	}
}

func (b *Bench) read(t *testing.T) southbound.Seen {
	t.Helper()
	s, err := b.Device.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// settle reads until what is seen is as wanted.
func (b *Bench) settle(t *testing.T, what string, want func(southbound.Seen) error) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		err := want(b.read(t))
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: %v", what, err)
		case <-tick.C:
		}
	}
}

// rulesAre wants exactly these rules, in the order of their matches.
func rulesAre(rules ...southbound.Rule) func(southbound.Seen) error {
	rules = slices.Clone(rules)
	slices.SortFunc(rules, func(a, b southbound.Rule) int {
		return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Src, b.Src))
	})
	return func(s southbound.Seen) error {
		if !slices.Equal(s.Rules, rules) {
			return fmt.Errorf("rules are %+v, want %+v", s.Rules, rules)
		}
		return nil
	}
}

// circuitsAre wants exactly these connections, all connected, by input.
func circuitsAre(pairs ...southbound.Port) func(southbound.Seen) error {
	var want []southbound.Connection
	for i := 0; i < len(pairs); i += 2 {
		want = append(want, southbound.Connection{In: pairs[i], Out: pairs[i+1], Status: southbound.Connected})
	}
	slices.SortFunc(want, func(a, b southbound.Connection) int { return cmp.Compare(a.In, b.In) })
	return func(s southbound.Seen) error {
		if !slices.Equal(s.Connections, want) {
			return fmt.Errorf("connections are %+v, want %+v", s.Connections, want)
		}
		return nil
	}
}

// connect makes a change of pairs; an output NoPort takes the circuit away.
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

func from(src southbound.RackID, r southbound.Rule) southbound.Rule {
	r.Src = src
	return r
}

// watch follows the device until the test ends. The stream has synced when it returns; what came before
// is in begin.
type watch struct {
	begin []southbound.DeviceEvent
	next  chan southbound.DeviceEvent
}

func (b *Bench) watch(t *testing.T) *watch {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watch{next: make(chan southbound.DeviceEvent, 1<<16)}
	done := make(chan error, 1)
	go func() { done <- b.Device.Watch(ctx, func(e southbound.DeviceEvent) { w.next <- e }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	for {
		e := w.event(t)
		if e.Kind == southbound.Synced {
			return w
		}
		w.begin = append(w.begin, e)
	}
}

// event returns the next event.
func (w *watch) event(t *testing.T) southbound.DeviceEvent {
	t.Helper()
	select {
	case e := <-w.next:
		return e
	case <-time.After(patience):
		t.Fatal("no event came")
		return southbound.DeviceEvent{}
	}
}

// expect takes the next event, which must be this one, whenever it happened.
func (w *watch) expect(t *testing.T, kind southbound.DeviceEventKind, in, out southbound.Port,
	s southbound.Status) {
	t.Helper()
	e := w.event(t)
	if e.Kind != kind || e.In != in || e.Out != out || e.Status != s {
		t.Fatalf("event %+v, want kind %d, %d→%d %v", e, kind, in, out, s)
	}
}

// wantRefused checks an error of Set.
func wantRefused(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("got %v, want an error that wraps ErrRefused", err)
	}
}
