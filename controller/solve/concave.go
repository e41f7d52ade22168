package solve

import (
	"fmt"
	"math"
)

// Path is a column of a Concave: an owner's rate over it takes coefficient times as much of each row.
// Coefficients are above zero, rows ascending.
type Path struct {
	Owner int32
	Row   []int32
	Coef  []float64
}

// cost returns what a path pays at prices y.
func (p *Path) cost(y []float64) float64 {
	sum := 0.0
	for i, r := range p.Row {
		sum += p.Coef[i] * y[r]
	}
	return sum
}

// PathOracle knows the paths that a program does not list.
type PathOracle interface {
	// Cheapest returns for every owner what its cheapest path pays at prices y, over all of its paths,
	// +Inf if it has none; and paths that pay as little. None of them takes a row without capacity.
	Cheapest(y []float64) (least []float64, paths []Path)
}

// Concave shares rows among owners. It minimises the sum of weight·rate^(1−alpha)/(alpha−1), that is of
// weight/rate for an alpha of 2, and of −weight·log rate for one of 1 (Mo and Walrand 2000); an owner's
// rate is the sum over its paths, and no row carries more than its right-hand side. Owners of weight
// zero get nothing.
type Concave struct {
	Weight []float64
	Alpha  float64
	Right  []float64
	Paths  []Path
	Oracle PathOracle // nil: all paths are listed
	Gap    float64    // relative; 0: 1e-6
	Limit  int        // on iterations; 0: 300
}

// ConcaveAnswer is an answer to a Concave.
type ConcaveAnswer struct {
	Certificate
	Paths []Path    // the program's, and those that its oracle added
	X     []float64 // rate by path
	Rate  []float64 // by owner
	Y     []float64 // by row: its price
}

// term is what an owner costs at a rate.
func (p *Concave) term(owner int, rate float64) float64 {
	w := p.Weight[owner]
	switch {
	case w == 0:
		return 0
	case p.Alpha == 1:
		return -w * math.Log(rate)
	case p.Alpha == 2:
		return w / rate
	}
	return w * math.Pow(rate, 1-p.Alpha) / (p.Alpha - 1)
}

// least is the least that an owner costs if it also pays a price for its rate.
func (p *Concave) least(owner int, price float64) float64 {
	w := p.Weight[owner]
	switch {
	case w == 0:
		return 0
	case price == 0 && p.Alpha > 1:
		return 0
	case price == 0:
		return math.Inf(-1)
	case p.Alpha == 2:
		return 2 * math.Sqrt(w*price)
	}
	rate := math.Pow(w/price, 1/p.Alpha)
	return p.term(owner, rate) + price*rate
}

// scale is what gaps are relative to, where the value can be zero.
func (p *Concave) scale() float64 {
	if p.Alpha != 1 {
		return 0
	}
	sum := 0.0
	for _, w := range p.Weight {
		sum += w
	}
	return sum
}

// open reports whether a path can carry anything.
func (p *Concave) open(path *Path) bool {
	for _, r := range path.Row {
		if p.Right[r] <= 0 {
			return false
		}
	}
	return true
}

// Bound returns what no answer is below, by prices of rows: what owners would pay at least, less what
// rows are worth.
func (p *Concave) Bound(paths []Path, y []float64) float64 {
	if len(y) != len(p.Right) {
		return math.Inf(-1)
	}
	sum := 0.0
	for r, price := range y {
		if !(price >= 0) {
			return math.Inf(-1)
		}
		sum -= price * p.Right[r]
	}
	least := p.cheapest(paths, y)
	if p.Oracle != nil {
		least, _ = p.Oracle.Cheapest(y)
	}
	for i, price := range least {
		if p.Weight[i] > 0 {
			sum += p.least(i, price)
		}
	}
	return sum
}

// Scaled returns the multiple of prices that proves the most, and the bound that it proves.
func (p *Concave) Scaled(paths []Path, y []float64) ([]float64, float64) {
	least := p.cheapest(paths, y)
	if p.Oracle != nil {
		least, _ = p.Oracle.Cheapest(y)
	}
	_, by := p.scaled(least, y)
	out := make([]float64, len(y))
	for r := range y {
		out[r] = y[r] * by
	}
	return out, p.Bound(paths, out)
}

// scaled returns the best bound that a multiple of prices proves, and by how much to multiply: where
// least is what the cheapest paths pay, the bound is a sum that grows with a power of the factor, less
// one that grows with the factor.
func (p *Concave) scaled(least, y []float64) (bound, by float64) {
	worth, sum, weight := 0.0, 0.0, 0.0
	for r, price := range y {
		worth += price * p.Right[r]
	}
	for i, price := range least {
		sum += p.least(i, price)
		if p.Weight[i] > 0 {
			weight += p.Weight[i]
		}
	}
	if p.Alpha == 1 {
		by = weight / worth
		bound = sum + weight*math.Log(by) - by*worth
	} else {
		by = math.Pow((p.Alpha-1)/p.Alpha*sum/worth, p.Alpha)
		bound = sum*math.Pow(by, 1-1/p.Alpha) - by*worth
	}
	if math.IsNaN(bound) || math.IsInf(by, 0) || math.IsNaN(by) {
		return sum - worth, 1
	}
	return bound, by
}

