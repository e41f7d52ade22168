package anneal

import (
	"math/rand/v2"
	"testing"

	"lightloom/controller"
	"lightloom/southbound"
)

// exhaustive returns the best utility over all hosts of all tasks and all candidate paths of all host flows.
func exhaustive(s *NetworkState, j *controller.Job, free []int32) int64 {
	p := newPlacing(s, j, free)
	best := int64(-1)
	var place func(t int)
	place = func(t int) {
		if t == len(p.host) {
			best = max(best, bestPaths(p, 0))
			return
		}
		for _, h := range p.hosts {
			if p.free[h] < p.g.need(t) {
				continue
			}
			var fresh []hostFlowKey
			p.put(t, h, &fresh)
			for _, k := range fresh {
				p.setPath(k, 0)
			}
			place(t + 1)
			p.put(t, -1, &fresh)
		}
	}
	place(0)
	return best
}

func bestPaths(p *placing, i int) int64 {
	if i == len(p.live) {
		return p.Utility()
	}
	best := int64(-1)
	for w := range p.live[i].candidates {
		p.setPath(p.live[i].key, int32(w))
		best = max(best, bestPaths(p, i+1))
	}
	return best
}

// tiny is a job small enough to try everything.
func tiny(rng *rand.Rand) *controller.Job {
	j := &controller.Job{Stages: []controller.Stage{{Tasks: make([]controller.Task, 1+rng.IntN(2))},
		{Tasks: make([]controller.Task, 1)}}}
	j.Edges = []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: 1e6}}
	if rng.IntN(2) == 0 { // a chain, whose middle is where de-allocation weights fail
		j.Stages = append(j.Stages, controller.Stage{Tasks: make([]controller.Task, 1)})
		j.Edges = append(j.Edges, controller.Edge{Kind: controller.ScatterGather, From: 1, To: 2, Bytes: 1e6})
	}
	return j
}

// TestNearExhaustiveOptimum: mean of 20 of ours ÷ best possible, at least 0.99 on tiny instances.
func TestNearExhaustiveOptimum(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=3,hosts=2,spines=2,eps=60Mbps,nic=100Mbps,slots=1")
	for _, tc := range []struct {
		name  string
		opt   Options
		least float64
	}{
		{"default", Options{}, 0.99},
		{"paper", Options{Paper: true}, 0.7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sum := 0.0
			const n = 20
			for seed := range uint64(n) {
				rng := rand.New(rand.NewPCG(seed, 7))
				j := tiny(rng)
				free := make([]int32, f.Hosts())
				for left := 5; left > 0; {
					if h := rng.IntN(len(free)); free[h] == 0 {
						free[h], left = 1, left-1
					}
				}
				load := rng.Uint64()
				network := func() *NetworkState {
					s := NewNetworkState(NewTopologyContext(f, m, nil, nil), tc.opt)
					runSome(s, rand.New(rand.NewPCG(load, 0)), 6)
					return s
				}
				best := exhaustive(network(), j, free)
				s := network()
				s.Place(j, free, rng)
				got := s.Utility()
				if got > best {
					t.Fatalf("seed %d: %d is above the optimum %d", seed, got, best)
				}
				sum += float64(got) / float64(best)
			}
			t.Logf("mean of %d: %.4f of the optimum", n, sum/n)
			if sum/n < tc.least {
				t.Errorf("mean of %d: %.4f of the optimum, want at least %.2f", n, sum/n, tc.least)
			}
		})
	}
}

// TestRouteNearExhaustive does the same for routes alone.
func TestRouteNearExhaustive(t *testing.T) {
	t.Parallel()
	f, m := fabric(t, "leafspine:racks=4,hosts=2,spines=3,eps=60Mbps,nic=100Mbps")
	sum := 0.0
	const n = 20
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 9))
		load := rng.Uint64()
		network := func() *NetworkState {
			s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{})
			runSome(s, rand.New(rand.NewPCG(load, 0)), 6)
			return s
		}
		var rows []HostFlow
		for d := range 6 {
			rows = append(rows, HostFlow{Src: southbound.HostID((d + 2 + rng.IntN(6)) % 8),
				Dst: southbound.HostID(d)})
		}
		s := network()
		r := s.take([]Coflow{{Rows: rows}})
		r.lay(rng)
		best := bestTurns(r, 0)
		s = network()
		s.Route([]Coflow{{Rows: rows}}, rng)
		sum += float64(s.Utility()) / float64(best)
	}
	t.Logf("mean of %d: %.4f of the optimum", n, sum/n)
	if sum/n < 0.99 {
		t.Errorf("mean of %d: %.4f of the optimum, want at least 0.99", n, sum/n)
	}
}

func bestTurns(r *routing, i int) int64 {
	if i == len(r.choices) {
		return r.Utility()
	}
	best := int64(-1)
	for w := range r.all[r.choices[i]].candidates {
		r.turn(r.choices[i], int32(w))
		best = max(best, bestTurns(r, i+1))
	}
	return best
}
