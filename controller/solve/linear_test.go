package solve

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"lightloom/pathmap/tries"
)

// TestLinearAgainstGonum: the same optimum as gonum's dense simplex on random programs, and every
// answer verifies.
func TestLinearAgainstGonum(t *testing.T) {
	feasible, infeasible := 0, 0
	for seed := range uint64(tries.Of(300, 5000)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		whole := seed%3 == 0
		p := random(rng, whole)
		a, err := p.Solve()
		want, lpErr := 0.0, errors.New("gonum's method cycles on programs of whole numbers")
		if !whole {
			want, _, lpErr = dense(p)
		}
		var none *InfeasibleError
		switch {
		case errors.As(err, &none):
			infeasible++
			if lpErr == nil {
				t.Fatalf("seed %d: %v, but gonum finds %v", seed, err, want)
			}
			if none.Reason == "" {
				if err := none.Verify(p); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			continue
		case err != nil:
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := a.Verify(p); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if a.Gap() > 1e-7 && a.Value-a.Bound > 1e-7 {
			t.Fatalf("seed %d: value %v, bound %v", seed, a.Value, a.Bound)
		}
		if lpErr != nil { // gonum also gives up on singular bases
			continue
		}
		feasible++
		if math.Abs(a.Value-want) > 1e-6*(1+math.Abs(want)) {
			t.Fatalf("seed %d: value %v, gonum has %v", seed, a.Value, want)
		}
	}
	if feasible < 50 || infeasible < 10 {
		t.Errorf("%d feasible, %d infeasible programs: the test shows little", feasible, infeasible)
	}
}

// random is a program of up to 12 rows and 20 columns, mostly bounded, and degenerate if it is of whole
// numbers.
func random(rng *rand.Rand, whole bool) *Linear {
	round := func(x float64) float64 {
		if whole {
			return math.Round(x)
		}
		return x
	}
	m, n := 1+rng.IntN(12), 1+rng.IntN(20)
	p := &Linear{Right: make([]float64, m), Sense: make([]Sense, m)}
	for r := range m {
		p.Right[r] = round(10*rng.Float64()) - 1
		p.Sense[r] = Sense(rng.IntN(3))
	}
	known := rng.IntN(4) > 0 // an answer
	if known {
		clear(p.Right)
	}
	for range n {
		x := round(3 * rng.Float64())
		c := Column{Cost: round(10*rng.Float64()) - 1}
		for r := range m {
			if rng.IntN(3) == 0 {
				c.Row, c.Coef = append(c.Row, int32(r)), append(c.Coef, round(8*rng.Float64())-2)
			}
		}
		p.Columns = append(p.Columns, c)
		for i, r := range c.Row {
			if known {
				p.Right[r] += x * c.Coef[i]
			}
		}
	}
	return p
}

// dense solves a program with gonum, in its standard form of equalities.
func dense(p *Linear) (value float64, x []float64, err error) {
	m, n := len(p.Right), len(p.Columns)
	slacks := 0
	for _, s := range p.Sense {
		if s != Equal {
			slacks++
		}
	}
	a, c := mat.NewDense(m, n+slacks, nil), make([]float64, n+slacks)
	for j, col := range p.Columns {
		c[j] = col.Cost
		for i, r := range col.Row {
			a.Set(int(r), j, col.Coef[i])
		}
	}
	at := n
	for r, s := range p.Sense {
		switch s {
		case AtMost:
			a.Set(r, at, 1)
		case AtLeast:
			a.Set(r, at, -1)
		}
		if s != Equal {
			at++
		}
	}
	defer func() { // gonum panics where rows or columns are all zero
		if r := recover(); r != nil {
			err = errors.New("gonum panics")
		}
	}()
	return lp.Simplex(c, a, p.Right, 0, nil)
}

// cutting is the cutting-stock problem: widths cut from rolls of width 1, as patterns that nobody lists.
type cutting struct{ width []float64 }

// Price finds the best pattern by trying all, in hundredths of the roll.
func (c cutting) Price(y []float64, costs bool) ([]Column, float64) {
	const n = 100
	worth, with := [n + 1]float64{}, [n + 1]int{}
	for have := 1; have <= n; have++ {
		worth[have], with[have] = worth[have-1], -1
		for i, w := range c.width {
			if size := int(math.Round(w * n)); size <= have && worth[have-size]+y[i] > worth[have] {
				worth[have], with[have] = worth[have-size]+y[i], i
			}
		}
	}
	cost := 0.0
	if costs {
		cost = 1
	}
	if cost-worth[n] >= -1e-9 {
		return nil, 0
	}
	count := make([]float64, len(c.width))
	for have := n; have > 0; {
		i := with[have]
		if i < 0 {
			have--
			continue
		}
		count[i]++
		have -= int(math.Round(c.width[i] * n))
	}
	col := Column{Cost: 1}
	for i, k := range count {
		if k > 0 {
			col.Row, col.Coef = append(col.Row, int32(i)), append(col.Coef, k)
		}
	}
	return []Column{col}, math.Inf(-1)
}

// TestColumnOracle: Gilmore and Gomory's cutting stock, whose columns are found one at a time; without
// any listed column phase one must find them too. No pattern of 45, 35 and 20 hundredths is worth more
// than a roll at 0.4, 0.4 and 0.2 (45 + 35 + 20, 35 + 35 + 20, 35 + 3·20 and 5·20 are worth one):
// 0.4·20 + 0.4·30 + 0.2·55 = 31 rolls.
func TestColumnOracle(t *testing.T) {
	p := &Linear{Right: []float64{20, 30, 55}, Sense: []Sense{AtLeast, AtLeast, AtLeast},
		Oracle: cutting{[]float64{0.45, 0.35, 0.20}}}
	a, err := p.Solve()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(p); err != nil {
		t.Fatal(err)
	}
	if math.Abs(a.Value-31) > 1e-9 || a.Gap() > 1e-9 {
		t.Errorf("value %v, bound %v, want 31", a.Value, a.Bound)
	}
}

// TestLinearLimit: a limit is said when hit, and what was proven before is kept.
func TestLinearLimit(t *testing.T) {
	p := &Linear{Right: []float64{1, 1, 1}, Sense: make([]Sense, 3)}
	for r := range int32(3) {
		p.Columns = append(p.Columns, Column{Cost: -1, Row: []int32{r}, Coef: []float64{1}})
	}
	p.Limit = 1
	a, err := p.Solve()
	if err != nil {
		t.Fatal(err)
	}
	if !a.Exhausted || a.Verify(p) != nil || !math.IsInf(a.Gap(), 1) {
		t.Errorf("after one iteration: %+v", a.Certificate)
	}
}

// TestBealeCycles: Beale's program (1955), on which the plain rule cycles for ever.
func TestBealeCycles(t *testing.T) {
	col := func(cost float64, coef ...float64) Column {
		return Column{Cost: cost, Row: []int32{0, 1, 2}, Coef: coef}
	}
	p := &Linear{Right: []float64{0, 0, 1}, Sense: make([]Sense, 3), Columns: []Column{
		col(-0.75, 0.25, 0.5, 0), col(150, -60, -90, 0), col(-0.02, -1./25, -1./50, 1), col(6, 9, 3, 0)}}
	a, err := p.Solve()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Verify(p); err != nil || math.Abs(a.Value+0.05) > 1e-9 || a.Exhausted {
		t.Errorf("%+v (%v), want -1/20", a.Certificate, err)
	}
}

// TestVerifyRejects: a certificate that was changed does not verify.
func TestVerifyRejects(t *testing.T) {
	p := &Linear{Right: []float64{4}, Sense: []Sense{AtLeast},
		Columns: []Column{{Cost: 3, Row: []int32{0}, Coef: []float64{2}}}}
	for name, spoil := range map[string]func(a *LinearAnswer){
		"value":    func(a *LinearAnswer) { a.Value = 5 },
		"bound":    func(a *LinearAnswer) { a.Bound = 7 },
		"row":      func(a *LinearAnswer) { a.X[0] = 1 },
		"negative": func(a *LinearAnswer) { a.X[0] = -2 },
		"NaN":      func(a *LinearAnswer) { a.X[0] = math.NaN() },
		"worth":    func(a *LinearAnswer) { a.Y[0] = 2 },
		"short":    func(a *LinearAnswer) { a.X = nil },
	} {
		a, err := p.Solve()
		if err != nil || a.Verify(p) != nil {
			t.Fatalf("%+v, %v", a, err)
		}
		if spoil(a); a.Verify(p) == nil {
			t.Errorf("%s: a spoilt answer verifies", name)
		}
	}
}
