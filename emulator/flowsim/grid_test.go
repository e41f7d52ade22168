package flowsim

import (
	"testing"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestEndsOnTheGrid: a host flow whose last byte has come ends at the next instant of the grid, whatever takes its rate
// away in between. Without a grid it has ended by then.
func TestEndsOnTheGrid(t *testing.T) {
	const rate = 100 * pathmap.Mbps // 1 MB takes 80 ms
	spread := func(rate pathmap.BitsPerSecond) southbound.Rates {
		return southbound.Rates{Spread: []southbound.Spread{{Coflow: 0,
			From: []southbound.HostRate{{Host: 0, Rate: rate}}, To: []southbound.HostRate{{Host: 2, Rate: rate}}}}}
	}
	pairs := func(rate pathmap.BitsPerSecond) southbound.Rates {
		return southbound.Rates{Pairs: []southbound.PairRate{{Src: 0, Dst: 2, Tag: 1, Rate: rate}}}
	}
	held := southbound.Rates{Pace: []southbound.Pace{{Coflow: 0}}}
	extra := held
	extra.Extra = []southbound.Extra{{HostFlowKey: key(0, 0), Rate: rate}}
	pace := southbound.Rates{Pace: []southbound.Pace{{Coflow: 0, Until: 80 * ms}}}
	later := southbound.Rates{Pace: []southbound.Pace{{Coflow: 0, Until: 200 * ms}}}
	fair := southbound.Rates{Fair: true}
	set := func(r southbound.Rates) func(*testing.T, *Sim) {
		return func(t *testing.T, s *Sim) { rates(t, s, r) }
	}
	hold := func(t *testing.T, s *Sim) {
		if err := s.Host().Steer([]southbound.Steer{{HostFlowKey: key(0, 0), Tag: southbound.TagHold}}); err != nil {
			t.Error(err)
		}
	}
	cut := func(_ *testing.T, s *Sim) {
		s.Cable(s.fabric.Topology.OutPort(s.fabric.ToRNode[0], int32(spinePort(s.fabric, 0))), false)
	}
	for _, c := range []struct {
		name   string
		before southbound.Rates
		then   func(*testing.T, *Sim)
	}{
		{"fair, withheld", fair, hold},
		{"fair, cut", fair, cut},
		{"fair, no rate", fair, set(southbound.Rates{})},
		{"fair, a pace that holds", fair, set(held)},
		{"pairs, withheld", pairs(rate), hold},
		{"pairs, cut", pairs(rate), cut},
		{"pairs, no rate", pairs(rate), set(pairs(0))},
		{"spread, withheld", spread(rate), hold},
		{"spread, cut", spread(rate), cut},
		{"spread, no rate", spread(rate), set(spread(0))},
		{"spread, none", spread(rate), set(southbound.Rates{})},
		{"extra, withheld", extra, hold},
		{"extra, cut", extra, cut},
		{"extra, a pace that holds", extra, set(held)},
		{"pace, withheld", pace, hold},
		{"pace, cut", pace, cut},
		{"pace, none", pace, set(southbound.Rates{})},
		{"pace, one that holds", pace, set(held)},
		{"pace, a later one", pace, set(later)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := simulate(t, fabric(t, small), Options{Quantum: 30 * ms})
			wire(t, s)
			start(t, s, 0, row{0, 2, mb, 1}, row{1, 3, 10 * mb, 2})
			rates(t, s, c.before)
			advance(t, s, 85*ms)
			c.then(t, s)
			if got := ends(advance(t, s, 300*ms))[key(0, 0)]; got != 90*ms {
				t.Errorf("ends at %v, want 90 ms", got)
			}
		})
	}
}
