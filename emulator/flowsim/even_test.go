package flowsim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// newEvenScript is a random run on a fabric where only ports bind, most of its rates telling all
// coflows the same of their ports. Some are more than links carry, some do not name all coflows, and
// some runs have pairs, paces and fair sharing in between.
func newEvenScript(rng *rand.Rand) *script {
	sc := &script{spec: topo.Spec{Kind: topo.Crossbar, Racks: 2 + rng.IntN(5), EPS: 100 * pathmap.Mbps},
		size: map[southbound.HostFlowKey]pathmap.Bytes{}}
	if rng.IntN(3) == 0 {
		sc.spec = topo.Spec{Kind: topo.LeafSpine, Racks: 2 + rng.IntN(3), Hosts: 1 + rng.IntN(3), Spines: 1,
			NIC: 50 * pathmap.Mbps, EPS: 200 * pathmap.Mbps}
	}
	sc.spec = sc.spec.WithDefaults()
	mixed := rng.IntN(3) == 0
	at := time.Duration(0)
	for range 3 + rng.IntN(25) {
		at += time.Duration(rng.Int64N(int64(40 * ms)))
		a := action{at: at}
		switch op := rng.IntN(10); {
		case op < 3 || sc.coflows == 0:
			a.coflow, a.start = sc.coflows, sc.coflowRows(rng)
			for i := range a.start {
				a.start[i].tag = southbound.Tag(rng.IntN(2))
			}
			sc.coflows++
		case op < 8:
			a.rates = sc.evenRates(rng)
			if mixed && rng.IntN(2) == 0 {
				a.rates = sc.someRates(rng, at, 2)
			}
		case op < 9:
			k := sc.rows[rng.IntN(len(sc.rows))]
			a.steer = &southbound.Steer{HostFlowKey: k,
				Tag: []southbound.Tag{0, 1, southbound.TagHold}[rng.IntN(3)]}
		default:
			a.cable = &cable{rng.IntN(1000), rng.IntN(2) == 0}
		}
		sc.actions = append(sc.actions, a)
	}
	sc.actions = append(sc.actions, action{at: at + time.Second, rates: &southbound.Rates{Fair: true}})
	for l := range 500 {
		sc.actions = append(sc.actions, action{at: at + time.Second, cable: &cable{l, true}})
	}
	for _, k := range sc.rows {
		sc.actions = append(sc.actions, action{at: at + 2*time.Second,
			steer: &southbound.Steer{HostFlowKey: k, Tag: 0}})
	}
	return sc
}

// evenRates gives all coflows the same rates of ports, or all but a few.
func (sc *script) evenRates(rng *rand.Rand) *southbound.Rates {
	rate := func() pathmap.BitsPerSecond { return pathmap.BitsPerSecond(rng.IntN(12)) * pathmap.Mbps }
	if rng.IntN(4) == 0 {
		rate = func() pathmap.BitsPerSecond { return pathmap.BitsPerSecond(rng.IntN(60)) * pathmap.Mbps }
	}
	var from, to []southbound.HostRate
	hosts := sc.spec.Racks * sc.spec.Hosts
	evenFrom, evenTo := make([]pathmap.BitsPerSecond, hosts), make([]pathmap.BitsPerSecond, hosts)
	for h := range southbound.HostID(sc.spec.Racks * sc.spec.Hosts) {
		if rng.IntN(8) > 0 {
			from = append(from, southbound.HostRate{Host: h, Rate: rate()})
			evenFrom[h] = from[len(from)-1].Rate
		}
		if rng.IntN(8) > 0 {
			to = append(to, southbound.HostRate{Host: h, Rate: rate()})
			evenTo[h] = to[len(to)-1].Rate
		}
	}
	r := &southbound.Rates{}
	all, even := rng.IntN(4) > 0, len(from)%4 > 0
	for c := range sc.coflows {
		switch {
		case !all && rng.IntN(3) == 0:
		case even:
			r.Even.Coflows, r.Even.From, r.Even.To = append(r.Even.Coflows, c), evenFrom, evenTo
		default:
			r.Spread = append(r.Spread, southbound.Spread{Coflow: c, From: from, To: to})
		}
	}
	return r
}

// TestEvenLikeReference holds runs of rates that are the same for all coflows against the reference
// implementation, as TestLikeTwin does, and logs how many of them used the clocks of ports at all.
func TestEvenLikeReference(t *testing.T) {
	t.Parallel()
	even := 0
	for seed := range uint64(seeds()) {
		sc := newEvenScript(rand.New(rand.NewPCG(seed, 9)))
		sc.backup = true
		sc.fewRows = 1 + int32(seed%2)*1000
		for _, a := range sc.actions {
			if a.rates == nil {
				continue
			}
			if sp := a.rates.Spreads(); len(sp) > 1 && sp[0].Same(&sp[1]) {
				even++
			}
		}
		s, ev, lefts := sc.onSim(t, nil)
		w, want := sc.onReference(t)
		for a := range lefts {
			for i, left := range lefts[a] {
				if math.Abs(left-want[a][i]) > 1 {
					t.Fatalf("seed %d: %v: %v has %f bytes left, reference %f", seed, sc.actions[a].at,
						sc.rows[i], left, want[a][i])
				}
			}
		}
		got := ends(ev)
		if len(got) != len(sc.size) || len(w.ended) != len(sc.size) {
			t.Fatalf("seed %d: %d ends, reference %d, of %d host flows", seed, len(got),
				len(w.ended), len(sc.size))
		}
		for _, k := range sc.rows {
			if d := (got[k] - w.ended[k]).Abs(); float64(d) > w.doubts[k] {
				t.Fatalf("seed %d: row %d of coflow %d ended at %v, reference %v, give or take %.1f ns", seed, k.Row, k.Coflow,
					got[k], w.ended[k], w.doubts[k])
			}
		}
		checkBytes(t, seed, sc, s, w)
	}
	if even < seeds() {
		t.Errorf("only %d times was the same told to several coflows", even)
	}
}

