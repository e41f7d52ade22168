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
