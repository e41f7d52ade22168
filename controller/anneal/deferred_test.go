package anneal

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lightloom/pathmap/tries"
)

// TestWaitingDecidesAlike: mode paper finds on a network that waits what it finds on one that does not, and counts no
// less work there.
func TestWaitingDecidesAlike(t *testing.T) {
	for _, spec := range []string{"leafspine:racks=6,hosts=3,spines=3,eps=100Mbps,nic=500Mbps", "fattree:k=4,hosts=16"} {
		f, m := fabric(t, spec)
		for seed := range tries.Of[uint64](30, 400) {
			rng := rand.New(rand.NewPCG(seed, 1))
			down := make([]bool, len(f.Topology.Links()))
			if seed%3 == 0 {
				l := rng.IntN(len(down))
				down[l], down[l^1] = true, true
			}
			s := NewNetworkState(NewTopologyContext(f, m, down, nil),
				Options{Paper: true, Shared: seed%2 == 0, Steps: 30})
			runSome(s, rng, rng.IntN(40))
			j := randomJob(rng, 4)
			if len(newGraph(j).edges) == 0 {
				continue
			}
			by := Schedule{Restarts: 1, First: 1, Steps: s.opt.Steps, Paper: true}
			at, waits := newPlacing(s.clone(1), j, slots(f, 2)), newPlacing(s.clone(1), j, slots(f, 2))
			waits.s.postpone()
			want := decision(at, Run(at, by, rand.New(rand.NewPCG(seed, 2))))
			got := Run(waits, by, rand.New(rand.NewPCG(seed, 2)))
			waits.settle()
			if got := decision(waits, got); got != want {
				t.Fatalf("%s, seed %d: decided\n%s\nand at once\n%s", spec, seed, got, want)
			}
			if got := reference(waits, j); got != waits.Utility() {
				t.Fatalf("%s, seed %d: utility %d, computed afresh %d", spec, seed, waits.Utility(), got)
			}
			if waits.s.net.work < at.s.net.work {
				t.Fatalf("%s, seed %d: counted %d visits of %d", spec, seed, waits.s.net.work, at.s.net.work)
			}
			checkIndex(t, waits.s.net)
		}
	}
}

// TestWaitingMindsTheBound: where the work allowed could be used up, the decision is that of a network that does not
// wait.
func TestWaitingMindsTheBound(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=6,hosts=3,spines=3,eps=100Mbps,nic=500Mbps")
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Paper: true, Work: 10_000 * int64(1+seed)})
		runSome(s, rng, 20)
		j := randomJob(rng, 4)
		at := newPlacing(s.clone(s.opt.Restarts), j, slots(f, 2))
		by := Schedule{Restarts: 1, Steps: s.opt.Steps, Paper: true}
		want := decision(at, Run(at, by, rand.New(rand.NewPCG(seed, 2))))
		p, count := s.attempt(j, slots(f, 2), 0, rand.NewPCG(seed, 2))
		if got := decision(p, count); got != want {
			t.Fatalf("seed %d: decided\n%s\nand at once\n%s", seed, got, want)
		}
	}
}

func decision(p *placing, count Count) string {
	text := fmt.Sprint(p.host, count, p.counts, p.Utility())
	for i := range p.live {
		text += fmt.Sprint(" ", p.live[i].key, p.live[i].at)
	}
	return text
}
