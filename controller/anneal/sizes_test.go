package anneal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/pathmap/tries"
)

// grow gives the tasks of a job sizes of one to most slots.
func grow(j *controller.Job, most int, rng *rand.Rand) {
	for s := range j.Stages {
		for t := range j.Stages[s].Tasks {
			j.Stages[s].Tasks[t].Slots = int32(1 + rng.IntN(most))
		}
	}
}

// checkSized reports whether the slots left are those that there were less what the tasks take, none
// below zero.
func checkSized(t *testing.T, seed uint64, p *placing, before []int32) {
	t.Helper()
	free := slices.Clone(before)
	for task, h := range p.host {
		free[h] -= p.g.need(task)
	}
	if !slices.Equal(free, p.free) || slices.Min(free) < 0 {
		t.Fatalf("seed %d: slots %v are left, counted %v", seed, free, p.free)
	}
}

// TestSizesNeverOverfill walks placements of tasks of one to three slots, hosts nearly full, as
// TestUtilityNeverDrifts does with tasks of one: no host is ever given more than it has, and utilities
// and takings back stay exact.
func TestSizesNeverOverfill(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=4,hosts=2,spines=2,eps=100Mbps,nic=500Mbps")
	walked, moved, seeds := 0, 0, tries.Of[uint64](700, 2000)
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 11))
		j := randomJob(rng, 3)
		grow(j, 3, rng)
		free := make([]int32, f.Hosts())
		for h := range free {
			free[h] = int32(rng.IntN(5))
		}
		sizes := j.Sizes()
		if sizes == nil || controller.Pack(sizes, slices.Clone(free)) == nil {
			continue
		}
		walked++
		s := NewNetworkState(NewTopologyContext(f, m, nil, nil),
			Options{Paper: seed%4 == 0, Blind: seed%5 == 0, RouteSteps: 3})
		runSome(s, rng, rng.IntN(20))
		p := newPlacing(s.clone(1), j, free)
		p.Reset(int(seed%2), rng)
		checkSized(t, seed, p, free)
		for range 12 {
			before, hosts := p.Utility(), slices.Clone(p.host)
			p.Move(rng)
			checkSized(t, seed, p, free)
			if got := reference(p, j); got != p.Utility() {
				t.Fatalf("seed %d: utility %d after a move, computed afresh %d", seed, p.Utility(), got)
			}
			if !slices.Equal(hosts, p.host) {
				moved++
			}
			if rng.IntN(2) == 0 {
				if p.Undo(); p.Utility() != before || !slices.Equal(hosts, p.host) {
					t.Fatalf("seed %d: utility %d on %v after undo, was %d on %v", seed, p.Utility(), p.host,
						before, hosts)
				}
			}
		}
	}
	if walked < int(seeds)/4 || moved < walked {
		t.Errorf("%d jobs fit, and %d moves came off: the test has hardly looked", walked, moved)
	}
}

// TestSizedNearExhaustive: mean of 20 of ours ÷ best possible for tasks of one or two slots, at least 0.99.
func TestSizedNearExhaustive(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=3,hosts=2,spines=2,eps=60Mbps,nic=100Mbps,slots=3")
	sum, n := 0.0, 0
	for seed := uint64(0); n < 20; seed++ {
		rng := rand.New(rand.NewPCG(seed, 13))
		j := tiny(rng)
		grow(j, 2, rng)
		free := make([]int32, f.Hosts())
		for h := range free {
			free[h] = int32(rng.IntN(3))
		}
		if sizes := j.Sizes(); sizes == nil || controller.Pack(sizes, slices.Clone(free)) == nil {
			continue
		}
		n++
		load := rng.Uint64()
		sum += sizedShare(t, func() *NetworkState {
			s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{})
			runSome(s, rand.New(rand.NewPCG(load, 0)), 6)
			return s
		}, j, free, rng)
	}
	t.Logf("mean of %d: %.4f of the optimum", n, sum/float64(n))
	if sum/float64(n) < 0.99 {
		t.Errorf("mean of %d: %.4f of the optimum, want at least 0.99", n, sum/float64(n))
	}
}

func sizedShare(t *testing.T, network func() *NetworkState, j *controller.Job, free []int32,
	rng *rand.Rand) float64 {
	t.Helper()
	best := exhaustive(network(), j, free)
	s := network()
	placed := s.Place(j, free, rng)
	left, sizes := slices.Clone(free), j.Sizes()
	for task, h := range placed.Hosts {
		left[h] -= sizes[task]
	}
	if slices.Min(left) < 0 {
		t.Fatalf("tasks of %v slots on %v leave %v of %v", sizes, placed.Hosts, left, free)
	}
	return float64(s.Utility()) / float64(best)
}
