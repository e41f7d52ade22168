package circuits

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// underOCSes is a view of racks of one host under OCSes of 1 Gb/s at δ 10 ms and instant 0, in which pairs of racks
// have so many milliseconds to send.
func underOCSes(t testing.TB, racks, ocses int, ms map[[2]southbound.HostID]int) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: racks, EPS: pathmap.Gbps, Dark: 10 * time.Millisecond,
		OCSes: ocses})
	if err != nil {
		t.Fatal(err)
	}
	c := controller.CoflowView{ID: 0, Generation: 1, Started: true, Routed: true, Remaining: southbound.Remaining{F: 1}}
	for src := range southbound.HostID(racks) {
		for dst := range southbound.HostID(racks) {
			if d := ms[[2]southbound.HostID{src, dst}]; d > 0 {
				size := pathmap.Gbps.In(time.Duration(d) * time.Millisecond)
				c.Src, c.Dst, c.Size = append(c.Src, src), append(c.Dst, dst), append(c.Size, size)
				c.Remaining.Base, c.Ended = append(c.Remaining.Base, float64(size)), append(c.Ended, false)
				c.Tag = append(c.Tag, 0)
			}
		}
	}
	return &controller.View{Fabric: f, Delta: 10 * time.Millisecond, Coflows: []controller.CoflowView{c},
		Circuits: slices.Repeat([]controller.CircuitView{{Out: southbound.NoPort}}, f.OCSPorts()),
		Down:     make([]bool, len(f.Topology.Links()))}
}

// hold lights a circuit and has it reserved.
func hold(v *controller.View, in, out southbound.Port, until time.Duration) {
	for i := range v.Circuits {
		if v.Circuits[i].Out == out {
			v.Circuits[i] = controller.CircuitView{Out: southbound.NoPort}
		}
	}
	v.Circuits[in] = controller.CircuitView{Out: out, Phase: controller.InService, Held: true,
		Coflow: controller.AnyCoflow, Until: until}
	v.Reserved = append(v.Reserved, controller.CircuitReservation{NotAfter: until, In: in, Out: out,
		Coflow: controller.AnyCoflow})
}

// darken takes the light of a port away.
func darken(v *controller.View, p southbound.Port) {
	f := v.Fabric
	v.Down[f.Topology.OutPort(f.ToRNode[f.OCSRack(int32(p))], f.OCSUplink[p])] = true
}

// enact does at once what a plan asks for.
func enact(v *controller.View, p *controller.Plan) {
	v.Reserved = slices.DeleteFunc(v.Reserved, func(r controller.CircuitReservation) bool {
		if slices.Contains(p.Preempt, r.In) {
			v.Circuits[r.In].Held = false
			return true
		}
		return false
	})
	for _, r := range p.Reserve {
		hold(v, r.In, r.Out, r.NotAfter)
	}
}

// engineered is a part that keeps what it explains last.
func engineered(groups int) (*Topology, *route.TopologyWhy) {
	x, last := &Topology{Groups: groups}, new(route.TopologyWhy)
	x.Tell(func(_ *controller.View, w route.Why) { *last = *w.Topology })
	return x, last
}

// TestTopologyBesideSlice: a slice has ports of the first switch. Other pairs of its racks get circuits of the second
// one, the slice's own pairs none, and the next event has them stay.
func TestTopologyBesideSlice(t *testing.T) {
	for _, groups := range []int{0, 2} {
		v := underOCSes(t, 5, 2, map[[2]southbound.HostID]int{{0, 1}: 900, {1, 0}: 80, {2, 1}: 80, {0, 2}: 80})
		for i := range southbound.Port(3) {
			hold(v, i, (i+1)%3, southbound.Never)
		}
		x, why := engineered(groups)
		p := ask(x, v)
		if got, want := circuits(v, p), "5>7 0-3600000, 6>5 0-3600000, 7>6 0-3600000"; got != want {
			t.Errorf("reserves %s, want %s", got, want)
		}
		if !why.Decision.Reconfigure || why.Left.Value != 0 || !why.Left.Exact {
			t.Errorf("%+v", why)
		}
		enact(v, p)
		p = ask(x, v)
		if len(p.Reserve)+len(p.Preempt) > 0 || why.Decision.Reconfigure || why.Left.Value != 0 {
			t.Errorf("reserves %s and preempts %v next: %+v", circuits(v, p), p.Preempt, why)
		}
	}
}

// TestTopologyBesideDarkPort: rack 0 has no light at the first switch, and rack 1 none at the second. They cannot be
// joined; both have circuits with rack 2, each at the switch where it has light, and those stay.
func TestTopologyBesideDarkPort(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 900, {0, 2}: 80, {1, 2}: 80, {3, 0}: 70, {3, 1}: 70})
	darken(v, 0)
	darken(v, 5)
	x, why := engineered(0)
	p := ask(x, v)
	if got, want := circuits(v, p), "1>2 0-3600000, 3>1 0-3600000, 4>6 0-3600000, 7>4 0-3600000"; got != want {
		t.Errorf("reserves %s, want %s", got, want)
	}
	enact(v, p)
	p = ask(x, v)
	if len(p.Reserve)+len(p.Preempt) > 0 || why.Decision.Reconfigure || why.Left.Value != 0 {
		t.Errorf("reserves %s and preempts %v next: %+v", circuits(v, p), p.Preempt, why)
	}
}

