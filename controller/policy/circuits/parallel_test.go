package circuits

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// told is a part that keeps what it explains last.
func told() (*Parallel, *route.ClearanceWhy) {
	x, last := &Parallel{}, new(route.ClearanceWhy)
	x.Tell(func(_ *controller.View, w route.Why) { *last = *w.Clearance })
	return x, last
}

// TestParallelByHand: rack 0 has 90, 80 and 70 ms for three others. Two switches carry the two longest first, and the
// third behind the shorter one: 10 + 80 + 10 + 70 ms. Two of three turns are on one switch, and no two are shorter.
func TestParallelByHand(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 90, {0, 2}: 80, {0, 3}: 70})
	x, why := told()
	p := ask(x, v)
	if got, want := circuits(v, p), "0>1 0-100, 4>6 0-90, 4>7 90-170"; got != want {
		t.Errorf("reserves %s, want %s", got, want)
	}
	if end := 170 * time.Millisecond; !why.Makespan.Exact || why.Makespan.Value != float64(end) || why.Pairs != 3 ||
		why.Reserved != end || p.Wake != end {
		t.Errorf("%+v, wakes at %v", why, p.Wake)
	}
	enact(v, p)
	if p := ask(x, v); len(p.Reserve) > 0 || p.Wake != 170*time.Millisecond {
		t.Errorf("in an epoch that is on it reserves %s, and wakes at %v", circuits(v, p), p.Wake)
	}
}

// TestParallelGoesOn: a circuit that is there goes on without a delay, even where others are planned before.
func TestParallelGoesOn(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 30, {0, 2}: 80, {3, 1}: 70})
	v.Circuits[4] = controller.CircuitView{Out: 5, Phase: controller.InService}
	x, _ := told()
	if got, want := circuits(v, ask(x, v)), "0>2 0-90, 3>1 0-80, 4>5 0-30"; got != want {
		t.Errorf("reserves %s, want %s", got, want)
	}
}

// TestParallelUsesWhatCanBeUsed: rack 1 has no light at the first switch, rack 2 none at the second, and a slice has
// ports of racks 0 and 3 there. Only rack 0 and 2, and 3 and 2, can be joined.
func TestParallelUsesWhatCanBeUsed(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 90, {0, 2}: 80, {1, 2}: 70, {3, 2}: 60, {0, 3}: 50})
	darken(v, 1)
	darken(v, 6)
	hold(v, 4, 7, southbound.Never)
	hold(v, 7, 4, southbound.Never)
	x, why := told()
	if got, want := circuits(v, ask(x, v)), "0>2 0-90, 3>2 90-160"; got != want {
		t.Errorf("reserves %s, want %s: %+v", got, want, why)
	}
}

// TestParallelTakesTheFastSwitch: the second switch takes ten times as long to move, and gets what would be over later
// on the first one: the third pair, after 50 + 20 ms in place of 45 + 35 + 25.
func TestParallelTakesTheFastSwitch(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 40, {0, 2}: 30, {0, 3}: 20})
	v.Deltas = slices.Concat(slices.Repeat([]time.Duration{5 * time.Millisecond}, 4),
		slices.Repeat([]time.Duration{50 * time.Millisecond}, 4))
	x, _ := told()
	if got, want := circuits(v, ask(x, v)), "0>1 0-45, 4>7 0-70, 0>2 45-80"; got != want {
		t.Errorf("reserves %s, want %s", got, want)
	}
}

// TestParallelCountsWithTheSlowestSwitch: moves take 50 µs in the mean, and 25 ms at the one switch that is left. An
// epoch has 100 of those, so that it carries something.
func TestParallelCountsWithTheSlowestSwitch(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 40})
	v.Delta = 50 * time.Microsecond
	v.Deltas = slices.Concat(slices.Repeat([]time.Duration{v.Delta}, 4),
		slices.Repeat([]time.Duration{25 * time.Millisecond}, 4))
	for p := range southbound.Port(4) {
		darken(v, p)
	}
	x, _ := told()
	if p, end := ask(x, v), 65*time.Millisecond; circuits(v, p) != "4>5 0-65" || p.Wake < end {
		t.Errorf("reserves %s, and wakes at %v", circuits(v, p), p.Wake)
	}
}

