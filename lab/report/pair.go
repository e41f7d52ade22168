package report

import (
	"fmt"
	"math"
)

// level is the largest corrected p-value at which a difference is reported.
const level = 0.05

// The verdicts of a Pair.
const (
	Lower     = "lower"
	Higher    = "higher"
	Undecided = "undecided"
	Same      = "same"    // to the last digit, in every run
	OneRun    = "one run" // which says nothing about another
)

// Pair compares one figure of two policies, or of one policy in two reports, over the same runs. Ratio
// below 1: the policy takes less than the other.
type Pair struct {
	Policy  string   `json:"policy"`
	Against string   `json:"against"`
	Figure  string   `json:"figure"`
	Mean    float64  `json:"mean_seconds"`         // of the policy, over the runs that both ended
	Other   float64  `json:"against_mean_seconds"` // likewise
	Runs    int      `json:"runs"`                 // in which both have the figure
	Ratio   Interval `json:"ratio"`                // geometric mean over runs, and its paired bootstrap interval of 95 %
	Differ  Interval `json:"difference_seconds"`   // policy − other, likewise
	P       float64  `json:"p"`                    // by flipping signs of log-ratios; 1 with one run
	Holm    float64  `json:"p_holm"`               // corrected for the number of pairs in the table
	Exact   bool     `json:"exact,omitempty"`      // every run gives the same ratio: no chance is in it
	Equal   bool     `json:"equal,omitempty"`      // the interval lies within the margin
	Verdict string   `json:"verdict"`
}

// pair makes a Pair of figures by run. Runs with a value of zero or below are left out, except that two
// zeros have the ratio 1.
func pair(policy, against, figure string, ours, theirs []float64, seed uint64) Pair {
	p := Pair{Policy: policy, Against: against, Figure: figure, P: 1, Holm: 1, Verdict: Undecided}
	var logs, diffs []float64
	for i := range min(len(ours), len(theirs)) {
		a, b := ours[i], theirs[i]
		switch {
		case a == 0 && b == 0:
			logs = append(logs, 0)
		case a > 0 && b > 0:
			logs = append(logs, math.Log(a/b))
		default:
			continue
		}
		diffs = append(diffs, a-b)
		p.Mean, p.Other = p.Mean+a, p.Other+b
	}
	p.Runs = len(logs)
	if p.Runs == 0 {
		return p
	}
	p.Mean, p.Other = p.Mean/float64(p.Runs), p.Other/float64(p.Runs)
	l := Bootstrap(logs, seed)
	p.Ratio = Interval{Mean: math.Exp(l.Mean), Low: math.Exp(l.Low), High: math.Exp(l.High)}
	p.Differ = Bootstrap(diffs, seed)
	if p.Runs > 1 {
		p.P = SignFlip(logs, seed)
		p.Exact = alike(ours) && alike(theirs)
	}
	return p
}

func alike(v []float64) bool {
	for _, x := range v {
		if x != v[0] {
			return false
		}
	}
	return true
}

// judge corrects the p-values of a table for their number and sets each verdict. A margin above 0 is
// the part within which two figures count as equal.
func judge(all []Pair, margin float64) {
	p := make([]float64, len(all))
	for i := range all {
		p[i] = all[i].P
	}
	for i, h := range Holm(p) {
		q := &all[i]
		q.Holm = h
		q.Equal = margin > 0 && q.Runs > 1 && !q.Exact && q.Ratio.Low >= 1/(1+margin) && q.Ratio.High <= 1+margin
		switch {
		case q.Runs == 0:
		case q.Mean == q.Other && q.Ratio.Low == 1 && q.Ratio.High == 1:
			q.Verdict = Same
		case q.Runs == 1:
			q.Verdict = OneRun
		case !q.Exact && h > level:
		case q.Ratio.Mean < 1:
			q.Verdict = Lower
		default:
			q.Verdict = Higher
		}
	}
}

// words returns a verdict as a table shows it.
func (p *Pair) words(margin float64) string {
	out := p.Verdict
	switch {
	case p.Runs == 0:
		return "no run has both"
	case p.Exact && p.Verdict != Same:
		out += ", the same in every run"
	}
	if p.Equal && p.Verdict != Same {
		out += fmt.Sprintf(", equal within %s", percent(margin))
	}
	return out
}