// TestEvenNeedsNoIndividualRates: rates of ports for all coflows need no individual rates, rates of
// ports for one of two do.
func TestEvenNeedsNoIndividualRates(t *testing.T) {
	s := simulate(t, fabric(t, topo.Spec{Kind: topo.Crossbar, Racks: 4}), Options{NoHeaders: true})
	wire(t, s)
	start(t, s, 0, row{0, 1, mb, 0}, row{2, 3, mb, 0})
	start(t, s, 1, row{0, 1, mb, 0})
	from := []southbound.HostRate{{Host: 0, Rate: 100 * pathmap.Mbps}, {Host: 2, Rate: 100 * pathmap.Mbps}}
	to := []southbound.HostRate{{Host: 1, Rate: 50 * pathmap.Mbps}, {Host: 3, Rate: 200 * pathmap.Mbps}}
	spreads := []southbound.Spread{{Coflow: 0, From: from, To: to}, {Coflow: 1, From: from, To: to}}
	rates(t, s, southbound.Rates{Spread: spreads})
	if len(s.fluid.individual.rows) != 0 || !s.fluid.levels.even {
		t.Errorf("%d individual rates", len(s.fluid.individual.rows))
	}
	// 1 MB at 50 Mb/s takes 160 ms, at 100 Mb/s 80 ms.
	ev, _, err := s.Advance(time.Second, nil, nil)
	if got := ends(ev); err != nil || got[key(0, 0)] != 160*ms || got[key(1, 0)] != 160*ms ||
		got[key(0, 1)] != 80*ms {
		t.Errorf("%v, %v", got, err)
	}
	start(t, s, 2, row{0, 1, mb, 0})
	start(t, s, 3, row{0, 3, mb, 0})
	rates(t, s, southbound.Rates{Spread: []southbound.Spread{{Coflow: 2, From: from, To: to}},
		Pace: []southbound.Pace{{Coflow: 3, Until: 3 * time.Second}}})
	if len(s.fluid.individual.rows) != 1 || s.fluid.levels.even {
		t.Errorf("%d individual rates, even %v", len(s.fluid.individual.rows), s.fluid.levels.even)
	}
}

// TestSameExtrasAgain: a host flow that has nothing but its extra keeps it when the same rates are set
// again.
func TestSameExtrasAgain(t *testing.T) {
	s := simulate(t, fabric(t, topo.Spec{Kind: topo.Crossbar, Racks: 2}), Options{NoHeaders: true})
	wire(t, s)
	start(t, s, 0, row{0, 1, mb, 0})
	told := southbound.Rates{Pace: []southbound.Pace{{Coflow: 0}},
		Extra: []southbound.Extra{{HostFlowKey: key(0, 0), Rate: 50 * pathmap.Mbps}}}
	rates(t, s, told)
	ev, _, err := s.Advance(40*ms, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rates(t, s, told)
	// 1 MB at 50 Mb/s takes 160 ms.
	if ev, _, err = s.Advance(time.Second, ev, nil); err != nil || ends(ev)[key(0, 0)] != 160*ms {
		t.Errorf("%v, %v", ends(ev), err)
	}
}

// TestBadEvenAgain: an even spread is checked as well where its first coflows are those of the last one, which stays in
// force where it is refused.
func TestBadEvenAgain(t *testing.T) {
	s := simulate(t, fabric(t, topo.Spec{Kind: topo.Crossbar, Racks: 2}), Options{NoHeaders: true})
	wire(t, s)
	start(t, s, 0, row{0, 1, mb, 0})
	start(t, s, 1, row{1, 0, mb, 0})
	told := func(coflows ...southbound.CoflowID) *southbound.Rates {
		each := []pathmap.BitsPerSecond{50 * pathmap.Mbps, 50 * pathmap.Mbps}
		return &southbound.Rates{Even: southbound.EvenSpread{Coflows: coflows, From: each, To: each}}
	}
	rates(t, s, *told(0, 1))
	for _, bad := range [][]southbound.CoflowID{{0, 1, 1}, {0, 0}, {0, 1, 0}, {0, 5}} {
		if err := s.Host().SetRates(told(bad...)); err == nil {
			t.Errorf("an even spread of coflows %v was taken", bad)
		}
	}
	// 1 MB at 50 Mb/s takes 160 ms.
	if got := ends(advance(t, s, time.Second)); got[key(0, 0)] != 160*ms || got[key(1, 0)] != 160*ms {
		t.Errorf("%v", got)
	}
}
