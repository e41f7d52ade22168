package flowsim

import (
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// small has links of one rate, so that the arithmetic is easy: 1 MB takes 80 ms at 100 Mb/s.
var small = topo.Spec{Kind: topo.Hybrid, Racks: 4, Hosts: 2, Spines: 2, NIC: 100 * pathmap.Mbps,
	EPS: 100 * pathmap.Mbps,
	OCS: 100 * pathmap.Mbps, Dark: 10 * ms}

func ends(ev []southbound.Event) map[southbound.HostFlowKey]time.Duration {
	m := map[southbound.HostFlowKey]time.Duration{}
	for _, e := range ev {
		if e.Kind == southbound.HostFlowEnded {
			m[e.HostFlowKey] = e.At
		}
	}
	return m
}

func key(c southbound.CoflowID, row int32) southbound.HostFlowKey {
	return southbound.HostFlowKey{Coflow: c, Row: row}
}

func TestByHand(t *testing.T) {
	cases := []struct {
		name string
		run  func(t *testing.T, s *Sim)
		want map[southbound.HostFlowKey]time.Duration
	}{{
		name: "alone at line rate", // 1 MB at 100 Mb/s
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, 1})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 80 * ms},
	}, {
		name: "two share a spine link until the smaller ends", // 1 MB at 50: 160 ms; then 1 MB at 100: 80 ms
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, 1}, row{1, 3, 2 * mb, 1})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 160 * ms, key(0, 1): 240 * ms},
	}, {
		name: "two spines carry both",
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, 1}, row{1, 3, mb, 2})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 80 * ms, key(0, 1): 80 * ms},
	}, {
		name: "within a rack no spine is used",
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 1, mb, 0})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 80 * ms},
	}, {
		name: "held until rates come",
		run: func(t *testing.T, s *Sim) {
			start(t, s, 0, row{0, 2, mb, 1})
			s.At(30*ms, func() { rates(t, s, southbound.Rates{Fair: true}) })
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 110 * ms},
	}, {
		name: "a pace ends all at once",
		run: func(t *testing.T, s *Sim) {
			start(t, s, 0, row{0, 2, mb, 1}, row{1, 3, mb / 2, 1})
			rates(t, s, southbound.Rates{Pace: []southbound.Pace{{Coflow: 0, Until: 123 * ms}}})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 123 * ms, key(0, 1): 123 * ms},
	}, {
		name: "a pace that a link cannot hold", // asks 100 and 50 of 100: the first gets 50, is late, then gets what it asked
		run: func(t *testing.T, s *Sim) {
			start(t, s, 0, row{0, 2, mb, 1}, row{1, 3, mb / 2, 1})
			rates(t, s, southbound.Rates{Pace: []southbound.Pace{{Coflow: 0, Until: 80 * ms}}})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 120 * ms, key(0, 1): 80 * ms},
	}, {
		name: "pairs, a delta", // 1 MB: 80 ms at 50 is half; the rest at 100 from 80 ms on
		run: func(t *testing.T, s *Sim) {
			start(t, s, 0, row{0, 2, mb, 1})
			rates(t, s, southbound.Rates{Pairs: []southbound.PairRate{{Src: 0, Dst: 2, Tag: 1,
				Rate: 50 * pathmap.Mbps}}})
			s.At(80*ms, func() {
				rates(t, s, southbound.Rates{Pairs: []southbound.PairRate{{Src: 0, Dst: 2, Tag: 1,
					Rate: 100 * pathmap.Mbps}}})
			})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 120 * ms},
	}, {
		name: "an unlit circuit falls back to spine 0, and comes after its dark time",
		// both on spine 0 at 50 until 10 ms; then the circuit is lit and each has 100: 80 + 5
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, southbound.TagCircuit}, row{1, 3, mb, 1})
			connect(t, s, southbound.CrossConnect{In: 0, Out: 1})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 85 * ms, key(0, 1): 85 * ms},
	}, {
		name: "off a circuit that goes", // 40 ms over the circuit, then both share spine 0: 0.5 MB each at 50 is 80 ms
		run: func(t *testing.T, s *Sim) {
			connect(t, s, southbound.CrossConnect{In: 0, Out: 1})
			advance(t, s, 10*ms)
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, southbound.TagCircuit}, row{1, 3, mb, 1})
			s.At(50*ms, func() { connect(t, s, southbound.CrossConnect{In: 0, Off: true}) })
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 130 * ms, key(0, 1): 130 * ms},
	}, {
		name: "steered onto another spine in mid-flow", // 40 ms at 50 is 0.25 MB each; the rest at 100 is 60 ms
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, 1}, row{1, 3, mb, 1})
			s.At(40*ms, func() {
				if err := s.Host().Steer([]southbound.Steer{{HostFlowKey: key(0, 1), Tag: 2}}); err != nil {
					t.Error(err)
				}
			})
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 100 * ms, key(0, 1): 100 * ms},
	}, {
		name: "a cut cable stalls, a mended one goes on",
		run: func(t *testing.T, s *Sim) {
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, 1})
			up := s.fabric.Topology.OutPort(s.fabric.ToRNode[0], int32(spinePort(s.fabric, 0)))
			s.At(20*ms, func() { s.Cable(up, false) })
			s.At(50*ms, func() { s.Cable(up, true) })
		},
		want: map[southbound.HostFlowKey]time.Duration{key(0, 0): 110 * ms},
	}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := simulate(t, fabric(t, small), Options{NoHeaders: true})
			wire(t, s)
			c.run(t, s)
			got := ends(advance(t, s, time.Second))
			if len(got) != len(c.want) {
				t.Errorf("%d ends, want %d", len(got), len(c.want))
			}
			for k, at := range c.want {
				if got[k] != at {
					t.Errorf("row %d of coflow %d ended at %v, want %v", k.Row, k.Coflow, got[k], at)
				}
			}
		})
	}
}