// TestParallelWaitsForMoves: a circuit that has been moving for 4 of 10 ms carries from then on.
func TestParallelWaitsForMoves(t *testing.T) {
	v := underOCSes(t, 4, 2, map[[2]southbound.HostID]int{{0, 1}: 30})
	v.Now = 14 * time.Millisecond
	for since, want := range map[time.Duration]string{10 * time.Millisecond: "4>5 0-36", 0: "4>5 0-30"} {
		v.Circuits[4] = controller.CircuitView{Out: 5, Phase: controller.Reconfiguring, Since: since}
		if got := circuits(v, ask(&Parallel{}, v)); got != want {
			t.Errorf("moving since %v it reserves %s, want %s", since, got, want)
		}
	}
}

// TestParallelCutsOff: an epoch lasts 100 delays. What would begin to carry at its end is left to the next one, and the
// last of what is reserved ends it.
func TestParallelCutsOff(t *testing.T) {
	for _, tc := range []struct {
		first int
		want  string
		wake  time.Duration
	}{
		{980, "0>1 0-990", 990 * time.Millisecond},
		{985, "0>1 0-995", 995 * time.Millisecond},
		{975, "0>1 0-985, 0>2 985-1000", time.Second},
		{2000, "0>1 0-1000", time.Second},
	} {
		v := underOCSes(t, 4, 1, map[[2]southbound.HostID]int{{0, 1}: tc.first, {0, 2}: 50})
		x, why := told()
		if p := ask(x, v); circuits(v, p) != tc.want || p.Wake != tc.wake || why.Reserved != tc.wake || why.Pairs != 2 {
			t.Errorf("%d ms: reserves %s, wakes at %v, and tells %+v", tc.first, circuits(v, p), p.Wake, why)
		}
	}
}

// TestParallelRounds: where circuits carry all, a pair gets up to an eighth of a delay more than it needs, and of a
// delay of 1 ns no less than it needs.
func TestParallelRounds(t *testing.T) {
	for delta, want := range map[time.Duration]time.Duration{
		10 * time.Millisecond: 10*time.Millisecond + 2500*time.Microsecond, 1: 1 + 2*time.Millisecond + 8} {
		v := underOCSes(t, 4, 1, map[[2]southbound.HostID]int{{0, 1}: 2})
		v.Coflows[0].Size[0]++
		v.Coflows[0].Remaining.Base[0]++
		v.Delta = delta
		if p := ask(&Parallel{}, v); len(p.Reserve) != 1 || p.Reserve[0].NotAfter != want {
			t.Errorf("a delay of %v: reserves %+v, want until %v", delta, p.Reserve, want)
		}
	}
}

// TestParallelLaws: on random fabrics with slices that are lit and not, dark ports, delays that differ and circuits
// without reservations, no port has two circuits at once, no pair has two switches, and what is reserved is of no
// slice and lit. A pair that has nothing waits for one of its ports at each switch that could join it.
func TestParallelLaws(t *testing.T) {
	for seed := range uint64(tries.Of(200, 4000)) {
		rng := rand.New(rand.NewPCG(seed, 12))
		v := randomOCSes(t, rng)
		_, ends := withoutSlices(v)
		joined := newWavelengthAssignment(v)
		x, why := told()
		all := ask(x, v).Reserve
		slices.SortFunc(all, func(a, b controller.CircuitReservation) int { return cmp.Compare(a.NotBefore, b.NotBefore) })
		racks := southbound.Port(v.Fabric.Racks)
		free, pairs := map[[2]southbound.Port]time.Duration{}, map[[2]southbound.Port]bool{}
		for _, r := range all {
			pair := [2]southbound.Port{r.In % racks, r.Out % racks}
			if !ends[r.In].ok || !ends[r.Out].ok || r.In/racks != r.Out/racks || pairs[pair] || !joined.may(r.In, r.Out) ||
				free[[2]southbound.Port{0, r.In}] > r.NotBefore || free[[2]southbound.Port{1, r.Out}] > r.NotBefore {
				t.Fatalf("seed %d: %+v in %+v", seed, r, all)
			}
			pairs[pair] = true
			free[[2]southbound.Port{0, r.In}], free[[2]southbound.Port{1, r.Out}] = r.NotAfter, r.NotAfter
		}
		c, window := &v.Coflows[0], epochDelays*slices.Max(v.Deltas)
		for row := range c.Src {
			if a, b := southbound.Port(c.Src[row]), southbound.Port(c.Dst[row]); !pairs[[2]southbound.Port{a, b}] {
				for in, out := a, b; int(in) < len(ends); in, out = in+racks, out+racks {
					if ends[in].ok && ends[out].ok && joined.may(in, out) && v.DeltaAt(in)+
						max(free[[2]southbound.Port{0, in}], free[[2]southbound.Port{1, out}]) < window {
						t.Fatalf("seed %d: %d→%d could begin within %v: %+v", seed, in, out, window, all)
					}
				}
			}
		}
		if why.Makespan.Bound > why.Makespan.Value {
			t.Fatalf("seed %d: %+v", seed, why)
		}
	}
}