// cheapest is the oracle of listed paths.
func (p *Concave) cheapest(paths []Path, y []float64) []float64 {
	least := make([]float64, len(p.Weight))
	for i := range least {
		least[i] = math.Inf(1)
	}
	for j := range paths {
		if q := &paths[j]; p.open(q) {
			least[q.Owner] = min(least[q.Owner], q.cost(y))
		}
	}
	return least
}

// Verify checks an answer without the solver: no row carries more than its right-hand side, and value
// and bound are what they are said to be.
func (a *ConcaveAnswer) Verify(p *Concave) error {
	if len(a.X) != len(a.Paths) || len(a.Rate) != len(p.Weight) {
		return fmt.Errorf("verify answer: %d values for %d paths, %d rates", len(a.X), len(a.Paths), len(a.Rate))
	}
	sum, rate := make([]float64, len(p.Right)), make([]float64, len(p.Weight))
	for j, x := range a.X {
		if !(x >= 0) || math.IsInf(x, 1) {
			return fmt.Errorf("verify answer: path %d carries %v", j, x)
		}
		rate[a.Paths[j].Owner] += x
		for i, r := range a.Paths[j].Row {
			sum[r] += a.Paths[j].Coef[i] * x
		}
	}
	for r, s := range sum {
		if s > p.Right[r]*(1+tolerance) {
			return fmt.Errorf("verify answer: row %d carries %v of %v", r, s, p.Right[r])
		}
	}
	value, terms := 0.0, 0.0
	for i := range rate {
		if !agree(rate[i], a.Rate[i], 0) {
			return fmt.Errorf("verify answer: owner %d has %v, not %v", i, rate[i], a.Rate[i])
		}
		t := p.term(i, rate[i])
		value, terms = value+t, terms+math.Abs(t)
	}
	if !agree(value, a.Value, terms) {
		return fmt.Errorf("verify answer: its value is %v, not %v", value, a.Value)
	}
	if b := p.Bound(a.Paths, a.Y); !agree(b, a.Bound, terms) {
		return fmt.Errorf("verify answer: its bound is %v, not %v", b, a.Bound)
	}
	return nil
}

// check refuses what no answer can be computed from.
func (p *Concave) check() error {
	if !(p.Alpha > 0) || math.IsInf(p.Alpha, 1) {
		return fmt.Errorf("%w: alpha is %v, and must be above zero", errInput, p.Alpha)
	}
	for i, w := range p.Weight {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("%w: weight of owner %d is %v", errInput, i, w)
		}
	}
	for r, b := range p.Right {
		if !(b >= 0) || math.IsInf(b, 1) {
			return fmt.Errorf("%w: right-hand side of row %d is %v", errInput, r, b)
		}
	}
	for j := range p.Paths {
		if err := p.Paths[j].check(p); err != nil {
			return fmt.Errorf("%w: path %d: %w", errInput, j, err)
		}
	}
	return nil
}

func (q *Path) check(p *Concave) error {
	c := Column{Row: q.Row, Coef: q.Coef}
	if err := c.check(len(p.Right)); err != nil {
		return err
	}
	if q.Owner < 0 || int(q.Owner) >= len(p.Weight) {
		return fmt.Errorf("owner %d is not one of %d", q.Owner, len(p.Weight))
	}
	if len(q.Row) == 0 {
		return fmt.Errorf("it takes no row, so its rate has no limit")
	}
	for _, c := range q.Coef {
		if c <= 0 {
			return fmt.Errorf("coefficient %v is not above zero", c)
		}
	}
	return nil
}

// missing returns the error of the first owner that has no path; nil if all that have a weight have one.
func (p *Concave) missing(paths []Path) error {
	has, shut := make([]bool, len(p.Weight)), make([]int, len(p.Weight))
	for i := range shut {
		shut[i] = -1
	}
	for j := range paths {
		q := &paths[j]
		if p.open(q) {
			has[q.Owner] = true
			continue
		}
		for _, r := range q.Row {
			if p.Right[r] <= 0 {
				shut[q.Owner] = int(r)
			}
		}
	}
	for i, w := range p.Weight {
		switch {
		case w == 0 || has[i]:
		case shut[i] >= 0:
			return &InfeasibleError{Rows: []int{shut[i]},
				Reason: fmt.Sprintf("row %d has no capacity, and owner %d no path without it", shut[i], i)}
		default:
			return &InfeasibleError{Reason: fmt.Sprintf("owner %d has no path", i)}
		}
	}
	return nil
}
