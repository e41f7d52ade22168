package anneal

import (
	"math/rand/v2"
	"testing"

	"lightloom/controller"
	"lightloom/southbound"
)

// TestReschedule: only tasks without a host get one, each a slot; and the mean of 20 comes to 0.98 of
// what trying every host for one lost task gives.
func TestReschedule(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=3,hosts=2,spines=2,eps=60Mbps,nic=100Mbps,slots=1")
	sum := 0.0
	const n = 20
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 11))
		j := tiny(rng)
		load := rng.Uint64()
		network := func() *NetworkState {
			s := NewNetworkState(NewTopologyContext(f, m, nil, nil), Options{})
			runSome(s, rand.New(rand.NewPCG(load, 0)), 6)
			return s
		}
		hosts, free := make([]southbound.HostID, j.Tasks()), make([]int32, f.Hosts())
		for h := range free {
			free[h] = 1
		}
		order := rng.Perm(f.Hosts())
		for i := range hosts {
			hosts[i] = southbound.HostID(order[i])
			free[order[i]] = 0
		}
		lost := rng.IntN(len(hosts))
		hosts[lost] = controller.NoHost
		best := int64(0)
		for h, slots := range free {
			if slots > 0 {
				s := network()
				p := newPlacing(s, j, []int32{1, 1, 1, 1, 1, 1})
				var fresh []hostFlowKey
				for k, at := range hosts {
					if k == lost {
						at = southbound.HostID(h)
					}
					p.put(k, at, &fresh)
				}
				for _, k := range fresh {
					p.setPath(k, 0)
				}
				best = max(best, bestPaths(p, 0))
			}
		}
		s := network()
		got := s.Reschedule(j, hosts, free, rng)
		for k, at := range got.Hosts {
			switch {
			case k != lost && at != hosts[k]:
				t.Fatalf("seed %d: task %d moved from %d to %d", seed, k, hosts[k], at)
			case k == lost && (at < 0 || free[at] == 0):
				t.Fatalf("seed %d: task %d on host %d, where no slot is", seed, k, at)
			}
		}
		if s.Utility() > best {
			t.Fatalf("seed %d: %d is above the optimum %d", seed, s.Utility(), best)
		}
		sum += float64(s.Utility()) / float64(best)
	}
	t.Logf("mean of %d: %.4f of the optimum", n, sum/n)
	if sum/n < 0.98 {
		t.Errorf("mean of %d: %.4f of the optimum, want at least 0.98", n, sum/n)
	}
}
