package report

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

var errFull = errors.New("no room")

// limited is a writer that takes so many writes, and fails after them.
type limited struct{ writes int }

func (w *limited) Write(b []byte) (int, error) {
	if w.writes == 0 {
		return 0, errFull
	}
	w.writes--
	return len(b), nil
}

// constant are three runs of policies a and b, of which b takes twice as long, with figures that tell
// each other apart.
func constant() []SeedRun {
	var out []SeedRun
	for seed := range uint64(3) {
		run := SeedRun{Seed: seed + 7, Jobs: "d"}
		for i, name := range []string{"a", "b"} {
			by := float64(i + 1)
			run.Policies = append(run.Policies, Measured{Name: name, Makespan: 10 * by, JCT: Seconds{Mean: 6 * by},
				CCT: Seconds{Mean: 2 * by, P50: 3 * by, P95: 4 * by, P99: 5 * by}})
		}
		out = append(out, run)
	}
	return out
}

// TestAddRepeat: every policy has the mean of every figure, and every policy but the first a pair for
// each of them.
func TestAddRepeat(t *testing.T) {
	r := &Report{Seed: 7}
	r.Add(&Repeat{Seeds: []uint64{7, 8, 9}, Shown: 7, Runs: constant()})
	var got []string
	for _, f := range r.Repeat.Figures {
		m := f.Mean
		got = append(got, fmt.Sprint(f.Policy, " ", f.Figure, " ", f.Runs, " ", m.Mean, " ", m.Low, " ", m.High))
	}
	want := []string{"a makespan 3 10 10 10", "a mean CCT 3 2 2 2", "a p50 CCT 3 3 3 3", "a p95 CCT 3 4 4 4",
		"a p99 CCT 3 5 5 5", "a mean JCT 3 6 6 6", "b makespan 3 20 20 20", "b mean CCT 3 4 4 4", "b p50 CCT 3 6 6 6",
		"b p95 CCT 3 8 8 8", "b p99 CCT 3 10 10 10", "b mean JCT 3 12 12 12"}
	if !slices.Equal(got, want) {
		t.Errorf("figures\n%q, want\n%q", got, want)
	}
	got = nil
	for _, p := range r.Repeat.Pairs {
		got = append(got, fmt.Sprint(p.Policy, " ", p.Against, " ", p.Figure, " ", p.Mean, " ", p.Other,
			" ", p.Runs, " ",
			p.Exact, " ", p.Verdict))
	}
	want = []string{"b a makespan 20 10 3 true higher", "b a mean CCT 4 2 3 true higher",
		"b a p50 CCT 6 3 3 true higher",
		"b a p95 CCT 8 4 3 true higher", "b a p99 CCT 10 5 3 true higher", "b a mean JCT 12 6 3 true higher"}
	if !slices.Equal(got, want) || !r.Repeat.Alike {
		t.Errorf("alike %v, pairs\n%q, want\n%q", r.Repeat.Alike, got, want)
	}
}

// TestAddUnlike: runs of which one has other jobs are not alike, and a repetition of no run has no figures.
func TestAddUnlike(t *testing.T) {
	for at := range 3 {
		runs := constant()
		runs[at].Jobs = "e"
		r := &Report{}
		if r.Add(&Repeat{Runs: runs}); r.Repeat.Alike {
			t.Errorf("run %d has other jobs, and all are called alike", at)
		}
	}
	r, rep := &Report{}, &Repeat{}
	if r.Add(rep); r.Repeat != rep || rep.Alike || rep.Figures != nil || rep.Pairs != nil {
		t.Errorf("of no run: %+v", r.Repeat)
	}
}

