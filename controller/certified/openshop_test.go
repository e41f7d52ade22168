package certified_test

import (
	"math/rand/v2"
	"testing"

	"lightloom/controller/certified"
	"lightloom/pathmap/tries"
)

// TestOpenShopBound: the bound is at most the least sum of ends that exhaustive search finds, and near
// it in the mean.
func TestOpenShopBound(t *testing.T) {
	const near = 0.9
	sum, n := 0.0, tries.Of(1500, 20_000)
	for seed := range uint64(n) {
		o := tinyShop(rand.New(rand.NewPCG(seed, 0x73686f70)))
		got, best := o.Bound(certified.Effort{Trials: 60}), leastEnds(o)
		if got > best+1e-6 {
			t.Fatalf("seed %d: a bound of %v, and a schedule of %v: %+v", seed, got, best, *o)
		}
		sum += got / best / float64(n)
	}
	t.Logf("%d instances: the bound is %.4f of the least in the mean", n, sum)
	if sum < near {
		t.Errorf("the bound is %.4f of the least in the mean, want %v at least", sum, near)
	}
}

// tinyShop has whole numbers.
func tinyShop(r *rand.Rand) *certified.OpenShop {
	o := &certified.OpenShop{Load: make([][]float64, 1+r.IntN(3))}
	n := 1 + r.IntN(4)
	for range n {
		o.Release, o.Alone = append(o.Release, float64(r.IntN(4))), append(o.Alone, 0)
	}
	for i := range o.Load {
		for j := range n {
			o.Load[i] = append(o.Load[i], float64(r.IntN(4)))
			o.Alone[j] = max(o.Alone[j], o.Load[i][j], 1)
		}
	}
	return o
}

// leastEnds is the slow reference: all whole ends are tried (with whole loads and releases some least
// schedule ends at such), and are possible if on each port what must run between a release and an end
// fits there.
func leastEnds(o *certified.OpenShop) float64 {
	last := 3.0
	for j := range o.Alone {
		last += o.Alone[j] * 3
	}
	ends, best := make([]float64, len(o.Release)), last*float64(len(o.Release))
	var try func(j int, sum float64)
	try = func(j int, sum float64) {
		if sum >= best {
			return
		}
		if j == len(ends) {
			best = sum
			return
		}
		for ends[j] = o.Release[j] + o.Alone[j]; ends[j] <= last && sum+ends[j] < best; ends[j]++ {
			if possible(o, ends[:j+1]) {
				try(j+1, sum+ends[j])
			}
		}
	}
	try(0, 0)
	return best
}

func possible(o *certified.OpenShop, ends []float64) bool {
	for _, load := range o.Load {
		for a := range ends {
			for b := range ends {
				work := 0.0
				for j := range ends {
					if o.Release[j] >= o.Release[a] && ends[j] <= ends[b] {
						work += load[j]
					}
				}
				if work > max(ends[b]-o.Release[a], 0) {
					return false
				}
			}
		}
	}
	return true
}
