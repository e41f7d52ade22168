package rollout_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

const bigSwitch = "crossbar:ports=5,rate=1Gbps,dark=10ms"

// TestStand: where the rules of circuits stand, tables are the same whichever circuits do. A packet of
// a circuit's tag takes the circuit that leads to its rack, the default way while its ToR has no light,
// and where the light leads elsewhere it goes on from there: it always arrives.
func TestStand(t *testing.T) {
	f, b := fabric(t, bigSwitch, 1)
	b.Stand()
	none := tables(f, b, dark(f.Racks))
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		circuits := dark(f.Racks)
		for in, out := range r.Perm(f.Racks) {
			if in != out && r.IntN(3) > 0 {
				circuits[in] = southbound.Port(out)
			}
		}
		x := tables(f, b, circuits)
		if err := rollout.Check(x); err != nil {
			t.Fatalf("seed %d: circuits %v: %v", seed, circuits, err)
		}
		for d := range x.Rules {
			if c := rollout.Diff(x.Rules[d], none.Rules[d]); !c.Empty() {
				t.Fatalf("seed %d: with circuits %v the table of device %d differs by %+v", seed, circuits, d, c)
			}
		}
		for in := range f.Racks {
			for out := range f.Racks {
				if in == out {
					continue
				}
				way, _ := x.Walk(southbound.RackID(in), southbound.RackID(out), southbound.TagCircuit)
				want := 2 // over the circuit, or over the spine
				if circuits[in] != southbound.NoPort && int(circuits[in]) != out {
					want = 4 // over both
				}
				lit := circuits[in] != southbound.NoPort
				if len(way) != want || (f.Topology.Link(way[0]).To == f.OCSNode) != lit {
					t.Fatalf("seed %d: circuits %v: the circuit's tag takes %v from %d to %d", seed,
						circuits, way, in, out)
				}
				way, _ = x.Walk(southbound.RackID(in), southbound.RackID(out), southbound.TagDefault)
				if f.Topology.Node(f.Topology.Link(way[0]).To).Role != pathmap.Switch {
					t.Fatalf("a packet without a tag takes %v", way)
				}
			}
		}
	}
	if rules, matches := b.CircuitRules(0, 1), b.CircuitMatches(0, 1); len(rules)+len(matches) > 0 {
		t.Errorf("a circuit has the rules %v and %v", rules, matches)
	}
}

// TestStandingMoves: no move sends a ToR anything, and the tables are right at every moment of any moves.
func TestStandingMoves(t *testing.T) {
	for seed := range tries.Of[uint64](60, 200) {
		f, b := fabric(t, bigSwitch, 1)
		b.Stand()
		w := playMoves(t, seed, f, b)
		for d := range w.queues {
			if d != f.OCSNode {
				t.Fatalf("seed %d: device %d was sent something", seed, d)
			}
		}
	}
}

// TestStandingStages: a move that displaces a circuit waits for its ports to drain and for the OCS, and
// for no ToR.
func TestStandingStages(t *testing.T) {
	const ms = time.Millisecond
	f, b := fabric(t, bigSwitch, 1)
	b.Stand()
	m := rollout.NewMover(f, b, rollout.Options{Drain: 3 * ms, Timeout: time.Second, Retry: ms})
	m.Begin(100*ms, 0, 1, []southbound.CrossConnect{{In: 0, Out: 2}})
	if sets, _ := m.Next(100 * ms); len(sets) > 0 || m.Wake() != 103*ms {
		t.Fatalf("at once it sends %+v, and goes on at %v", sets, m.Wake())
	}
	sets, _ := m.Next(103 * ms)
	if len(sets) != 1 || sets[0].Device != f.OCSNode {
		t.Fatalf("after draining it sends %+v", sets)
	}
	m.Done(104*ms, sets[0].Token, nil)
	m.Event(114*ms, southbound.DeviceEvent{Device: f.OCSNode, Kind: southbound.ConnectionStatus, In: 0, Out: 1,
		Status: southbound.Connected})
	sets, settled := m.Next(114 * ms)
	if len(sets) != 0 || len(settled) != 1 || !settled[0].OK || m.Busy() {
		t.Fatalf("with light it sends %+v and settles %+v", sets, settled)
	}
	s := settled[0].Stages
	if got, want := [4]time.Duration{s.Cleared, s.Drained, s.Accepted, s.Connected},
		[4]time.Duration{100 * ms, 103 * ms, 104 * ms, 114 * ms}; got != want {
		t.Errorf("stages %v, want %v", got, want)
	}
}
