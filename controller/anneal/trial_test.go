package anneal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/pathmap/tries"
)

// improveByTurns is improveOne with the flow on each of its paths in turn.
func improveByTurns(r *routing, k int32, count *Count) bool {
	from := r.all[k].at
	best, most := from, r.Utility()
	for w := range int32(len(r.all[k].candidates)) {
		if w == from {
			continue
		}
		r.turn(k, w)
		count.Evaluated++
		if u := r.Utility(); u > most {
			best, most = w, u
		}
	}
	if r.all[k].at != best {
		r.turn(k, best)
	}
	if best == from {
		return false
	}
	count.Accepted++
	return true
}

// TestTrials: trying a flow's paths finds the same one as going each of them, counts as much work, and leaves the
// network the same, with what is known of its links.
func TestTrials(t *testing.T) {
	t.Parallel()
	f, m := fabric(t, "hybrid:racks=6,hosts=3,spines=3,eps=1Gbps,ocs=10Gbps")
	g, n := fabric(t, "leafspine:racks=4,hosts=2,spines=3,eps=100Mbps,nic=500Mbps")
	better, caches := 0, [2]PathCache{}
	for seed := range tries.Of[uint64](300, 2000) {
		var both [2]*placing
		for i := range both {
			rng := rand.New(rand.NewPCG(seed, 2))
			fabric, paths := f, m // of which all networks use the memory of earlier ones
			if seed%2 == 1 {
				fabric, paths = g, n
			}
			s := NewNetworkState(NewTopologyContext(fabric, paths, nil, &caches[seed%2]), Options{RouteSteps: 3})
			runSome(s, rng, rng.IntN(60))
			p := newPlacing(s.clone(1), randomJob(rng, 4), slots(fabric, 3))
			p.Reset(int(seed%3), rng)
			p.localOnes()
			s.Release()
			both[i] = p
		}
		slow, fast := both[0].low, both[1].low
		for range 2 {
			for _, k := range slow.choices {
				var want, got Count
				if improveByTurns(slow, k, &want) {
					better++
				}
				if fast.improveOne(k, &got); got != want || slow.all[k].at != fast.all[k].at {
					t.Fatalf("seed %d: flow %d has path %d after %+v, want %d after %+v", seed, k, fast.all[k].at, got,
						slow.all[k].at, want)
				}
				a, b := slow.s.net, fast.s.net
				if a.work != b.work || a.value() != b.value() {
					t.Fatalf("seed %d: work %d and utility %d, want %d and %d", seed, b.work, b.value(), a.work, a.value())
				}
				if !slices.Equal(a.links, b.links) || !slices.Equal(a.rate, b.rate) {
					t.Fatalf("seed %d: links %v and rates %v, want %v and %v", seed, b.links, b.rate, a.links, a.rate)
				}
			}
		}
		checkIndex(t, fast.s.net)
		slow.s.Release()
		fast.s.Release()
	}
	if better < 100 {
		t.Errorf("only %d flows found a better path", better)
	}
}

// localOnes puts every host flow of the job under choice, as localSearch does.
func (p *placing) localOnes() {
	p.low.again()
	for i := range p.live {
		p.low.take(p.live[i].choice)
	}
}
