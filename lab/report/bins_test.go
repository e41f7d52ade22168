package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
)

// TestBins: a coflow is long from 5 MB of its longest flow on, and wide above 50 flows; those of
// unknown length are in no class, and count.
func TestBins(t *testing.T) {
	if got := bins([]CoflowResult{{Width: 1, Bytes: 5}}); got != nil {
		t.Errorf("without the length of a coflow there are classes: %+v", got)
	}
	mk := func(longest, bytes pathmap.Bytes, width int64, took time.Duration) CoflowResult {
		return CoflowResult{Longest: longest, Bytes: bytes, Width: width, Arrival: time.Second,
			End:   time.Second + took,
			Bound: took / 2}
	}
	all := []CoflowResult{mk(4_999_999, 10, 50, time.Second), mk(5_000_000, 20, 50, 2*time.Second),
		mk(4_999_999, 30, 51, 3*time.Second), mk(5_000_000, 40, 51, 4*time.Second), {Width: 3, Bytes: 7}}
	got := bins(all)
	for i, name := range []string{"short-narrow", "long-narrow", "short-wide", "long-wide"} {
		b := got[i]
		if b.Name != name || b.Coflows != .2 || math.Abs(b.Bytes-float64(i+1)/10) > 1e-12 ||
			b.CCT.Mean != float64(i+1) ||
			b.OverBound.Count != 1 || b.OverBound.Max != 2 {
			t.Errorf("class %d: %+v", i, b)
		}
	}
}

// TestWeighted: the mean by weight, where weights differ.
func TestWeighted(t *testing.T) {
	mk := func(weight float64, took time.Duration) CoflowResult { return CoflowResult{Weight: weight, End: took} }
	if got := weighted([]CoflowResult{mk(1, time.Second), mk(3, 2*time.Second)}); got != 1.75 {
		t.Errorf("%v, want 1.75", got)
	}
	if got := weighted([]CoflowResult{mk(2, time.Second), mk(2, 2*time.Second)}); got != 0 {
		t.Errorf("weights are alike: %v", got)
	}
}

// TestDeadlineCounts: a coflow that ends at its deadline has met it; one without a deadline does not count.
func TestDeadlineCounts(t *testing.T) {
	all := []CoflowResult{{End: 5, Deadline: 5}, {End: 6, Deadline: 5}, {End: 7}}
	if got := deadlines(all); got == nil || *got != (Deadlines{Of: 2, Met: 1}) {
		t.Errorf("%+v", got)
	}
	if got := deadlines(all[2:]); got != nil {
		t.Errorf("none has one: %+v", got)
	}
}

// TestRepeatTable: the table has pairs with their intervals, or means where there is one policy, and a
// plot has those pairs that are sure.
func TestRepeatTable(t *testing.T) {
	r := &Repeat{Seeds: []uint64{1, 2}, Runs: make([]SeedRun, 2),
		Figures: []Estimate{{Policy: "a", Figure: "mean CCT", Runs: 2,
			Mean: Interval{Mean: 1.5, Low: 1.25, High: 1.75}}},
		Pairs: []Pair{{Policy: "b", Against: "a", Figure: "mean CCT", Runs: 2,
			Ratio:   Interval{Mean: .5, Low: .4, High: .6},
			Verdict: Lower}, {Policy: "c", Against: "a", Figure: "mean CCT", Runs: 2, Verdict: "odd"}}}
	for _, tc := range []struct {
		pairs []Pair
		want  []string
	}{{r.Pairs, []string{"over 2 runs on the simulator, seeds 1 to 2", "mean CCT", "0.4", "0.6"}},
		{nil, []string{"1.5", "1.25", "1.75"}}} {
		var b bytes.Buffer
		one := *r
		if one.Pairs = tc.pairs; one.table(&b, "flowsim") != nil {
			t.Fatal("not written")
		}
		for _, want := range tc.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is not in\n%s", want, b.String())
			}
		}
	}
	got := r.paired()
	if len(got) != 2 || got[0].Sign != Lower || got[0].Figure != "b: mean CCT" || got[0].Against != "a" ||
		got[0].Runs != 2 || got[0].Ratio.High != .6 || got[1].Sign != Undecided {
		t.Errorf("%+v", got)
	}
	if r.allExact() {
		t.Error("an interval has width, and all is called exact")
	}
	r.Figures[0].Mean = Interval{Mean: 1, Low: 1, High: 1}
	for i, exact := range []bool{true, false} {
		r.Pairs[0].Exact, r.Pairs[1].Exact = true, exact
		if r.allExact() != exact {
			t.Errorf("case %d: exact is %v", i, r.allExact())
		}
	}
	r.Pairs[1].Exact, r.Figures[0].Runs = true, 1
	if r.allExact() {
		t.Error("one run is called exact")
	}
}
