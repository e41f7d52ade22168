package rollout

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestAskedLikeScan: what the OCS is asked for puts out every other input that is lit to the same
// output, even where several are said to be, or to lead to no port at all.
func TestAskedLikeScan(t *testing.T) {
	spec, err := topo.FromArgument("crossbar:ports=5,rate=1Gbps,dark=10ms")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	m := NewMover(f, nil, Options{}) // no move begins, so that no table is asked for
	chance := rand.New(rand.NewPCG(3, 3))
	want := slices.Clone(m.lit)
	for step := range 10_000 {
		in, out := southbound.Port(chance.IntN(5)), southbound.Port(chance.IntN(7)-1)
		if chance.IntN(2) == 0 {
			status := southbound.Connected
			if chance.IntN(3) == 0 {
				status = southbound.Disconnected
			}
			m.Event(0, southbound.DeviceEvent{Device: f.OCSNode, Kind: southbound.ConnectionStatus,
				In: in, Out: out,
				Status: status})
			switch {
			case status == southbound.Connected && (out < 0 || out >= 5):
				want[in] = southbound.NoPort
			case status == southbound.Connected:
				want[in] = out
			case want[in] == out:
				want[in] = southbound.NoPort
			}
		} else if out >= 0 && out < 5 {
			m.asked(in, out)
			for k := range want {
				if (want[k] == out) != (southbound.Port(k) == in) && (want[k] == out || southbound.Port(k) == in) {
					want[k] = southbound.NoPort
				}
			}
		}
		if !slices.Equal(m.lit, want) {
			t.Fatalf("step %d: lit %v, want %v", step, m.lit, want)
		}
	}
}

// TestAsksEnd: a Set of the OCS that has been answered is forgotten. A failed one makes the OCS's
// circuits doubtful only once, and a refused one does not.
func TestAsksEnd(t *testing.T) {
	spec, err := topo.FromArgument("crossbar:ports=5,rate=1Gbps,dark=10ms")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	paths, err := f.PathMap(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		err   error
		doubt bool
	}{{"taken", nil, false}, {"refused", southbound.ErrRefused, false}, {"lost",
		errors.New("no answer"), true}} {
		m := NewMover(f, NewBase(f, paths), Options{Retry: time.Second})
		m.Begin(0, 0, 1, nil)
		sets, _ := m.Next(0)
		if len(sets) != 1 || len(m.asks) != 1 {
			t.Fatalf("%s: %+v, %v", tc.name, sets, m.asks)
		}
		m.Done(1, sets[0].Token+1, tc.err) // another's
		if len(m.asks) != 1 || len(m.NeedsReread()) > 0 {
			t.Errorf("%s: another's answer is taken", tc.name)
		}
		m.Done(1, sets[0].Token, tc.err)
		awaited := slices.ContainsFunc(m.asks, func(a ask) bool { return a.token == sets[0].Token })
		if first, again := m.NeedsReread(), m.NeedsReread(); awaited || slices.Contains(first, f.OCSNode) != tc.doubt ||
			len(again) > 0 {
			t.Errorf("%s: Sets %d are awaited, in doubt %v and then %v", tc.name, m.asks, first, again)
		}
	}
}