// TestMeasure: a repetition keeps a row's figures and every coflow's time, and gives the figures back
// as a row.
func TestMeasure(t *testing.T) {
	p := &Policy{Name: "a", Completion: Completion{Makespan: 1, CCT: Seconds{Mean: 2}, JCT: Seconds{Mean: 3},
		OverBound: Ratios{Mean: 4, Max: 5}}, Coflows: []Row{{ID: 1, Took: 6}, {ID: 2, Took: 7}}}
	got := Measure(p)
	want := Measured{Name: "a", Makespan: 1, CCT: Seconds{Mean: 2}, JCT: Seconds{Mean: 3}, OverBound: 4,
		Each: []float64{6, 7}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	p.Coflows, p.OverBound.Max = nil, 0
	if back := got.policy(); !reflect.DeepEqual(back, p) {
		t.Errorf("the row is %+v, want %+v", back, p)
	}
}

// TestFailedRuns: a run that failed has no value, is in no pair on either side, and is described.
func TestFailedRuns(t *testing.T) {
	makespan := repeated()[0]
	r := &Repeat{Runs: constant()}
	for i := range r.Runs {
		r.Runs[i].Policies[0].Makespan, r.Runs[i].Policies[1].Makespan = float64(i+1), float64(10*i+10)
	}
	r.Runs[0].Policies[0].Error, r.Runs[2].Policies[1].Error = "lost", "late"
	if a, b := r.values(0, makespan), r.values(1, makespan); !slices.Equal(a, []float64{2, 3}) ||
		!slices.Equal(b, []float64{10, 20}) {
		t.Errorf("values %v and %v", a, b)
	}
	if a, b := both(r.Runs, r.Runs, 1, 0, makespan); !slices.Equal(a, []float64{20}) ||
		!slices.Equal(b, []float64{2}) {
		t.Errorf("both ended: %v and %v", a, b)
	}
	if a, b := both(r.Runs[:2], r.Runs, 1, 1, makespan); !slices.Equal(a, []float64{10, 20}) ||
		!slices.Equal(a, b) {
		t.Errorf("of two runs and three: %v and %v", a, b)
	}
	if got := r.Failures(); !slices.Equal(got, []string{"seed 7, a: lost", "seed 9, b: late"}) {
		t.Errorf("failures %q", got)
	}
}

// TestWordsOfRepeat: the text says only what holds of these runs.
func TestWordsOfRepeat(t *testing.T) {
	const read = " Ratio: geometric mean over runs of policy ÷ other, below 1 where the policy takes less; intervals: " +
		"paired bootstrap, 95 %; p: flips of the signs of log-ratios, corrected for "
	sure := []Estimate{{Runs: 2, Mean: Interval{1, 1, 1}}}
	for _, tc := range []struct {
		name string
		r    Repeat
		want string
	}{
		{"alike and exact", Repeat{Seeds: []uint64{4, 5}, Shown: 4, Alike: true,
			Runs: make([]SeedRun, 2), Figures: sure},
			"2 runs, seeds 4 to 5; all else in this report is of seed 4. Every run gives the same figures: nothing in them " +
				"depends on the seed, and intervals have no width." + read + "0 comparisons after Holm."},
		{"exact, and not alike", Repeat{Seeds: []uint64{4, 5}, Shown: 5, Runs: make([]SeedRun, 2),
			Figures: sure},
			"2 runs, seeds 4 to 5; all else in this report is of seed 5." + read + "0 comparisons after Holm."},
		{"too few", Repeat{Seeds: []uint64{4, 8}, Shown: 4, Interleaved: true, Runs: make([]SeedRun, 5),
			Pairs: make([]Pair, 1)}, "5 runs, seeds 4 to 8; all else in this report is of seed 4. Within each run policies " +
			"took turns in an order drawn from its seed. So few runs decide nothing at 95 % in 1 comparisons: that takes 6." +
			read + "1 comparisons after Holm."},
		{"just enough", Repeat{Seeds: []uint64{4, 9}, Shown: 4, Runs: make([]SeedRun, 6),
			Pairs: make([]Pair, 1)},
			"6 runs, seeds 4 to 9; all else in this report is of seed 4." + read + "1 comparisons after Holm."},
	} {
		if got := tc.r.Words(); got != tc.want {
			t.Errorf("%s:\n%q, want\n%q", tc.name, got, tc.want)
		}
	}
	for pairs, want := range map[int]int{-1: 2, 0: 2, 1: 6, 2: 7, 3: 7, 4: 8, 6: 8, 7: 9} {
		if got := enough(pairs); got != want {
			t.Errorf("%d runs decide %d comparisons, want %d", got, pairs, want)
		}
	}
}

// TestPairedSigns: only a verdict of lower or higher is a sign.
func TestPairedSigns(t *testing.T) {
	for verdict, want := range map[string]string{Lower: Lower, Higher: Higher, Same: Undecided,
		OneRun:    Undecided,
		Undecided: Undecided} {
		r := &Repeat{Pairs: []Pair{{Policy: "a", Against: "b", Figure: "makespan", Runs: 3,
			Ratio:   Interval{1, 2, 3},
			Verdict: verdict}}}
		if got := r.paired(); !slices.Equal(got,
			[]Paired{{"a", "b", "a: makespan", 3, Interval{1, 2, 3}, want}}) {
			t.Errorf("verdict %s: %+v", verdict, got)
		}
	}
}

// TestNoWrite: a table that cannot be written says so, whichever of its parts it is.
func TestNoWrite(t *testing.T) {
	r := small(1, 1, 2)
	const parts = 7 // headline, comparison, what the runs are, their pairs, what it rests on, a caveat, how many more
	for n := range parts + 1 {
		err := r.Table(&limited{n})
		if n == parts && err != nil || n < parts &&
			(!errors.Is(err, errFull) || err.Error() != "write table: no room") {
			t.Errorf("after %d of %d parts: %v", n, parts, err)
		}
	}
}
