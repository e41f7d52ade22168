package flowsim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestFibres plugs fibres of a circuit from rack 0 to rack 1 in elsewhere while two host flows of 1 MB
// cross it, each at its host's 100 Mb/s, and says by hand when they end and what went over light.
func TestFibres(t *testing.T) {
	const none = southbound.NoPort
	straight := []southbound.Port{0, 1, 2, 3}
	for _, c := range []struct {
		name    string
		in, out []southbound.Port
		heal    bool // at 90 ms
		end     time.Duration
		ocs     pathmap.Bytes
	}{
		{"as they belong", straight, straight, false, 90 * ms, 2 * mb}, // 10 ms to 90 ms
		// 40 ms of light are half of both; the rest shares spine 0, 50 Mb/s each: 80 ms.
		{"pulled out of the switch", straight, []southbound.Port{0, none, 2, 3}, false, 130 * ms, mb},
		{"pulled from the switch's input", []southbound.Port{none, 1, 2, 3}, straight, false, 130 * ms, mb},
		// 40 ms of light, 40 ms of spine 0 for half of what was left, light again for the other quarter: 20 ms.
		{"pulled and back", straight, []southbound.Port{0, none, 2, 3}, true, 110 * ms, 3 * mb / 2},
		// Light leads to rack 2, whose ToR has no circuit and sends on over spine 0.
		{"swapped with rack 2's", straight, []southbound.Port{0, 2, 1, 3}, false, 130 * ms, 2 * mb},
		// The circuit is fed by rack 3, which sends nothing; rack 0 has no light, and knows.
		{"swapped at the input", []southbound.Port{3, 1, 2, 0}, straight, false, 130 * ms, mb},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := small
			spec.OCS = 200 * pathmap.Mbps
			s := simulate(t, fabric(t, spec), Options{NoHeaders: true})
			s.Patch()
			wire(t, s)
			connect(t, s, southbound.CrossConnect{In: 0, Out: 1})
			advance(t, s, 10*ms)
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, southbound.TagCircuit}, row{1, 3, mb, southbound.TagCircuit})
			plug := func(in, out []southbound.Port) {
				if err := s.Plug(in, out); err != nil {
					t.Error(err)
				}
			}
			s.At(50*ms, func() { plug(c.in, c.out) })
			if c.heal {
				s.At(90*ms, func() { plug(straight, straight) })
			}
			got := ends(advance(t, s, time.Second))
			if got[key(0, 0)] != c.end || got[key(0, 1)] != c.end {
				t.Errorf("ended at %v, want %v", got, c.end)
			}
			if n := s.Counters().OCS; n < c.ocs-2 || n > c.ocs+2 {
				t.Errorf("%d bytes went over light, want %d", n, c.ocs)
			}
			seen, err := s.Device(s.fabric.OCSNode).Read(t.Context())
			if err != nil || !slices.ContainsFunc(seen.Connections, func(x southbound.Connection) bool {
				return x.In == 0 && x.Out == 1 && x.Status == southbound.Connected
			}) {
				t.Errorf("the switch knows nothing of fibres, and says %+v, %v", seen.Connections, err)
			}
		})
	}
}

func TestPlugRefuses(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{})
	if err := s.Plug(nil, nil); err == nil || !strings.Contains(err.Error(), "call Patch before it runs") {
		t.Errorf("without a panel: %v", err)
	}
	s.Patch()
	if err := s.Plug([]southbound.Port{0, 0, 2, 3}, []southbound.Port{0, 1, 2, 3}); err == nil ||
		!strings.Contains(err.Error(), "fibre 0 is named twice") {
		t.Errorf("one fibre twice: %v", err)
	}
}
