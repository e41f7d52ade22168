package collective_test

import (
	"math/rand/v2"
	"testing"

	"lightloom/controller/collective"
	"lightloom/controller/collective/collectivetest"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// TestRepair: cables die one after the other, and the schedule is replayed each time.
func TestRepair(t *testing.T) {
	for seed := range uint64(tries.Of(6, 60)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := collective.Torus([]int{4, 4, 4}, fifty, halfMic)
		n.Hold = seed%2 == 0
		chunks := 1 + int(seed%3)
		s, _, err := collective.AllGather(n, chunks, gib/64/pathmap.Bytes(chunks))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			cable := 2 * rng.Int32N(int32(len(n.Links)/2))
			left, repaired, bounds, err := collective.Repair(n, s, cable, cable+1)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err := collectivetest.Check(left, repaired); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if bounds.Best() > repaired.Ends {
				t.Fatalf("seed %d: it ends at %v, before the bound of %v", seed, repaired.Ends, bounds.Best())
			}
			t.Logf("seed %d: %v, bound %v", seed, repaired.Ends, bounds.Best())
			n, s = left, repaired
		}
	}
}

// TestRepairNearBound: on the large torus, one dead cable costs what the ingress of its ends says, and little more.
func TestRepairNearBound(t *testing.T) {
	t.Parallel()
	n := collective.Torus([]int{8, 8, 8}, fifty, halfMic)
	s, _, err := collective.AllGather(n, 1, gib/512)
	if err != nil {
		t.Fatal(err)
	}
	left, repaired, bounds, err := collective.Repair(n, s, 100, 101)
	if err != nil {
		t.Fatal(err)
	}
	if err := collectivetest.Check(left, repaired); err != nil {
		t.Fatal(err)
	}
	if float64(repaired.Ends) > 1.02*float64(bounds.Best()) {
		t.Errorf("it ends at %v, and the bound is %v", repaired.Ends, bounds.Best())
	}
}
