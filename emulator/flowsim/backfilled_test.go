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

// newBackfillScript is a random run where only ports bind and most coflows have paces and extras, of which
// some change at a time. Sometimes links cannot carry them, coflows are spread, a host flow is steered, a
// cable is cut or hosts share by themselves.
func newBackfillScript(rng *rand.Rand) *script {
	sc := &script{spec: topo.Spec{Kind: topo.Crossbar, Racks: 3 + rng.IntN(6), EPS: 100 * pathmap.Mbps},
		backup: true, size: map[southbound.HostFlowKey]pathmap.Bytes{}}
	sc.spec = sc.spec.WithDefaults()
	odd, at := rng.IntN(4) == 0, time.Duration(0)
	rates, until := map[southbound.HostFlowKey]pathmap.BitsPerSecond{}, map[southbound.CoflowID]time.Duration{}
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
			a.rates = sc.backfillRates(rng, at, rates, until)
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

// backfillRates changes some finish instants and some extras.
func (sc *script) backfillRates(rng *rand.Rand, at time.Duration,
	rates map[southbound.HostFlowKey]pathmap.BitsPerSecond,
	until map[southbound.CoflowID]time.Duration) *southbound.Rates {
	most := []int{4, 4, 4, 20}[rng.IntN(4)]
	r := &southbound.Rates{}
	for c := range sc.coflows {
		if _, known := until[c]; !known || until[c] > 0 && until[c] <= at || rng.IntN(6) == 0 {
			until[c] = []time.Duration{0, at + time.Duration(rng.Int64N(int64(3*time.Second)))}[rng.IntN(2)]
		}
		if rng.IntN(20) > 0 {
			r.Pace = append(r.Pace, southbound.Pace{Coflow: c, Until: until[c]})
		}
	}
	for _, k := range sc.rows {
		if rng.IntN(4) == 0 {
			rates[k] = pathmap.BitsPerSecond(rng.IntN(most)) * pathmap.Mbps
		}
		named := slices.ContainsFunc(r.Pace, func(p southbound.Pace) bool { return p.Coflow == k.Coflow })
		if named && rates[k] > 0 {
			r.Extra = append(r.Extra, southbound.Extra{HostFlowKey: k, Rate: rates[k]})
		}
	}
	return r
}

// TestBackfilledLikeIndividual replays each script with rows that have extras among backfilled ones, and
// with individual rates: events and what is left are the same to the last place.
func TestBackfilledLikeIndividual(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds()) {
		sc := newBackfillScript(rand.New(rand.NewPCG(seed, 43)))
		sc.oneByOne, sc.fewRows = true, 1
		_, want, wantLefts := sc.onSim(t, nil)
		sc.oneByOne = false
		_, got, lefts := sc.onSim(t, nil)
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("seed %d: event %d is %+v, with individual rates %+v", seed, i, got[i], want[i])
			}
		}
		if len(got) != len(want) {
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

// checkBackfilled holds what is kept of backfilled rows against the rows: sums of what is asked for, first
// ends, places.
func checkBackfilled(t testing.TB, f *fluid) {
	t.Helper()
	bf, out, in := &f.backfilled, make([]float64, len(f.backfilled.out)), make([]float64, len(f.backfilled.in))
	for at, br := range bf.list {
		first := southbound.Never
		for i := range br.rows {
			r := &br.rows[i]
			out[r.src] += r.wish
			in[r.dst] += r.wish
			first = min(first, r.end)
			if bu := &f.hostFlows[br.first+r.row]; bu.class != onBackfilled || bu.src != r.src || bu.dst != r.dst ||
				i > 0 && br.rows[i-1].row >= r.row {
				t.Fatalf("row %d of coflow %d: from %d to %d, host flow %+v", r.row, br.index, r.src, r.dst, *bu)
			}
		}
		if br.soon != 0 && br.soon != first || int(br.pos) != at || len(br.rows) == 0 || len(br.come) > 0 {
			t.Fatalf("%d rows at %d end from %v on, by the books at %d from %v on", len(br.rows), at, first, br.pos, br.soon)
		}
	}
	for h := range out {
		if math.Abs(out[h]-bf.out[h]) > 1e-3 || math.Abs(in[h]-bf.in[h]) > 1e-3 {
			t.Fatalf("host %d is asked for %f and %f bits a second, by the books %f and %f", h, out[h], in[h],
				bf.out[h], bf.in[h])
		}
	}
}
