package anneal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap/tries"
)

// TestWaitingDecidesAlike: mode paper finds on a network that waits what it finds on one that does not, and counts no
// less work there; so does a second attempt on the network of the first.
func TestWaitingDecidesAlike(t *testing.T) {
	t.Parallel()
	decided, seeds := 0, tries.Of[uint64](30, 400)
	for _, spec := range []string{"leafspine:racks=6,hosts=3,spines=3,eps=100Mbps,nic=500Mbps", "fattree:k=4,hosts=16",
		"jellyfish:switches=12,degree=4,hosts=24,rate=50Mbps,slots=8"} {
		f, m := fabric(t, spec)
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(seed, 1))
			down := make([]bool, len(f.Topology.Links()))
			if seed%3 == 0 {
				l := rng.IntN(len(down))
				down[l], down[l^1] = true, true
			}
			s := NewNetworkState(NewTopologyContext(f, m, down, nil),
				Options{Paper: true, Shared: seed%2 == 0, Steps: 20})
			runSome(s, rng, rng.IntN(40))
			for attempt := range 2 {
				j, free := fitting(rng, f.Hosts(), 1+int(seed/2%2))
				if len(newGraph(j).edges) == 0 {
					continue
				}
				decided++
				name := fmt.Sprintf("%s, seed %d, attempt %d", spec, seed, attempt)
				p := alike(t, name, s, j, free, seed)
				if got := reference(p, j); attempt == 0 && got != p.Utility() {
					t.Fatalf("%s: utility %d, computed afresh %d", name, p.Utility(), got)
				}
				s.net = p.s.net
			}
		}
	}
	if decided < 4*int(seeds) {
		t.Errorf("only %d decisions", decided)
	}
}

// fitting draws a job whose tasks have up to most slots, and hosts that have 0 to 2 and room for it.
func fitting(rng *rand.Rand, hosts, most int) (*controller.Job, []int32) {
	for {
		j, free := randomJob(rng, 4), make([]int32, hosts)
		if most > 1 {
			grow(j, most, rng)
		}
		for h := range free {
			free[h] = int32(rng.IntN(3))
		}
		sizes := j.Sizes()
		if sizes == nil {
			sizes = slices.Repeat([]int32{1}, j.Tasks())
		}
		if controller.Pack(sizes, slices.Clone(free)) != nil {
			return j, free
		}
	}
}

// alike decides both ways, compares, and returns what a network that waits has come to.
func alike(t *testing.T, name string, s *NetworkState, j *controller.Job, free []int32, seed uint64) *placing {
	t.Helper()
	by := Schedule{Restarts: 1, First: 1, Steps: s.opt.Steps, Paper: true}
	at, waits := newPlacing(s.clone(1), j, free), newPlacing(s.clone(1), j, free)
	waits.s.postpone()
	want := decision(at, Run(at, by, rand.New(rand.NewPCG(seed, 2))))
	count := Run(waits, by, rand.New(rand.NewPCG(seed, 2)))
	waits.settle()
	if got := decision(waits, count); got != want {
		t.Fatalf("%s: decided\n%s\nand at once\n%s", name, got, want)
	}
	if waits.s.net.work < at.s.net.work {
		t.Fatalf("%s: counted %d visits of %d", name, waits.s.net.work, at.s.net.work)
	}
	checkIndex(t, waits.s.net)
	return waits
}

// TestWaitingMindsTheBound: where the work allowed could be used up, the decision is that of a network that does not
// wait, whether it would have been used up there or not.
func TestWaitingMindsTheBound(t *testing.T) {
	t.Parallel()
	f, m := fabric(t, "leafspine:racks=6,hosts=3,spines=3,eps=100Mbps,nic=500Mbps")
	kept, counted, spent := 0, 0, 0
	for seed := range uint64(36) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{Paper: true, Work: 50_000 << (seed % 12)})
		runSome(s, rng, 20)
		j := randomJob(rng, 4)
		at := newPlacing(s.clone(s.opt.Restarts), j, slots(f, 2))
		by := Schedule{Restarts: 1, Steps: s.opt.Steps, Paper: true}
		want := decision(at, Run(at, by, rand.New(rand.NewPCG(seed, 2))))
		p, count := s.attempt(j, slots(f, 2), withSlots(slots(f, 2)), 0, rand.NewPCG(seed, 2))
		if got := decision(p, count); got != want {
			t.Fatalf("seed %d: decided\n%s\nand at once\n%s", seed, got, want)
		}
		switch {
		case at.Spent():
			spent++
		case p.s.net.work == at.s.net.work: // counted visit by visit
			counted++
		default:
			kept++
		}
	}
	if kept == 0 || counted == 0 || spent == 0 {
		t.Errorf("%d waited, %d counted too much, %d used it up: want some of each", kept, counted, spent)
	}
}

func decision(p *placing, count Count) string {
	text := fmt.Sprint(p.host, count, p.counts, p.Utility())
	for i := range p.live {
		text += fmt.Sprint(" ", p.live[i].key, p.live[i].at)
	}
	return text
}