// TestTopologyTellsWhatFits: rack 0 has light at both switches, and its two peers have it at the first one alone. Ports
// are enough for both, and no switch is. What fits nowhere is told as left.
func TestTopologyTellsWhatFits(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 90, {0, 2}: 80})
	darken(v, 5)
	darken(v, 6)
	x, why := engineered(0)
	p := ask(x, v)
	if got, want := circuits(v, p), "0>1 0-3600000"; got != want {
		t.Errorf("reserves %s, want %s", got, want)
	}
	if math.Abs(why.Left.Value-0.08) > 1e-9 || why.Left.Exact {
		t.Errorf("%+v: 80 ms are left, and no proof says that they have to be", why.Left)
	}
	enact(v, p)
	if p = ask(x, v); len(p.Reserve)+len(p.Preempt) > 0 || why.Decision.Reconfigure {
		t.Errorf("reserves %s next: %+v", circuits(v, p), why)
	}
}

// TestTopologyRelights: a pair whose circuit is there without a reservation gets that one, at whichever switch.
func TestTopologyRelights(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 80})
	v.Circuits[4] = controller.CircuitView{Out: 5, Phase: controller.InService}
	x, _ := engineered(0)
	if got, want := circuits(v, ask(x, v)), "4>5 0-3600000"; got != want {
		t.Errorf("reserves %s, want %s", got, want)
	}
}

// randomDemand returns 20 ms and more, by up to most, that some pairs of racks have for each other.
func randomDemand(rng *rand.Rand, racks, most int) map[[2]southbound.HostID]int {
	ms := map[[2]southbound.HostID]int{}
	for range 1 + rng.IntN(3*racks) {
		if a, b := rng.IntN(racks), rng.IntN(racks); a != b {
			ms[[2]southbound.HostID{southbound.HostID(a), southbound.HostID(b)}] = 20 + rng.IntN(most)
		}
	}
	return ms
}

// TestTopologyLaws: on random fabrics with slices, dark ports and circuits without reservations, what is reserved
// is on ports that are lit and of no slice, and decisions come to rest.
func TestTopologyLaws(t *testing.T) {
	for seed := range uint64(tries.Of(300, 5000)) {
		rng := rand.New(rand.NewPCG(seed, 9))
		racks, ocses := 3+rng.IntN(6), 1+rng.IntN(4)
		v := underOCSes(t, racks, ocses, randomDemand(rng, racks, 500))
		litAtRandom(v, rng)
		for range rng.IntN(4) {
			if q := southbound.Port(rng.IntN(racks * ocses)); v.Circuits[q].Out == southbound.NoPort &&
				!slices.ContainsFunc(v.Circuits, func(c controller.CircuitView) bool { return c.Out == q }) {
				darken(v, q)
			}
		}
		checkRest(t, seed, v, rng.IntN(3))
	}
}

// litAtRandom lights circuits, some of slices, and some of nobody, no pair twice.
func litAtRandom(v *controller.View, rng *rand.Rand) {
	racks := southbound.Port(v.Fabric.Racks)
	pairs, used := map[[2]southbound.Port]bool{}, map[southbound.Port]bool{}
	for range rng.IntN(3 * int(racks)) {
		k := southbound.Port(rng.IntN(len(v.Circuits))) / racks * racks
		a, b := southbound.Port(rng.IntN(int(racks))), southbound.Port(rng.IntN(int(racks)))
		if a == b || pairs[[2]southbound.Port{a, b}] || v.Circuits[k+a].Out != southbound.NoPort || used[k+b] {
			continue
		}
		pairs[[2]southbound.Port{a, b}], used[k+b] = true, true
		if rng.IntN(3) == 0 {
			hold(v, k+a, k+b, southbound.Never)
		} else {
			v.Circuits[k+a] = controller.CircuitView{Out: k + b, Phase: controller.InService}
		}
	}
}

// checkRest asks and does what is planned until nothing changes.
func checkRest(t *testing.T, seed uint64, v *controller.View, groups int) {
	t.Helper()
	x, why := engineered(groups)
	for event := 0; ; event++ {
		*why = route.TopologyWhy{}
		_, ends := withoutSlices(v)
		p := ask(x, v)
		for _, r := range p.Reserve {
			if !ends[r.In].ok || !ends[r.Out].ok {
				t.Fatalf("seed %d: %d→%d is of a slice or dark", seed, r.In, r.Out)
			}
		}
		if why.Left.Bound > why.Left.Value || why.Disturbed.Bound > why.Disturbed.Value {
			t.Fatalf("seed %d: %+v", seed, why)
		}
		if len(p.Reserve)+len(p.Preempt) == 0 {
			if why.Decision.Reconfigure {
				t.Fatalf("seed %d: it decides to move, and nothing moves: %+v", seed, why)
			}
			return
		}
		if event == 6 {
			t.Fatalf("seed %d: no rest: %s, preempts %v", seed, circuits(v, p), p.Preempt)
		}
		enact(v, p)
	}
}

// BenchmarkTopologyDecision: one decision about coflows between most pairs of racks, nothing standing.
func BenchmarkTopologyDecision(b *testing.B) {
	for _, size := range [][2]int{{203, 1}, {128, 4}, {80, 16}, {64, 16}, {256, 1}, {256, 16}} {
		for _, values := range []string{"few", "many"} {
			b.Run(fmt.Sprintf("%d_racks_%d_switches_%s_values", size[0], size[1], values), func(b *testing.B) {
				rng, ms := rand.New(rand.NewPCG(1, 11)), map[[2]southbound.HostID]int{}
				for src := range southbound.HostID(size[0]) {
					for dst := range southbound.HostID(size[0]) {
						if x := 100 + int(1000*rng.ExpFloat64()); src != dst && rng.IntN(5) > 0 {
							if values == "few" {
								x = (x + 999) / 1000 * 1000
							}
							ms[[2]southbound.HostID{src, dst}] = x
						}
					}
				}
				v, x := underOCSes(b, size[0], size[1], ms), &Topology{}
				before := processorTime(b)
				for b.Loop() {
					ask(x, v)
				}
				b.ReportMetric((processorTime(b)-before).Seconds()*1e3/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
