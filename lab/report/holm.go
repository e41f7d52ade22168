package report

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// flips is the most values for which all signs are tried; signings is how many are drawn for more.
const (
	flips    = 14
	signings = 20_000
)

// SignFlip returns the two-sided p-value of the hypothesis that the mean of v is zero, by sign
// flipping: the share of all sign assignments whose sum is at least as far from zero. It assumes only
// that values are distributed symmetrically around zero. Up to 14 values all assignments are tried; for
// more, 20,000 are drawn from the seed, and the observed one counts as one of them. With five values p
// is never below 0.0625.
func SignFlip(v []float64, seed uint64) float64 {
	if len(v) == 0 {
		return 1
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	far := math.Abs(sum) * (1 - 1e-12) // sums of the same values in another order differ in their last digits
	if len(v) <= flips {
		return flipAll(v, far)
	}
	r := rand.New(rand.NewPCG(seed, 0x666c6970))
	hits := 1
	for range signings {
		s, bits := 0.0, uint64(0)
		for i, x := range v {
			if i%64 == 0 {
				bits = r.Uint64()
			}
			if bits>>(i%64)&1 == 1 {
				x = -x
			}
			s += x
		}
		if math.Abs(s) >= far {
			hits++
		}
	}
	return float64(hits) / (signings + 1)
}

func flipAll(v []float64, far float64) float64 {
	hits, ways := 0, 1<<len(v)
	for w := range ways {
		s := 0.0
		for i, x := range v {
			if w>>i&1 == 1 {
				x = -x
			}
			s += x
		}
		if math.Abs(s) >= far {
			hits++
		}
	}
	return float64(hits) / float64(ways)
}

// Holm corrects p-values for their number (Holm, A simple sequentially rejective multiple test
// procedure, Scandinavian Journal of Statistics 6, 1979): with probability 95 %, no true hypothesis
// gets a corrected p of at most 0.05.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(p[a], p[b]), cmp.Compare(a, b)) })
	out := make([]float64, len(p))
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, p[i]*float64(len(p)-rank)))
		out[i] = most
	}
	return out
}
