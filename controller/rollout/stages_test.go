package rollout_test

import (
	"testing"
	"time"

	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// TestStages: a move that displaces a circuit notes each of its stages; answers come 1 ms after their
// Set, light 10 ms after the OCS's.
func TestStages(t *testing.T) {
	const ms = time.Millisecond
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	for _, tt := range []struct {
		name      string
		displaced []southbound.CrossConnect
		want      [4]time.Duration // cleared, drained, accepted, connected
	}{
		{"dark ports", nil, [4]time.Duration{100 * ms, 100 * ms, 101 * ms, 111 * ms}},
		{"displaced", []southbound.CrossConnect{{In: 0, Out: 2}},
			[4]time.Duration{101 * ms, 104 * ms, 105 * ms, 115 * ms}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := rollout.NewMover(f, b, rollout.Options{Drain: 3 * ms, Timeout: time.Second, Retry: ms})
			m.Begin(100*ms, 0, 1, tt.displaced)
			var due []rollout.Set
			lit := southbound.Never
			for now := 100 * ms; now < 200*ms; now += ms {
				for _, s := range due {
					m.Done(now, s.Token, nil)
					if s.Device == f.OCSNode {
						lit = now + 10*ms
					}
				}
				if now == lit {
					m.Event(now, southbound.DeviceEvent{Device: f.OCSNode, Kind: southbound.ConnectionStatus,
						In: 0, Out: 1,
						Status: southbound.Connected})
				}
				sets, settled := m.Next(now)
				due = append(due[:0], sets...)
				for _, s := range settled {
					got := [4]time.Duration{s.Stages.Cleared, s.Stages.Drained, s.Stages.Accepted, s.Stages.Connected}
					if !s.OK || got != tt.want {
						t.Errorf("%+v, want %v", s, tt.want)
					}
					return
				}
			}
			t.Error("it never settled")
		})
	}
}
