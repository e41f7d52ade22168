package rollout_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// TestEventsOfOddPorts: what a device reports of ports that it does not have, or another device of its
// own, changes nothing, and does no harm to a move in progress.
func TestEventsOfOddPorts(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	n := southbound.Port(f.OCSPorts())
	m := rollout.NewMover(f, b, rollout.Options{})
	tell := func(device southbound.DeviceID, kind southbound.DeviceEventKind, in, out southbound.Port,
		s southbound.Status) {
		m.Event(1, southbound.DeviceEvent{Device: device, Kind: kind, In: in, Out: out, Status: s})
	}
	lit := func() (all []southbound.Port) {
		for in := range n {
			all = append(all, m.Lit(in))
		}
		return all
	}
	m.Begin(0, 0, 1, nil)
	m.Next(0)
	tell(f.OCSNode, southbound.ConnectionStatus, n-1, n-2, southbound.Connected)
	want := slices.Concat(dark(int(n)-1), []southbound.Port{n - 2})
	for _, s := range []southbound.Status{southbound.Connected, southbound.Disconnected, southbound.Failed,
		southbound.Invalid} {
		for _, port := range []southbound.Port{southbound.NoPort, n, n + 1, 1<<31 - 1} {
			tell(f.OCSNode, southbound.ConnectionStatus, port, 1, s)
			tell(f.OCSNode, southbound.ConnectionStatus, port, port, s)
		}
		tell(f.OCSNode, southbound.PortDown, n-1, n-2, s)
		tell(f.ToRNode[0], southbound.ConnectionStatus, n-1, n-2, s)
		if got := lit(); !slices.Equal(got, want) {
			t.Fatalf("after %v of ports that are none, lit are %v, want %v", s, got, want)
		}
	}
	if !m.Moving(0, 1) {
		t.Error("the move is gone")
	}
	for _, out := range []southbound.Port{n, n + 1, 1<<31 - 1} { // an input of ours that leads nowhere
		tell(f.OCSNode, southbound.ConnectionStatus, n-1, n-2, southbound.Connected)
		tell(f.OCSNode, southbound.ConnectionStatus, n-1, out, southbound.Connected)
		if got := m.Lit(n - 1); got != southbound.NoPort {
			t.Errorf("connected to output %d of %d, it is lit to %d", out, n, got)
		}
	}
}

// TestMoving: a circuit is being moved from its begin to its end, by both its ports, and while it is
// removed, but not after its move has failed.
func TestMoving(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	m := rollout.NewMover(f, b, rollout.Options{})
	moving := func(when string, want ...southbound.CrossConnect) {
		t.Helper()
		for in := range southbound.Port(4) {
			for out := range southbound.Port(4) {
				if got := m.Moving(in, out); got != slices.Contains(want,
					southbound.CrossConnect{In: in, Out: out}) {
					t.Errorf("%s: %d→%d is being moved: %v", when, in, out, got)
				}
			}
		}
	}
	tell := func(in, out southbound.Port, s southbound.Status) {
		m.Event(1, southbound.DeviceEvent{Device: f.OCSNode, Kind: southbound.ConnectionStatus, In: in,
			Out: out, Status: s})
	}
	moving("at first")
	m.Begin(0, 0, 1, nil)
	m.Begin(0, 2, 3, nil)
	moving("begun", southbound.CrossConnect{In: 0, Out: 1}, southbound.CrossConnect{In: 2, Out: 3})
	sets, _ := m.Next(0)
	m.Done(1, sets[0].Token, nil)
	tell(0, 1, southbound.Failed)
	moving("one has failed", southbound.CrossConnect{In: 2, Out: 3})
	tell(2, 3, southbound.Connected)
	sets, _ = m.Next(1)
	moving("its ToR is being told", southbound.CrossConnect{In: 2, Out: 3})
	for _, s := range sets {
		m.Done(2, s.Token, nil)
	}
	moving("over")
	m.Next(2)
	m.Remove(2, 3)
	moving("being removed", southbound.CrossConnect{In: 2, Out: 3})
}

// TestClearedAgain: of the Sets that have ToRs forget what a move displaces, one or two, those that did
// not get through have all of them sent once more, after Retry and no sooner, and nothing is sent a
// third time.
func TestClearedAgain(t *testing.T) {
	const ms = time.Millisecond
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	lost := errors.New("no answer")
	one := []southbound.CrossConnect{{In: 0, Out: 2}}
	two := []southbound.CrossConnect{{In: 0, Out: 2}, {In: 3, Out: 1}}
	for _, tc := range []struct {
		name      string
		displaced []southbound.CrossConnect
		fail      []bool // by Set of the first round
	}{
		{"one", one, []bool{true}}, {"the first", two, []bool{true, false}}, {"the second", two,
			[]bool{false, true}},
		{"both", two, []bool{true, true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := rollout.NewMover(f, b, rollout.Options{Drain: 3 * ms, Retry: 5 * ms})
			m.Begin(0, 0, 1, tc.displaced)
			sets, _ := m.Next(0)
			if len(sets) != len(tc.fail) {
				t.Fatalf("%d Sets, want %d", len(sets), len(tc.fail))
			}
			sets = slices.Clone(sets)
			for i, s := range sets {
				var err error
				if tc.fail[i] {
					err = lost
				}
				m.Done(ms, s.Token, err)
			}
			if early, _ := m.Next(5 * ms); len(early) > 0 {
				t.Errorf("before the retry: %+v", early)
			}
			again, _ := m.Next(6 * ms)
			if again = slices.Clone(again); len(again) != len(tc.fail) {
				t.Fatalf("at the retry: %+v", again)
			}
			for _, s := range again {
				m.Done(7*ms, s.Token, nil)
			}
			if more, _ := m.Next(9 * ms); len(more) > 0 {
				t.Errorf("while the ports drain: %+v", more)
			}
			last, _ := m.Next(10 * ms)
			if len(last) != 1 || last[0].Device != f.OCSNode {
				t.Errorf("once they are empty: %+v", last)
			}
		})
	}
}

// TestSteeredAgain: a failed Set that steers a ToR into its new circuit is repeated at the very instant
// that Wake returns.
func TestSteeredAgain(t *testing.T) {
	const ms = time.Millisecond
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	m := rollout.NewMover(f, b, rollout.Options{Retry: 5 * ms})
	m.Begin(0, 0, 1, nil)
	sets, _ := m.Next(0)
	m.Done(ms, sets[0].Token, nil)
	m.Event(10*ms, southbound.DeviceEvent{Device: f.OCSNode, Kind: southbound.ConnectionStatus, In: 0, Out: 1,
		Status: southbound.Connected})
	for try := range time.Duration(3) {
		now := (10 + 7*try) * ms
		sets, settled := m.Next(now)
		if len(sets) != 1 || sets[0].Device != f.ToRNode[0] || len(settled) > 0 {
			t.Fatalf("at %v: %+v, %+v", now, sets, settled)
		}
		m.Done(now+2*ms, sets[0].Token, errors.New("no answer"))
		if early, _ := m.Next(now + 7*ms - 1); len(early) > 0 || m.Wake() != now+7*ms {
			t.Errorf("at %v: %+v, and wakes at %v", now+7*ms-1, early, m.Wake())
		}
	}
	sets, _ = m.Next(31 * ms)
	m.Done(32*ms, sets[0].Token, nil)
	if _, settled := m.Next(32 * ms); len(settled) != 1 || !settled[0].OK || m.Busy() {
		t.Errorf("in the end: %+v", settled)
	}
}
