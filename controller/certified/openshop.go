package certified

import (
	"cmp"
	"math"
	"slices"
)

// OpenShop is coflows that ports serve side by side, as a concurrent open shop serves jobs: each port
// is a machine, and a coflow has ended when all ports have done their part of it.
type OpenShop struct {
	Release []float64   // by coflow: the instant before which it cannot send
	Alone   []float64   // by coflow: how long it takes at least with the fabric to itself
	Load    [][]float64 // by port and coflow: how long it takes the port at its full rate; 0: it does not
}

// Bound returns what the sum of all coflows' ends is never below, whatever the order, the rates and the
// interruptions.
//
// It is a value of the ordering dual: every coflow's weight of one is dealt over its ports and its time
// alone. On one port the least weighted sum of mean busy times, half of each load added, is that of the
// schedule that always serves the released coflow of the largest weight for its load (Goemans,
// "Improved approximation algorithms for scheduling with release dates", SODA 1997), and no end is
// before it; without release dates that is Queyranne's inequality, on which the duals of Mastrolilli et
// al. ("Minimizing the sum of weighted completion times in a concurrent open shop",
// 2010) and Sincronia rest. Any dealing gives a bound: rounds of ascent look for the best one, and the best counts.
func (o *OpenShop) Bound(e Effort) float64 {
	d := newDealing(o)
	best := 0.0
	for range cmp.Or(e.Trials, 300) {
		best = max(best, d.value())
		d.ascend()
	}
	return max(best, d.value())
}

// dealing is the weights of coflows, by port; the last is no port but the time alone.
type dealing struct {
	*OpenShop
	weight [][]float64
	ends   [][]float64 // what no end is before in the mean, under these weights
	left   []float64
}

func newDealing(o *OpenShop) *dealing {
	n := len(o.Release)
	d := &dealing{OpenShop: o, left: make([]float64, n)}
	for range len(o.Load) + 1 {
		d.weight, d.ends = append(d.weight, make([]float64, n)), append(d.ends, make([]float64, n))
	}
	for j := range n {
		takes := 1.0
		for i := range o.Load {
			if o.Load[i][j] > 0 {
				takes++
			}
		}
		for i := range d.weight {
			if d.has(i, j) {
				d.weight[i][j] = 1 / takes
			}
		}
		d.ends[len(o.Load)][j] = o.Release[j] + o.Alone[j]
	}
	return d
}

// has reports whether a coflow can have weight on a port.
func (d *dealing) has(port, coflow int) bool { return port == len(d.Load) || d.Load[port][coflow] > 0 }

// value is the bound of the weights.
func (d *dealing) value() (sum float64) {
	for i, weights := range d.weight {
		if i < len(d.Load) {
			d.serve(i)
		}
		for j, w := range weights {
			sum += w * d.ends[i][j]
		}
	}
	return sum
}

// serve has a port always serve the released coflow of the largest weight for its load.
func (d *dealing) serve(port int) {
	load, weight, ends, now := d.Load[port], d.weight[port], d.ends[port], 0.0
	copy(d.left, load)
	clear(ends)
	for {
		first, next := -1, math.Inf(1)
		for j, left := range d.left {
			switch {
			case left <= 0:
			case d.Release[j] > now:
				next = min(next, d.Release[j])
			case first < 0 || weight[j]*load[first] > weight[first]*load[j]:
				first = j
			}
		}
		if first < 0 && math.IsInf(next, 1) {
			break
		}
		if first < 0 {
			now = next
			continue
		}
		run := min(d.left[first], next-now)
		ends[first] += run * (now + run/2) / load[first]
		d.left[first] -= run
		now += run
	}
	for j := range ends {
		ends[j] += load[j] / 2
	}
}

// ascend moves weight to where coflows end late.
func (d *dealing) ascend() {
	const step = 4
	for j := range d.Release {
		late := slices.MaxFunc(d.ends, func(a, b []float64) int { return cmp.Compare(a[j], b[j]) })[j]
		sum := 0.0
		for i := range d.weight {
			if d.has(i, j) {
				d.weight[i][j] = max(d.weight[i][j]*math.Exp(step*(d.ends[i][j]-late)/max(late-d.Release[j], 1e-9)), 1e-9)
				sum += d.weight[i][j]
			}
		}
		for i := range d.weight {
			d.weight[i][j] /= sum
		}
	}
}
