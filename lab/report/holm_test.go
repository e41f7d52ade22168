package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// signReference tries all signs by recursion.
func signReference(v []float64, sum, far float64) (hits, ways int) {
	if len(v) == 0 {
		if math.Abs(sum) >= far {
			return 1, 1
		}
		return 0, 1
	}
	h1, w1 := signReference(v[1:], sum+v[0], far)
	h2, w2 := signReference(v[1:], sum-v[0], far)
	return h1 + h2, w1 + w2
}

func TestSignFlip(t *testing.T) {
	for _, tc := range []struct {
		name string
		v    []float64
		want float64
	}{
		{"none", nil, 1},
		{"one", []float64{3}, 1},
		{"two of a sign: 2 of 4", []float64{3, 1}, .5},
		{"six of a sign: 2 of 64", []float64{1, 2, 3, 4, 5, 6}, 2. / 64},
		{"all zero", []float64{0, 0, 0}, 1},
		// Sums of ±1 ±2 ±4 at least 5 away from zero: ±7, and ±5 = ±(4+2−1).
		{"one small against", []float64{-1, 2, 4}, .5},
	} {
		if got := SignFlip(tc.v, 1); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		v, sum := make([]float64, 1+r.IntN(10)), 0.0
		for i := range v {
			v[i] = float64(r.IntN(21) - 10) // whole numbers, so that no order of adding matters
			sum += v[i]
		}
		hits, ways := signReference(v, 0, math.Abs(sum))
		if got := SignFlip(v, seed); got != float64(hits)/float64(ways) {
			t.Fatalf("seed %d: %v has p %v, want %d of %d", seed, v, got, hits, ways)
		}
	}
}

// TestSignFlipDrawn: with more values than are tried in full, draws come near to what all ways give.
func TestSignFlipDrawn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		v, sum := make([]float64, flips+2), 0.0
		for i := range v {
			v[i] = float64(r.IntN(21) - 8)
			sum += v[i]
		}
		hits, ways := signReference(v, 0, math.Abs(sum))
		if got, want := SignFlip(v, 3), float64(hits)/float64(ways); math.Abs(got-want) > .02 {
			t.Errorf("%v has p %v, all signs give %v", v, got, want)
		}
		if a, b := SignFlip(v, 3), SignFlip(v, 3); a != b {
			t.Error("the same seed draws otherwise")
		}
	}
}

// TestHolm: the example of the paper's kind, by hand: 0.01×4, max(0.04, 0.02×3), max(0.06, 0.03×2),
// max(0.06, 0.5).
func TestHolm(t *testing.T) {
	got := Holm([]float64{.03, .01, .5, .02})
	for i, want := range []float64{.06, .04, .5, .06} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("corrected: %v", got)
		}
	}
	if got := Holm([]float64{.9, .8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("above 1: %v", got)
	}
	if len(Holm(nil)) != 0 {
		t.Error("of none")
	}
}

func TestPairs(t *testing.T) {
	six := func(f float64) []float64 { return []float64{1 * f, 2 * f, 3 * f, 4 * f, 5 * f, 6 * f} }
	wobble := []float64{1.01, 1.98, 3.02, 3.96, 5.03, 5.95} // within 1 % of 1 to 6, to both sides
	for _, tc := range []struct {
		name         string
		ours, theirs []float64
		margin       float64
		verdict      string
		runs         int
		exact, equal bool
	}{
		{"half each time", six(.5), six(1), 0, Lower, 6, false, false},
		{"twice each time", six(2), six(1), 0, Higher, 6, false, false},
		{"five runs decide nothing", six(2)[:5], six(1)[:5], 0, Undecided, 5, false, false},
		{"about the same", wobble, six(1), .02, Undecided, 6, false, true},
		{"about the same, a narrow margin", wobble, six(1), .001, Undecided, 6, false, false},
		{"a little less, and equal", six(.99), six(1), .02, Lower, 6, false, true},
		{"the same", six(1), six(1), .02, Same, 6, false, true},
		{"no chance in it", []float64{2, 2}, []float64{1, 1}, .02, Higher, 2, true, false},
		{"one run", []float64{2}, []float64{1}, .02, OneRun, 1, false, false},
		{"both zero", []float64{0, 0}, []float64{0, 0}, 0, Same, 2, true, false},
		{"zero against some", []float64{0, 1}, []float64{1, 1}, 0, Same, 1, false, false},
		{"none", nil, nil, 0, Undecided, 0, false, false},
	} {
		p := []Pair{pair("a", "b", "mean CCT", tc.ours, tc.theirs, 1)}
		judge(p, tc.margin)
		if q := p[0]; q.Verdict != tc.verdict || q.Runs != tc.runs || q.Exact != tc.exact ||
			q.Equal != tc.equal {
			t.Errorf("%s: %+v", tc.name, q)
		}
	}
	// Of twenty pairs with a p of 2 ÷ 64 each, none is decided: 20 × 2 ÷ 64 is above 0.05. Eleven runs
	// decide: 20 × 2 ÷
	// 2048.
	for runs, want := range map[int]string{6: Undecided, 11: Lower} {
		var all []Pair
		for range 20 {
			ours, theirs := make([]float64, runs), make([]float64, runs)
			for i := range ours {
				ours[i], theirs[i] = float64(1+i), float64(2+2*i)
			}
			all = append(all, pair("a", "b", "mean CCT", ours, theirs, 1))
		}
		if judge(all, 0); all[7].Verdict != want || enough(20) != 10 {
			t.Errorf("%d runs: %+v; %d are enough", runs, all[7], enough(20))
		}
	}
}

