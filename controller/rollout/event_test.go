package rollout_test

import (
	"slices"
	"testing"

	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// TestEventsOfOddPorts: what a device reports of ports that it does not have, or another device of its own, changes
// nothing, and does no harm to a move in progress.
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

// TestMoving: a circuit is being moved to from its begin to its end, by both its ports, and not while it is taken away
// or after its move has failed.
func TestMoving(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	m := rollout.NewMover(f, b, rollout.Options{})
	moving := func(when string, want ...southbound.CrossConnect) {
		t.Helper()
		for in := range southbound.Port(4) {
			for out := range southbound.Port(4) {
				if got := m.Moving(in, out); got != slices.Contains(want, southbound.CrossConnect{In: in, Out: out}) {
					t.Errorf("%s: %d→%d is being moved to: %v", when, in, out, got)
				}
			}
		}
	}
	tell := func(in, out southbound.Port, s southbound.Status) {
		m.Event(1, southbound.DeviceEvent{Device: f.OCSNode, Kind: southbound.ConnectionStatus, In: in, Out: out, Status: s})
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
	moving("being taken away")
}
