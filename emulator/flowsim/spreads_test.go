package flowsim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// newSpreadScript is a random run where only ports bind and coflows are spread, each with rates of its own,
// of which some change at a time. Links carry them mostly. Some rows have extras, and sometimes a host flow
// is steered, a cable is cut or hosts share by themselves.
func newSpreadScript(rng *rand.Rand) *script {
	sc := &script{spec: topo.Spec{Kind: topo.Crossbar, Racks: 3 + rng.IntN(6), EPS: 100 * pathmap.Mbps},
		backup: true, size: map[southbound.HostFlowKey]pathmap.Bytes{}}
	if rng.IntN(10) == 0 {
		sc.spec.Racks = 65 + rng.IntN(70) // sets of hosts have several words
	}
	sc.spec = sc.spec.WithDefaults()
	odd, at := rng.IntN(4) == 0, time.Duration(0)
	from, to := map[southbound.CoflowID][]southbound.HostRate{}, map[southbound.CoflowID][]southbound.HostRate{}
	for range 5 + rng.IntN(60) {
		at += time.Duration(rng.Int64N(int64(20 * ms)))
		a := action{at: at}
		switch op := rng.IntN(12); {
		case op < 2 || sc.coflows == 0:
			a.coflow, a.start = sc.coflows, sc.coflowRows(rng)
			for i := range a.start {
				a.start[i].tag = 0
			}
			sc.coflows++
		case op < 11 || !odd:
			a.rates = sc.spreadRates(rng, from, to)
		default:
			a.rates = sc.someRates(rng, at, rng.IntN(3))
			if k := sc.rows[rng.IntN(len(sc.rows))]; rng.IntN(2) == 0 {
				a.rates, a.steer = nil, &southbound.Steer{HostFlowKey: k,
					Tag: []southbound.Tag{0, 1, southbound.TagHold}[rng.IntN(3)]}
			} else if rng.IntN(4) == 0 {
				a.rates, a.cable = nil, &cable{rng.IntN(1000), rng.IntN(2) == 0}
			}
		}
		sc.actions = append(sc.actions, a)
	}
	return sc.untilAllEnd(at)
}

// untilAllEnd has hosts share by themselves in the end, over cables that are whole.
func (sc *script) untilAllEnd(at time.Duration) *script {
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

// spreadRates changes what some hosts of some coflows have, and draws extras anew.
func (sc *script) spreadRates(rng *rand.Rand,
	from, to map[southbound.CoflowID][]southbound.HostRate) *southbound.Rates {
	most := []int{4, 4, 4, 20}[rng.IntN(4)]
	drift := func(rates []southbound.HostRate) []southbound.HostRate {
		rates = slices.Clone(rates)
		for h := range southbound.HostID(sc.spec.Racks) {
			if len(rates) <= int(h) {
				rates = append(rates, southbound.HostRate{Host: h})
			}
			if rates[h].Rate == 0 || rng.IntN(4) == 0 {
				rates[h].Rate = pathmap.BitsPerSecond(rng.IntN(most)) * pathmap.Mbps
			}
		}
		return rates
	}
	r := &southbound.Rates{}
	for c := range sc.coflows {
		if rng.IntN(3) > 0 {
			from[c], to[c] = drift(from[c]), drift(to[c])
		}
		if rng.IntN(20) > 0 {
			r.Spread = append(r.Spread, southbound.Spread{Coflow: c, From: from[c], To: to[c]})
		}
	}
	for _, k := range sc.rows {
		named := slices.ContainsFunc(r.Spread, func(s southbound.Spread) bool { return s.Coflow == k.Coflow })
		if named && rng.IntN(6) == 0 {
			r.Extra = append(r.Extra, southbound.Extra{HostFlowKey: k, Rate: 1 +
				pathmap.BitsPerSecond(rng.IntN(most))*pathmap.Mbps})
		}
	}
	return r
}

// TestSpreadsLikeIndividual replays each script with all coflows among spreads, and with none: events and
// what is left are the same to the last place.
func TestSpreadsLikeIndividual(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds()) {
		sc := newSpreadScript(rand.New(rand.NewPCG(seed, 43)))
		sc.fewRows = math.MaxInt32
		_, want, wantLefts := sc.onSim(t, nil)
		sc.fewRows = 1
		_, got, lefts := sc.onSim(t, nil)
		if !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("seed %d: event %d is %+v, with individual rates %+v", seed, i, got[i], want[i])
				}
			}
			t.Fatalf("seed %d: %d events, with individual rates %d", seed, len(got), len(want))
		}
		for i := range lefts {
			if !slices.Equal(lefts[i], wantLefts[i]) {
				t.Fatalf("seed %d: at %v %v bytes are left, with individual rates %v", seed, sc.actions[i].at, lefts[i],
					wantLefts[i])
			}
		}
	}
}

// checkSpreads holds what spreads keep against their rows: sums of what is asked for, and bounds of ends.
func checkSpreads(t testing.TB, f *fluid) {
	t.Helper()
	sp, out, in := &f.spreads, make([]float64, len(f.spreads.out)), make([]float64, len(f.spreads.in))
	for at, sr := range sp.list {
		size := int32(0)
		for i, end := range sr.ends {
			first := southbound.Never
			sr.each(i, func(row int32, r *spreadRow) {
				p := &f.hostFlows[sr.first+row].pair
				out[p.src] += r.bits
				in[p.dst] += r.bits
				size, first = size+1, min(first, r.end(f.perBit))
			})
			if end > first || sr.exact[i] && end != first || sr.soon > end {
				t.Fatalf("rows to %d end from %v on, not from %v (exact: %v), of the coflow from %v", sr.table.dsts[i],
					first, end, sr.exact[i], sr.soon)
			}
		}
		if size != sr.size || int(sr.pos) != at || size == 0 {
			t.Fatalf("%d rows at %d, counted %d at %d", size, at, sr.size, sr.pos)
		}
	}
	if !slices.Equal(out, sp.out) || !slices.Equal(in, sp.in) {
		t.Fatalf("asked for %v and %v, counted %v and %v", out, in, sp.out, sp.in)
	}
}
