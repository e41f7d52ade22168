package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Each compares two policies coflow by coflow: the ratio of each coflow's time under one to its time under the other,
// as the geometric mean over runs. It is descriptive only; significance is tested on pairs of whole runs.
type Each struct {
	Policy   string    `json:"policy"`
	Against  string    `json:"against"`
	Runs     int       `json:"runs"`
	Coflows  int       `json:"coflows"` // that have a ratio
	Without  int       `json:"without"` // took no time in one of the two
	P50      float64   `json:"p50"`
	P90      float64   `json:"p90"`
	P99      float64   `json:"p99"`
	Mean     float64   `json:"geometric_mean"`
	Lower    int       `json:"lower"`  // by more than 1 % and 1 ms
	Higher   int       `json:"higher"` // likewise
	Sure     [2]int    `json:"lower_higher_after_holm"`
	Note     string    `json:"note,omitempty"` // why there is nothing
	Outliers []Outlier `json:"outliers,omitempty"`
	Beyond   int       `json:"outliers_in_all"`
}

// Outlier is a coflow whose ratio is far from the median of all.
type Outlier struct {
	ID     int32    `json:"id"`
	Name   string   `json:"name"`
	Took   float64  `json:"took_seconds"`
	Before float64  `json:"against_seconds"`
	Ratio  Interval `json:"ratio"`
	Holm   float64  `json:"p_holm"` // among all coflows; 1 with one run
}

// outlying is the part by which an outlier's ratio differs at least from the median of all; outliersNamed is how many
// are named.
const (
	outlying      = 0.10
	outliersNamed = 10
)

// unchanged is how far the logarithm of a ratio is from 0 at most where a coflow took as long as before: it is far from
// a median of others that changed, but nobody looks for it.
const unchanged = 0.005

// one is a coflow's ratio while an Each is computed.
type one struct {
	Outlier
	p float64
}

// each compares row by row. a and b are the rows that list the coflows, x and y the runs of either.
func each(policy, against string, a, b *Policy, x, y []SeedRun, margin float64) Each {
	e := Each{Policy: policy, Against: against}
	switch {
	case len(a.Coflows) == 0 || len(b.Coflows) == 0:
		e.Note = fmt.Sprintf("a report lists no coflows one by one: it does so up to %d", MaxRows)
		return e
	case !sameRows(a.Coflows, b.Coflows):
		e.Note = "the reports list other coflows"
		return e
	}
	for n := 1; n < min(len(x), len(y)); n++ {
		if x[n].Jobs != x[0].Jobs {
			e.Note = "every seed has other jobs: coflows of the first run alone are compared"
			x, y = x[:1], y[:1]
		}
	}
	var all []one
	for i := range a.Coflows {
		if o, runs := ratioOf(i, &b.Coflows[i], x, y); runs > 0 {
			e.Runs = max(e.Runs, runs)
			all = append(all, o)
		} else {
			e.Without++
		}
	}
	e.fill(all, max(outlying, margin))
	return e
}

func sameRows(a, b []Row) bool {
	return slices.EqualFunc(a, b, func(x, y Row) bool { return x.ID == y.ID && x.Name == y.Name })
}

// ratioOf compares coflow i over the runs in which both ended.
func ratioOf(i int, row *Row, x, y []SeedRun) (one, int) {
	o := one{Outlier: Outlier{ID: row.ID, Name: row.Name}, p: 1}
	var logs []float64
	for n := range min(len(x), len(y)) {
		a, b := x[n].Policies[0].Each, y[n].Policies[0].Each
		if i >= len(a) || i >= len(b) || a[i] <= 0 || b[i] <= 0 {
			continue
		}
		logs = append(logs, math.Log(b[i]/a[i]))
		o.Took, o.Before = o.Took+b[i], o.Before+a[i]
	}
	if len(logs) == 0 {
		return o, 0
	}
	o.Took, o.Before = o.Took/float64(len(logs)), o.Before/float64(len(logs))
	mean := math.Exp(Mean(logs))
	o.Ratio = Interval{mean, mean, mean}
	if len(logs) > 1 {
		l := Bootstrap(logs, uint64(row.ID))
		o.Ratio.Low, o.Ratio.High = math.Exp(l.Low), math.Exp(l.High)
		o.p = SignFlip(logs, uint64(row.ID))
	}
	return o, len(logs)
}

// fill computes percentiles, the number of certain differences, and the outliers.
func (e *Each) fill(all []one, beyond float64) {
	if e.Coflows = len(all); e.Coflows == 0 {
		return
	}
	p, ratios, logs := make([]float64, len(all)), make([]float64, len(all)), 0.0
	for i, o := range all {
		p[i], ratios[i] = o.p, o.Ratio.Mean
		logs += math.Log(o.Ratio.Mean)
		if more := o.Took - o.Before; math.Abs(more) > .001 && math.Abs(more) > .01*o.Before {
			if more > 0 {
				e.Higher++
			} else {
				e.Lower++
			}
		}
	}
	slices.Sort(ratios)
	e.P50, e.P90, e.P99 = Percentile(ratios, .5), Percentile(ratios, .9), Percentile(ratios, .99)
	e.Mean = math.Exp(logs / float64(len(all)))
	far := func(o *one) float64 { return math.Abs(math.Log(o.Ratio.Mean / e.P50)) }
	var out []one
	for i, h := range Holm(p) {
		o := &all[i]
		if o.Holm = h; h <= level {
			if o.Ratio.Mean < 1 {
				e.Sure[0]++
			} else {
				e.Sure[1]++
			}
		}
		if far(o) > math.Log1p(beyond) && math.Abs(math.Log(o.Ratio.Mean)) > unchanged {
			out = append(out, *o)
		}
	}
	slices.SortFunc(out, func(a, b one) int {
		return cmp.Or(cmp.Compare(far(&b), far(&a)),
			cmp.Compare(a.ID, b.ID))
	})
	e.Beyond = len(out)
	for _, o := range out[:min(len(out), outliersNamed)] {
		e.Outliers = append(e.Outliers, o.Outlier)
	}
}