func TestRepeatWords(t *testing.T) {
	run := func(seed uint64, a, b float64, fails string) SeedRun {
		return SeedRun{Seed: seed, Order: []string{"b", "a"}, Jobs: "x", Policies: []Measured{
			{Name: "a", Makespan: a, CCT: Seconds{Mean: a}}, {Name: "b", Error: fails, Makespan: b,
				CCT: Seconds{Mean: b}}}}
	}
	r := &Report{Seed: 1}
	r.Add(&Repeat{Seeds: []uint64{1, 2, 3}, Interleaved: true, Shown: 1,
		Runs: []SeedRun{run(1, 1, 2, ""), run(2, 2, 4, ""), run(3, 3, 0, "it stood still")}})
	if !r.Repeat.Alike || r.Repeat.Pairs[0].Runs != 2 || r.Repeat.Figures[0].Runs != 3 ||
		r.Repeat.Figures[6].Runs != 2 {
		t.Errorf("%+v", r.Repeat)
	}
	got := r.Repeat.Words()
	if strings.Contains(got, "Every run gives the same figures") || !containsAll(got, "3 runs, seeds 1 to 3",
		"an order drawn from its seed", "1 failed and are left out of pairs: seed 3, b: it stood still",
		"So few runs decide nothing", "corrected for 6 comparisons") {
		t.Error(got)
	}
}

// TestPairTable: one run has no interval and no p, two have.
func TestPairTable(t *testing.T) {
	cells := func(runs int) []string {
		ours, theirs := []float64{2, 4.5}[:runs], []float64{1, 2}[:runs]
		pairs := []Pair{pair("a", "b", "mean CCT", ours, theirs, 1)}
		judge(pairs, 0)
		var b strings.Builder
		if err := pairTable(&b, pairs, 0); err != nil {
			t.Fatal(err)
		}
		row := strings.Split(strings.Split(b.String(), "\n")[3], "│")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if len(row) != 14 || row[1] != "a" || row[4] != fmt.Sprint(runs) {
			t.Fatalf("%d runs:\n%s", runs, &b)
		}
		return []string{row[8], row[10], row[11]}
	}
	if got := cells(1); !slices.Equal(got, []string{"–", "–", "–"}) {
		t.Errorf("one run: %q", got)
	}
	if got := cells(2); slices.Contains(got, "–") || slices.Contains(got, "") {
		t.Errorf("two runs: %q", got)
	}
}

// TestForest: each comparison has its names, its interval and its mean in the picture.
func TestForest(t *testing.T) {
	pairs := []Paired{{"a", "b", "mean CCT", 5, Interval{.5, .4, .7}, "lower"},
		{"a", "b", "makespan", 5, Interval{1.2, .9, 1.6}, "undecided"}}
	picture := forest(pairs)
	for _, p := range pairs {
		for _, want := range []string{`class="dot ` + p.Sign + `"`, `class="ci ` + p.Sign + `"`, p.Figure + ", against b"} {
			if strings.Count(picture, want) != 1 {
				t.Errorf("%d times %s in %s", strings.Count(picture, want), want, picture)
			}
		}
	}
}
