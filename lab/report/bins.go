package report

import (
	"slices"
	"time"

	"lightloom/pathmap"
)

// The bounds between classes of coflows: Varys, SIGCOMM 2014, section 7.1.
const (
	shortBelow = 5 * pathmap.Bytes(1e6) // of the longest flow
	narrowTo   = 50                     // flows
)

// bins classifies coflows by length and width; nil if the lengths are unknown.
func bins(all []CoflowResult) []Bin {
	names := []string{"short-narrow", "long-narrow", "short-wide", "long-wide"}
	by := make([][]CoflowResult, len(names))
	total := pathmap.Bytes(0)
	for _, c := range all {
		if c.Longest == 0 {
			continue
		}
		k := 0
		if c.Longest >= shortBelow {
			k++
		}
		if c.Width > narrowTo {
			k += 2
		}
		by[k] = append(by[k], c)
		total += c.Bytes
	}
	if total == 0 {
		return nil
	}
	var out []Bin
	for k, name := range names {
		b := Bin{Name: name, Coflows: float64(len(by[k])) / float64(len(all)), OverBound: overBound(by[k])}
		var cct []time.Duration
		bytes := pathmap.Bytes(0)
		for i := range by[k] {
			cct = append(cct, by[k][i].CCT())
			bytes += by[k][i].Bytes
		}
		b.Bytes, b.CCT = float64(bytes)/float64(total), seconds(cct)
		out = append(out, b)
	}
	return out
}

// weighted is the mean completion time in seconds by weight; 0 if all weights are equal.
func weighted(all []CoflowResult) float64 {
	sum, weights, same := 0.0, 0.0, true
	for i := range all {
		same = same && all[i].Weight == all[0].Weight
		sum += all[i].Weight * all[i].CCT().Seconds()
		weights += all[i].Weight
	}
	if same || weights <= 0 {
		return 0
	}
	return sum / weights
}

// deadlines counts the coflows that have a deadline and those that met it; nil if none has one.
func deadlines(all []CoflowResult) *Deadlines {
	var d Deadlines
	for i := range all {
		if c := &all[i]; c.Deadline > 0 {
			d.Of++
			if c.End <= c.Deadline {
				d.Met++
			}
		}
	}
	if d.Of == 0 {
		return nil
	}
	return &d
}

// overBound returns the ratios of completion times to isolated bounds.
func overBound(all []CoflowResult) Ratios {
	var v []float64
	for i := range all {
		if c := &all[i]; c.Bound > 0 {
			v = append(v, float64(c.CCT())/float64(c.Bound))
		}
	}
	slices.Sort(v)
	r := Ratios{Count: len(v), Mean: Mean(v), P50: Percentile(v, .5), P95: Percentile(v, .95)}
	if len(v) > 0 {
		r.Max = v[len(v)-1]
	}
	return r
}

// boundMean is the mean of isolated bounds in seconds: the least mean that any policy can reach.
func boundMean(all []CoflowResult) float64 {
	var v []float64
	for i := range all {
		v = append(v, all[i].Bound.Seconds())
	}
	return Mean(v)
}
