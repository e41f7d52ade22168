package anneal

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"lightloom/pathmap/tries"
)

// TestProcessorsChangeNothing: restarts at once find what restarts in turn find, on any number of
// processors.
func TestProcessorsChangeNothing(t *testing.T) {
	f, m := fabric(t, "leafspine:racks=6,hosts=3,spines=3,eps=100Mbps,nic=500Mbps")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed := range tries.Of[uint64](3, 30) {
		j := randomJob(rand.New(rand.NewPCG(seed, 1)), 3)
		for _, opt := range []Options{{}, {Paper: true}, {Blind: true}} {
			var hosts [][]int32
			var utility []int64
			for _, n := range []int{1, 2, 7} {
				runtime.GOMAXPROCS(n)
				s := NewNetworkState(NewTopologyContext(f, m, nil, nil), opt)
				runSome(s, rand.New(rand.NewPCG(seed, 2)), 15)
				placed := s.Place(j, slots(f, 2), rand.New(rand.NewPCG(seed, 3)))
				var at []int32
				for _, h := range placed.Hosts {
					at = append(at, int32(h))
				}
				hosts, utility = append(hosts, at), append(utility, s.Utility())
			}
			if !slices.Equal(hosts[0], hosts[1]) || !slices.Equal(hosts[0], hosts[2]) ||
				utility[0] != utility[1] ||
				utility[0] != utility[2] {
				t.Fatalf("seed %d, %+v: hosts %v, utility %v", seed, opt, hosts, utility)
			}
		}
	}
}
