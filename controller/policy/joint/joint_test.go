package joint_test

import (
	"fmt"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
)

// written writes a plan down without its rates.
func written(p *controller.Plan) string {
	c := *p
	c.Share = nil
	return fmt.Sprintf("%+v", c)
}

// TestJointWithoutOpticalSwitchIsCrossLayer: plans are the same, to the last count of moves.
func TestJointWithoutOpticalSwitchIsCrossLayer(t *testing.T) {
	compared := 0
	for seed := range tries.Of[uint64](120, 300) {
		v := policytest.View(seed)
		if v.Fabric.HasOCS() {
			continue
		}
		compared++
		if got, want := written(decide(t, "joint", v)), written(decide(t, "crosslayer", v)); got != want {
			t.Fatalf("view %d: joint\n%s\ncrosslayer\n%s", seed, got, want)
		}
	}
	for seed := range tries.Of[uint64](6, 20) {
		v := busy(t, topo.Spec{Kind: topo.LeafSpine, Racks: 8, Hosts: 2, Spines: 2}, 5, 4, 3, seed)
		if got, want := written(decide(t, "joint", v)), written(decide(t, "crosslayer", v)); got != want {
			t.Fatalf("busy view %d: joint\n%s\ncrosslayer\n%s", seed, got, want)
		}
	}
	if compared < tries.Of(15, 20) {
		t.Errorf("only %d views without an optical switch", compared)
	}
}

// hybrid is a view with one bare coflow that has just started, of some bytes from rack 0 to rack 1, on
// packets.
func hybrid(t testing.TB, bytes pathmap.Bytes, delta time.Duration) *controller.View {
	t.Helper()
	v := busy(t, topo.Spec{Kind: topo.Hybrid, Racks: 4, Hosts: 2, Spines: 2, NIC: 500 * pathmap.Mbps,
		EPS: 50 * pathmap.Mbps, OCS: 500 * pathmap.Mbps},
		1, 1, 1, 1)
	v.Waiting, v.Delta, v.ElephantThreshold = nil, delta, 1<<40
	v.Circuits = make([]controller.CircuitView, 4)
	c := &v.Coflows[0]
	c.Src[0], c.Dst[0], c.Size[0], c.Remaining.Base[0], c.Tag[0] = 0, 2, bytes, float64(bytes), 0
	return v
}

// TestReconfigurationDelayIsWeighed: a transfer of 10 MB at 50 Mb/s takes 1.6 s over packets and 0.16 s
// over a circuit: it is worth a reconfiguration delay of 1 s, and not one of 2 s. What racks have
// reserved already is waited for.
func TestReconfigurationDelayIsWeighed(t *testing.T) {
	const mb = 1e6
	for _, tc := range []struct {
		name  string
		bytes pathmap.Bytes
		delta time.Duration
		wait  time.Duration // another coflow's reservation on the input
		lit   bool
	}{
		{"worth it", 10 * mb, time.Second, 0, true},
		{"reconfiguration delay too long", 10 * mb, 2 * time.Second, 0, false},
		{"too few bytes", mb, time.Second, 0, false},
		{"short wait", 10 * mb, 10 * time.Millisecond, time.Second, true},
		{"long wait, which can become shorter", 10 * mb, 10 * time.Millisecond, 2 * time.Second, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := hybrid(t, tc.bytes, tc.delta)
			if tc.wait > 0 {
				v.Circuits[0] = controller.CircuitView{Out: 2, Phase: controller.InService, Held: true,
					Coflow: 99, Until: v.Now +
						tc.wait}
				v.Reserved = []controller.CircuitReservation{{NotBefore: 0, NotAfter: v.Now + tc.wait,
					In: 0, Out: 2, Coflow: 99}}
			}
			p := decide(t, "joint", v)
			if err := policytest.Check(v, p); err != nil {
				t.Fatal(err)
			}
			if lit := len(p.Reserve) > 0; lit != tc.lit {
				t.Errorf("reservations %+v, want some: %v", p.Reserve, tc.lit)
			}
		})
	}
}

// TestWhatStandsStays: a coflow keeps its reservation at the next decision, although what is left would
// not be worth a reconfiguration delay, and requests nothing more.
func TestWhatStandsStays(t *testing.T) {
	v := hybrid(t, 10e6, 10*time.Millisecond)
	v.Reserved = append([]controller.CircuitReservation(nil), decide(t, "joint", v).Reserve...)
	if len(v.Reserved) == 0 {
		t.Fatal("nothing was reserved")
	}
	v.Coflows[0].Remaining.Base[0] = 1e4
	if p := decide(t, "joint", v); len(p.Withdraw)+len(p.Preempt) > 0 || len(p.Reserve) > 0 {
		t.Errorf("withdrawn %v, preempted %v, reserved %+v", p.Withdraw, p.Preempt, p.Reserve)
	}
}

// TestJointFindsPorts: a job that fills two racks is placed where circuits can join them.
func TestJointFindsPorts(t *testing.T) {
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 4, Hosts: 2, Spines: 2, Ports: 2,
		NIC: 500 * pathmap.Mbps,
		EPS: 50 * pathmap.Mbps, OCS: pathmap.Gbps})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(6, 1)
	if err != nil {
		t.Fatal(err)
	}
	ported := 0
	for r := range f.Racks {
		if f.OCSUplink[r] >= 0 {
			ported++
		}
	}
	if ported != 2 {
		t.Fatalf("%d racks have ports, want 2", ported)
	}
	for seed := range uint64(10) {
		j := shuffle(0, 2, 2)
		j.Edges[0].Bytes = 1e9
		v := &controller.View{Seed: seed, Now: time.Second, Fabric: f, Paths: m,
			Free:     []int32{1, 1, 1, 1, 1, 1, 1, 1},
			Waiting:  []*controller.Job{j},
			Circuits: make([]controller.CircuitView, f.Racks), Delta: 10 * time.Millisecond}
		for _, h := range decide(t, "joint", v).Place[0].Hosts {
			if r := v.HostRack(h); f.OCSUplink[r] < 0 {
				t.Errorf("seed %d: a task is in rack %d, which has no port", seed, r)
			}
		}
	}
}
