package anneal

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"lightloom/controller/policy/policytest/decided"
)

var update = flag.Bool("update", false, "write down where jobs are placed")

// TestDecisions: where jobs go and which paths their host flows take, in each mode and on two networks,
// is what it was when that was last written down. After a wanted change run it with -update.
func TestDecisions(t *testing.T) {
	var got []string
	for _, spec := range []string{"leafspine:racks=6,hosts=3,spines=3,eps=100Mbps,nic=500Mbps",
		"fattree:k=4,hosts=16"} {
		f, m := fabric(t, spec)
		for mode, opt := range []Options{{}, {Paper: true}, {Blind: true}, {Paper: true, Shared: true},
			{Blind: true, Paper: true}, {RouteSteps: 1, Steps: 2}} {
			for seed := range uint64(6) {
				s := NewNetworkState(NewTopologyContext(f, m, nil, nil), opt)
				runSome(s, rand.New(rand.NewPCG(seed, 2)), 15)
				j := randomJob(rand.New(rand.NewPCG(seed, 1)), 3)
				if seed%3 == 2 {
					grow(j, 2, rand.New(rand.NewPCG(seed, 4)))
				}
				p := s.Place(j, slots(f, 2), rand.New(rand.NewPCG(seed, 3)))
				text := fmt.Sprintf("%v %v %v %v %v", p.Hosts, p.Place, p.Route, p.paths, s.Utility())
				got = append(got, fmt.Sprintf("%.9s %d %d: %x", spec, mode, seed, sha256.Sum256([]byte(text)))[:40])
			}
		}
	}
	decided.Compare(t, "testdata/decisions.golden", *update, got)
}
