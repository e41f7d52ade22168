package experiment

import (
	"fmt"
	"math"
)

// The rules of verdicts, fixed before the figures that they judge. A document's figure is held against
// the document's algorithm as printed; rows of ours that the document has no counterpart of make no
// claim.
const (
	// sizeMargin is how far a figure of ours may lie from the document's, as a share of the document's
	// effect. An effect of zero is always outside.
	sizeMargin = 0.25
	// OrderGap is the least gap in per cent between two schedulers that makes an order, and orderRuns the
	// least share of runs in per cent in which it must hold.
	OrderGap, orderRuns = 1, 90
	// leastRuns is how many runs say something: the interval of fewer is none.
	leastRuns = 5
	// affected is the least share of the document's jobs made worse at which a bound on the worst of them
	// is tested.
	affected = 0.5
)

// fewRuns is the note of a row of fewer than leastRuns.
const fewRuns = "fewer than 5 runs"

// Judge sets the verdict on the size of a figure whose value without any effect is 0.
//
//   - reproduced: the whole interval lies within the margin of the document's figure;
//   - differs: the whole interval lies outside, and why is the reason as far as it was tested;
//   - too weak: it lies on both sides, so that more runs or smaller ones could say either, or the runs are few;
//   - no test: no margin fits, since the document's figure is zero or the given margin would let zero pass.
//
// A margin of 0 is sizeMargin of the document's figure. A row without a document's figure makes no
// claim. The verdict never depends on which side is better.
func (r Row) Judge(margin float64, why string) Row {
	switch {
	case r.Measured == nil:
		r.Verdict, r.Note = NotReproducible, why
		return r
	case r.Paper == nil:
		r.Verdict, r.Note = NoClaim, why
		return r
	}
	if margin == 0 {
		margin = sizeMargin * math.Abs(*r.Paper)
	}
	least, most := *r.Paper-margin, *r.Paper+margin
	switch {
	case margin >= math.Abs(*r.Paper):
		r.Verdict, r.Note = NoTest, "a figure of zero would pass"
	case r.N < leastRuns:
		r.Verdict, r.Note = TooWeak, fewRuns
	case *r.Low >= least && *r.High <= most:
		r.Verdict, r.Note = Reproduced, fmt.Sprintf("the interval lies within %.3g of the document's figure", margin)
	case *r.High < least || *r.Low > most:
		r.Verdict, r.Note = Differs, why
	default:
		r.Verdict, r.Note = TooWeak, fmt.Sprintf("the interval lies within %.3g of the document's figure only in part",
			margin)
	}
	return r
}

// JudgeExact sets the verdict of a figure that nothing random is in: one run says all, and there is no
// interval.
func (r Row) JudgeExact(margin float64, why string) Row {
	switch {
	case r.Measured == nil || r.Paper == nil:
		return r.Judge(margin, why)
	case math.Abs(*r.Measured-*r.Paper) <= margin:
		r.Verdict, r.Note = Reproduced, exact
	default:
		r.Verdict, r.Note = Differs, "deterministic: "+why
	}
	r.Low, r.High = nil, nil
	return r
}

// JudgeAtMost sets the verdict of a figure that the document bounds from above. What is bounded must
// occur: worse is the row of how many jobs it happens to, nil where it happens to all.
func (r Row) JudgeAtMost(worse *Row, why string) Row {
	switch {
	case r.Measured == nil:
		r.Verdict, r.Note = NotReproducible, why
	case r.Paper == nil:
		r.Verdict, r.Note = NoClaim, why
	case worse != nil && worse.Paper != nil && *worse.Measured < affected**worse.Paper:
		r.Verdict, r.Note = NoTest, fmt.Sprintf("it happens to %.3g %% of the jobs here and to %.3g %% in the document",
			*worse.Measured, *worse.Paper)
	case *r.High <= *r.Paper:
		r.Verdict, r.Note = Reproduced, "the document says “at most”"
	case *r.Low > *r.Paper:
		r.Verdict, r.Note = Differs, why
	default:
		r.Verdict, r.Note = TooWeak, "the document's bound lies inside the interval"
	}
	return r
}

// JudgeOrder sets the verdict of a row whose figure is the share of runs in which an order holds. gap
// is by how many per cent the first is smaller, with an interval.
func (r Row) JudgeOrder(gap Row) Row {
	if r.Measured == nil || gap.Measured == nil {
		r.Verdict, r.Note = NotReproducible, "nothing was measured"
		return r
	}
	r.Note = fmt.Sprintf("smaller by %.3g %% (%.3g to %.3g)", *gap.Measured, *gap.Low, *gap.High)
	switch {
	case r.N < leastRuns:
		r.Verdict = TooWeak
	case *gap.Low > OrderGap && *r.Measured >= orderRuns:
		r.Verdict = Reproduced
	case *gap.High < OrderGap:
		r.Verdict = Differs
	default:
		r.Verdict = TooWeak
	}
	return r
}

// JudgeRise sets the verdict of a row of by how many per cent a figure is larger at the end of an axis,
// where the document says that it rises or, with falls, that it falls.
func (r Row) JudgeRise(falls bool) Row {
	low, high, word := *r.Low, *r.High, "rises"
	if falls {
		low, high, word = -*r.High, -*r.Low, "falls"
	}
	r.Note = "in the document it " + word
	switch {
	case r.N < leastRuns:
		r.Verdict, r.Note = TooWeak, fewRuns+"; "+r.Note
	case low > 0:
		r.Verdict = Reproduced
	case high < 0:
		r.Verdict = Differs
	default:
		r.Verdict = TooWeak
	}
	return r
}

// trend is the direction of a figure along an axis: 1 rises, -1 falls, 0 neither.
func trend(low, high []float64) int {
	last := len(low) - 1
	switch {
	case last < 1:
		return 0
	case low[last] > high[0]:
		return 1
	case high[last] < low[0]:
		return -1
	}
	return 0
}

// JudgeTrend takes back what is said of sizes where the trend over the axis is another one. rows are
// one series in the order of the axis; those without a document's figure are passed over.
func JudgeTrend(rows []*Row, axis string) {
	var theirs, low, high []float64
	for _, r := range rows {
		if r.Paper != nil && r.Measured != nil {
			theirs, low, high = append(theirs, *r.Paper), append(low, *r.Low), append(high, *r.High)
		}
	}
	want, got := trend(theirs, theirs), trend(low, high)
	if want == got {
		return
	}
	word := map[int]string{1: "rises", -1: "falls", 0: "neither rises nor falls"}
	for _, r := range rows {
		if r.Paper != nil && r.Verdict == Reproduced {
			r.Verdict = Differs
			r.Note = fmt.Sprintf("the size fits, but over %s the document's figure %s and ours %s", axis,
				word[want], word[got])
		}
	}
}