// randomOCSes is a view of racks under some OCSes, with demand between some of them.
func randomOCSes(t *testing.T, rng *rand.Rand) *controller.View {
	racks, ocses := 3+rng.IntN(6), 1+rng.IntN(4)
	v := underOCSes(t, racks, ocses, randomDemand(rng, racks, 900))
	litAtRandom(v, rng)
	for range rng.IntN(3) {
		reserveSlice(v, southbound.Port(rng.IntN(racks*ocses)), southbound.Port(rng.IntN(racks)))
	}
	for range rng.IntN(4) {
		darken(v, southbound.Port(rng.IntN(racks*ocses)))
	}
	v.Deltas = nil
	for range ocses {
		v.Deltas = append(v.Deltas, slices.Repeat([]time.Duration{time.Duration(1+rng.IntN(30)) * time.Millisecond},
			racks)...)
	}
	return v
}

// reserveSlice has a port reserved for ever to a rack, without lighting it, unless the pair has a circuit or another
// slice has a port of it.
func reserveSlice(v *controller.View, in, rack southbound.Port) {
	racks := southbound.Port(v.Fabric.Racks)
	out := in - in%racks + rack
	for i := range v.Circuits {
		if to := v.Circuits[i].Out; to != southbound.NoPort && southbound.Port(i)%racks == in%racks && to%racks == rack {
			return
		}
	}
	if in == out || slices.ContainsFunc(v.Reserved, func(r controller.CircuitReservation) bool {
		return r.In == in || r.Out == out || r.In%racks == in%racks && r.Out%racks == rack
	}) {
		return
	}
	v.Reserved = append(v.Reserved, controller.CircuitReservation{NotAfter: southbound.Never, In: in, Out: out,
		Coflow: controller.AnyCoflow})
}

// TestParallelBesideSolstice: the same demand is carried sooner than by Solstice on each of four switches, after pairs
// have been dealt to them, and so it is on one.
func TestParallelBesideSolstice(t *testing.T) {
	for _, ocses := range []int{1, 4} {
		ratio := 0.0
		const seeds = 10
		for seed := range uint64(seeds) {
			rng, ms := rand.New(rand.NewPCG(seed, 13)), map[[2]southbound.HostID]int{}
			for a := range southbound.HostID(12) {
				for b := range southbound.HostID(12) {
					if a != b && rng.IntN(2) == 0 {
						ms[[2]southbound.HostID{a, b}] = 1 + int(30*rng.ExpFloat64())
					}
				}
			}
			end := func(f filler) (end time.Duration) {
				for _, r := range ask(f, underOCSes(t, 12, ocses, ms)).Reserve {
					end = max(end, r.NotAfter)
				}
				return end
			}
			ratio += end(&Parallel{}).Seconds() / end(Solstice()).Seconds() / seeds
		}
		t.Logf("%d switches: %.3f of the time", ocses, ratio)
		if ratio > 0.9 {
			t.Errorf("%d switches: %.3f of Solstice's time", ocses, ratio)
		}
	}
}
