package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// percentileReference is nearest rank by counting: the least value with at least p of all values at or
// below it.
func percentileReference(v []float64, hundredths int) float64 {
	best := math.Inf(1)
	for _, x := range v {
		below := 0
		for _, y := range v {
			if y <= x {
				below++
			}
		}
		if below*100 >= hundredths*len(v) {
			best = min(best, x)
		}
	}
	return best
}

func TestPercentile(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		v := make([]float64, 1+r.IntN(60))
		for i := range v {
			v[i] = float64(r.IntN(20))
		}
		slices.Sort(v)
		for _, h := range []int{1, 5, 25, 50, 90, 95, 99, 100} {
			if got, want := Percentile(v, float64(h)/100), percentileReference(v, h); got != want {
				t.Fatalf("seed %d: p%d of %v is %v, want %v", seed, h, v, got, want)
			}
		}
	}
	if Percentile(nil, .5) != 0 || Mean(nil) != 0 {
		t.Error("figures of nothing")
	}
}

func TestBootstrap(t *testing.T) {
	same := Bootstrap([]float64{3, 3, 3}, 1)
	if same != (Interval{3, 3, 3}) {
		t.Errorf("constant values: %+v", same)
	}
	if one := Bootstrap([]float64{5}, 1); one != (Interval{5, 5, 5}) {
		t.Errorf("one value: %+v", one)
	}
	v := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	a, b := Bootstrap(v, 7), Bootstrap(v, 7)
	if a != b {
		t.Error("the same seed gives another interval")
	}
	// The mean of ten of 1…10 has mean 5.5 and standard error √(8.25/10) = 0.91: 1.96 of them are 1.78.
	if a.Mean != 5.5 || math.Abs(a.Low-(5.5-1.78)) > 0.15 || math.Abs(a.High-(5.5+1.78)) > 0.15 {
		t.Errorf("interval %+v", a)
	}
}

// TestBootstrapCovers: of many samples with a known mean, about 95 % of intervals hold it (fewer, at n
// = 20).
func TestBootstrapCovers(t *testing.T) {
	held := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		v := make([]float64, 20)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		if i := Bootstrap(v, seed); i.Low <= 0 && 0 <= i.High {
			held++
		}
	}
	if held < 175 || held > 199 {
		t.Errorf("%d of 200 intervals hold the mean", held)
	}
}

func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		name         string
		ours, theirs []float64
		runs         int
		ratio        float64
		sign         string
	}{
		{"half each time", []float64{1, 2, 4}, []float64{2, 4, 8}, 3, .5, "lower"},
		{"twice each time", []float64{2, 4}, []float64{1, 2}, 2, 2, "higher"},
		{"to and fro", []float64{1, 4, 1, 4}, []float64{2, 2, 2, 2}, 4, 1, "undecided"},
		{"one run proves nothing", []float64{1}, []float64{2}, 1, .5, "undecided"},
		{"zeros are left out", []float64{0, 1, 1}, []float64{2, 2, 2}, 2, .5, "lower"},
	} {
		p := Compare("a", "b", "mean CCT", tc.ours, tc.theirs, 1)
		if p.Runs != tc.runs || math.Abs(p.Ratio.Mean-tc.ratio) > 1e-9 || p.Sign != tc.sign {
			t.Errorf("%s: %+v", tc.name, p)
		}
	}
}
