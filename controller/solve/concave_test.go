package solve

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"lightloom/pathmap/tries"
)

// over is a path over rows, with coefficients of 1.
func over(owner int32, rows ...int32) Path {
	q := Path{Owner: owner, Row: rows}
	for range rows {
		q.Coef = append(q.Coef, 1)
	}
	return q
}

func solved(t *testing.T, p *Concave) *ConcaveAnswer {
	t.Helper()
	a, err := p.Solve()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(p); err != nil {
		t.Fatalf("%v: %+v", err, a.Certificate)
	}
	if a.Exhausted || a.Gap() > 1e-6 {
		t.Fatalf("gap %v: %+v", a.Gap(), a.Certificate)
	}
	return a
}

// TestOneRow: rates on one row are as the square roots of weights, and the value is (Σ√w)²/B; also
// where loads differ by twelve orders of magnitude, and where a thousand are equal.
func TestOneRow(t *testing.T) {
	thousand := make([]float64, 1000)
	for i := range thousand {
		thousand[i] = 7
	}
	for name, w := range map[string][]float64{"two": {1, 4}, "twelve orders": {1, 1e12, 1e3}, "one": {5},
		"thousand": thousand, "small": {1e-9, 3e-9}} {
		p := &Concave{Weight: w, Alpha: 2, Right: []float64{1e10}}
		roots := 0.0
		for i := range w {
			p.Paths = append(p.Paths, over(int32(i), 0))
			roots += math.Sqrt(w[i])
		}
		a := solved(t, p)
		if want := roots * roots / 1e10; math.Abs(a.Value-want) > 1e-6*want {
			t.Errorf("%s: value %v, want %v", name, a.Value, want)
		}
	}
}

// TestProportional: with alpha 1 a flow over n rows gets 1/(n+1) of each, and those of one row the rest
// (Kelly 1998).
func TestProportional(t *testing.T) {
	const n = 6
	p := &Concave{Alpha: 1, Paths: []Path{over(0, 0, 1, 2, 3, 4, 5)}, Weight: []float64{1}}
	for r := range int32(n) {
		p.Right, p.Weight = append(p.Right, 100), append(p.Weight, 1)
		p.Paths = append(p.Paths, over(r+1, r))
	}
	a := solved(t, p)
	for i, rate := range a.Rate {
		want := 100. * n / (n + 1)
		if i == 0 {
			want = 100. / (n + 1)
		}
		if math.Abs(rate-want) > 0.2 {
			t.Errorf("owner %d gets %v, want %v", i, rate, want)
		}
	}
}

// listed is an oracle over a list of paths.
type listed struct {
	p     *Concave
	paths []Path
}

func (l listed) Cheapest(y []float64) ([]float64, []Path) {
	least := l.p.cheapest(l.paths, y)
	var best []Path
	for i := range least {
		for j := range l.paths {
			if q := &l.paths[j]; int(q.Owner) == i && l.p.open(q) && q.cost(y) == least[i] {
				best = append(best, *q)
				break
			}
		}
	}
	return least, best
}

// TestConcaveRandom: on random instances the gap closes, with all paths listed and with an oracle
// alike, and no small move of rate from one path to another improves the answer.
func TestConcaveRandom(t *testing.T) {
	for seed := range uint64(tries.Of(100, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		p := randomConcave(rng)
		want := solved(t, p)
		o := *p
		o.Paths, o.Oracle = nil, listed{p, p.Paths}
		got := solved(t, &o)
		if scale := max(math.Abs(want.Value), want.Scale); math.Abs(got.Value-want.Value) > 2e-6*scale {
			t.Fatalf("seed %d: listed %v, from an oracle %v", seed, want.Value, got.Value)
		}
	}
}

func randomConcave(rng *rand.Rand) *Concave {
	m, n := 2+rng.IntN(12), 1+rng.IntN(10)
	p := &Concave{Alpha: [...]float64{1, 2, 2, 2, 3}[rng.IntN(5)]}
	for range m {
		p.Right = append(p.Right, 0.1+10*rng.Float64())
	}
	for i := range int32(n) {
		p.Weight = append(p.Weight, math.Exp(3*rng.NormFloat64()))
		for range 1 + rng.IntN(4) {
			q := Path{Owner: i}
			for r := range int32(m) {
				if rng.IntN(3) == 0 || r == int32(m)-1 && len(q.Row) == 0 {
					q.Row, q.Coef = append(q.Row, r), append(q.Coef, 0.5+rng.Float64())
				}
			}
			p.Paths = append(p.Paths, q)
		}
	}
	return p
}

// TestConcaveBad: what has no answer says why, and what is odd has one.
func TestConcaveBad(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Concave
		none string // the error; "" if there is an answer
	}{
		{"no path", Concave{Weight: []float64{1}, Alpha: 2, Right: []float64{1}},
			"solve program: infeasible: owner 0 has no path"},
		{"no capacity", Concave{Weight: []float64{1}, Alpha: 2, Right: []float64{1, 0},
			Paths: []Path{over(0, 0, 1)}},
			"solve program: infeasible: row 1 has no capacity, and owner 0 no path without it"},
		{"one path shut", Concave{Weight: []float64{1}, Alpha: 2, Right: []float64{1, 0},
			Paths: []Path{over(0, 1), over(0, 0)}}, ""},
		{"no weight", Concave{Weight: []float64{0, 0}, Alpha: 2, Right: []float64{1},
			Paths: []Path{over(0, 0)}}, ""},
		{"nothing", Concave{Alpha: 2}, ""},
		{"NaN", Concave{Weight: []float64{math.NaN()}, Alpha: 2}, "solve program: weight of owner 0 is NaN"},
		{"endless", Concave{Weight: []float64{1}, Alpha: 2, Right: []float64{math.Inf(1)}},
			"solve program: right-hand side of row 0 is +Inf"},
		{"no rows", Concave{Weight: []float64{1}, Alpha: 2, Paths: []Path{{}}},
			"solve program: path 0: it takes no row, so its rate has no limit"},
		{"alpha", Concave{Alpha: 0}, "solve program: alpha is 0, and must be above zero"},
	} {
		a, err := c.p.Solve()
		switch {
		case c.none == "" && (err != nil || a.Verify(&c.p) != nil || math.IsNaN(a.Value)):
			t.Errorf("%s: %+v, %v", c.name, a, err)
		case c.none != "" && (err == nil || err.Error() != c.none):
			t.Errorf("%s: error %v, want %s", c.name, err, c.none)
		}
		var none *InfeasibleError
		if err != nil && c.p.Alpha > 0 && len(c.p.Paths) < 2 && c.name != "NaN" && c.name != "endless" &&
			c.name != "no rows" && !errors.As(err, &none) {
			t.Errorf("%s: %v is no InfeasibleError", c.name, err)
		}
	}
}

// TestConcaveLimit: after one iteration the answer says so, and its certificate still holds.
func TestConcaveLimit(t *testing.T) {
	p := randomConcave(rand.New(rand.NewPCG(9, 2)))
	p.Limit = 1
	a, err := p.Solve()
	if err != nil || !a.Exhausted || a.Verify(p) != nil {
		t.Errorf("%+v, %v, %v", a.Certificate, err, a.Verify(p))
	}
}
