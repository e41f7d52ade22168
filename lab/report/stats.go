package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// PercentileDefinition is the definition used everywhere here. On short, heavy-tailed samples definitions differ by
// more than policies do.
const PercentileDefinition = "nearest rank: the ceil(p·n)-th smallest of n, no interpolation"

// Percentile returns the p-quantile (0 < p ≤ 1) of sorted values by nearest rank; 0 if there are none.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	// p·n in binary may land a hair above a whole rank (0.95 × 20): take that hair off before rounding up.
	rank := int(math.Ceil(p*float64(len(sorted)) - 1e-9))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Mean returns the arithmetic mean; 0 if there are no values. Values are added in the order given.
func Mean(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// sortedIn returns durations in multiples of unit, sorted.
func sortedIn(unit time.Duration, d []time.Duration) []float64 {
	out := make([]float64, len(d))
	for i, x := range d {
		out[i] = float64(x) / float64(unit)
	}
	slices.Sort(out)
	return out
}

// Interval is an estimate with a 95 % confidence interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Bootstrap returns the mean of v and the percentile interval of resampled means, from 10,000 resamples drawn from that
// seed. The interval of a single value is the value itself, and carries no information.
func Bootstrap(v []float64, seed uint64) Interval {
	out := Interval{Mean: Mean(v)}
	out.Low, out.High = out.Mean, out.Mean
	if len(v) < 2 {
		return out
	}
	const resamples = 10_000
	r := rand.New(rand.NewPCG(seed, 0x626f6f74))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range v {
			sum += v[r.IntN(len(v))]
		}
		means[i] = sum / float64(len(v))
	}
	slices.Sort(means)
	out.Low, out.High = Percentile(means, 0.025), Percentile(means, 0.975)
	return out
}

// Paired compares a policy with another over the same seeds by the log-ratios of one figure. Ratio below 1: the policy
// took less.
type Paired struct {
	Policy  string   `json:"policy"`
	Against string   `json:"against"`
	Figure  string   `json:"figure"` // such as "mean CCT"
	Runs    int      `json:"runs"`
	Ratio   Interval `json:"ratio"` // geometric mean of policy ÷ other
	Sign    string   `json:"sign"`  // "lower", "higher", or "undecided" where the interval holds 1
}

// Compare makes a Paired of figures by seed; ours[i] and theirs[i] are of one seed. Pairs with a value of zero or below
// are left out of Runs.
func Compare(policy, against, figure string, ours, theirs []float64, seed uint64) Paired {
	var logs []float64
	for i := range min(len(ours), len(theirs)) {
		if ours[i] > 0 && theirs[i] > 0 {
			logs = append(logs, math.Log(ours[i]/theirs[i]))
		}
	}
	l := Bootstrap(logs, seed)
	p := Paired{Policy: policy, Against: against, Figure: figure, Runs: len(logs), Sign: "undecided"}
	p.Ratio = Interval{Mean: math.Exp(l.Mean), Low: math.Exp(l.Low), High: math.Exp(l.High)}
	switch {
	case len(logs) < 2:
	case l.High < 0:
		p.Sign = "lower"
	case l.Low > 0:
		p.Sign = "higher"
	}
	return p
}
