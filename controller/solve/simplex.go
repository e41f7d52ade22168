package solve

import (
	"cmp"
	"math"
	"slices"
)

// simplex is the revised simplex method in two phases. Its columns are the slacks of rows, one
// artificial column for each row that needs it, and then those of the program; it asks the oracle for
// more when none of them improves.
type simplex struct {
	p       *Linear
	columns []Column
	slacks  int // columns before this one are slacks
	first   int // the program's first column; before it are artificial ones
	isBasic []bool
	size    []float64 // by column: its length, by which columns are compared
	basis   []int     // by row
	x       []float64
	inv     inverse
	since   int // pivots since the basis was factored
	y, w    []float64
	right   float64 // the largest right-hand side
	costs   bool    // phase two: columns cost what they cost
	stalled int     // pivots that gained nothing, in a row
	iters   int
	limit   int

	best  Certificate
	bestY []float64
}

// Solve finds an optimum, or an answer within Gap of its bound. The error is an *InfeasibleError where
// there is none. When the limit is hit the answer says Exhausted, and holds the best that was found.
func (p *Linear) Solve() (*LinearAnswer, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := newSimplex(p)
	if s.artificial() > 0 {
		s.run()
		if left := s.artificial(); left > feasible*(1+norm(p.Right)) {
			return nil, s.infeasible()
		}
	}
	s.costs, s.stalled = true, 0
	if unbounded := s.run(); unbounded {
		return nil, &InfeasibleError{Reason: "its value falls without end"}
	}
	return s.answer(), nil
}

// feasible is what artificial columns may hold in an answer, relative to right-hand sides.
const feasible = 1e-8

func norm(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

func newSimplex(p *Linear) *simplex {
	m := len(p.Right)
	s := &simplex{p: p, basis: make([]int, m), x: make([]float64, m), y: make([]float64, m),
		w: make([]float64, m)}
	slackOf := make([]int, m)
	for r, sense := range p.Sense {
		slackOf[r] = len(s.columns)
		switch sense {
		case AtMost:
			s.columns = append(s.columns, unit(r, 1))
		case AtLeast:
			s.columns = append(s.columns, unit(r, -1))
		}
	}
	s.slacks = len(s.columns)
	for r, b := range p.Right {
		s.x[r] = math.Abs(b)
		if p.Sense[r] == AtMost && b >= 0 || p.Sense[r] == AtLeast && b <= 0 {
			s.basis[r] = slackOf[r]
			continue
		}
		s.basis[r] = len(s.columns)
		s.columns = append(s.columns, unit(r, math.Copysign(1, b)))
	}
	s.first = len(s.columns)
	s.columns = append(s.columns, p.Columns...)
	s.isBasic = make([]bool, len(s.columns))
	for _, j := range s.basis {
		s.isBasic[j] = true
	}
	s.limit = cmp.Or(p.Limit, 20*(2*m+len(p.Columns))+10_000)
	s.best.Bound, s.right = math.Inf(-1), norm(p.Right)
	s.measure()
	if p.Start == nil || !s.start(slackOf) {
		s.factor()
	}
	return s
}

// start takes the basis that the program begins with; false, and nothing is taken, if that is no answer.
func (s *simplex) start(slackOf []int) bool {
	if len(s.p.Start) != len(s.basis) {
		return false
	}
	basis, columns := make([]int, len(s.basis)), make([]Column, len(s.basis))
	for r, j := range s.p.Start {
		switch {
		case j >= 0 && j < len(s.p.Columns):
			basis[r] = s.first + j
		case j == -1 && s.p.Sense[r] != Equal:
			basis[r] = slackOf[r]
		default:
			return false
		}
		columns[r] = s.columns[basis[r]]
	}
	owner, x := s.inv.invert(len(basis), columns), slices.Clone(s.p.Right)
	if slices.Contains(owner, -1) {
		return false
	}
	s.inv.ahead(x)
	if slices.Min(x) < -feasible*(1+s.right) {
		return false
	}
	clear(s.isBasic)
	for r, from := range owner {
		s.basis[r], s.x[r] = basis[from], max(x[r], 0)
		s.isBasic[s.basis[r]] = true
	}
	return true
}

// measure computes the lengths of columns that have none yet.
func (s *simplex) measure() {
	for _, c := range s.columns[len(s.size):] {
		sum := 1.0
		for _, v := range c.Coef {
			sum += v * v
		}
		s.size = append(s.size, math.Sqrt(sum))
	}
}

func unit(row int, coef float64) Column {
	return Column{Row: []int32{int32(row)}, Coef: []float64{coef}}
}

// artificial returns what artificial columns hold together.
func (s *simplex) artificial() float64 {
	sum := 0.0
	for r, j := range s.basis {
		if j >= s.slacks && j < s.first {
			sum += s.x[r]
		}
	}
	return sum
}

func (s *simplex) cost(j int) float64 {
	switch {
	case s.costs && j >= s.first:
		return s.columns[j].Cost
	case !s.costs && j >= s.slacks && j < s.first:
		return 1
	}
	return 0
}

// run pivots until nothing improves or the limit is hit; it reports whether the value falls without end.
func (s *simplex) run() (unbounded bool) {
	for s.iters < s.limit {
		s.price()
		j := s.entering()
		if j < 0 {
			j = s.ask()
		}
		if j < 0 {
			return false
		}
		s.iters++
		clear(s.w)
		for i, r := range s.columns[j].Row {
			s.w[r] = s.columns[j].Coef[i]
		}
		s.inv.ahead(s.w)
		row := s.leaving()
		if row < 0 {
			return true
		}
		s.pivot(j, row)
	}
	s.best.Exhausted = true
	return false
}

// price computes what the rows are worth.
func (s *simplex) price() {
	for r, j := range s.basis {
		s.y[r] = s.cost(j)
	}
	s.inv.back(s.y)
}

// improving is how far below zero a reduced cost must be, relative to its terms.
const improving = 1e-9

// entering returns the listed column whose reduced cost is least for its length; -1 if none improves.
// While pivots gain nothing it takes the first instead (Bland 1977), so that no basis comes twice.
func (s *simplex) entering() int {
	bland := s.stalled > len(s.basis)+50
	best, at := 0.0, -1
	for j := range s.columns {
		if s.isBasic[j] || j >= s.slacks && j < s.first {
			continue
		}
		if d := s.improves(j); d < best {
			best, at = d, j
			if bland {
				return at
			}
		}
	}
	return at
}

// improves returns a column's reduced cost over its length; 0 if it does not improve.
func (s *simplex) improves(j int) float64 {
	d, size := s.columns[j].reduced(s.cost(j), s.y)
	if d >= -improving*max(size, 1) {
		return 0
	}
	return d / s.size[j]
}

// ask has the oracle add columns and returns one that improves; -1 if there is none, or if the answer
// is good enough.
func (s *simplex) ask() int {
	if s.p.Oracle == nil {
		return -1
	}
	if s.costs && s.p.Enough > 0 && s.value() <= s.p.Enough {
		return -1
	}
	s.clean(s.y)
	news, slack := s.p.Oracle.Price(s.y, s.costs)
	if s.costs {
		s.note(slack)
		if now := (Certificate{Value: s.value(), Bound: s.best.Bound}); now.Gap() <= s.p.Gap ||
			s.p.Enough > 0 && now.Bound > s.p.Enough*(1+tolerance) {
			return -1
		}
	}
	if len(news) == 0 {
		return -1
	}
	before := len(s.columns)
	s.columns = append(s.columns, news...)
	s.isBasic = append(s.isBasic, make([]bool, len(news))...)
	s.measure()
	best, at := 0.0, -1
	for j := before; j < len(s.columns); j++ {
		if d := s.improves(j); d < best {
			best, at = d, j
		}
	}
	return at
}

// note keeps the worth of rows that gives the best bound so far.
func (s *simplex) note(slack float64) {
	for r, b := range s.p.Right {
		slack += s.y[r] * b
	}
	if slack > s.best.Bound {
		s.best.Bound = slack
		s.bestY = slices.Clone(s.y)
	}
}

// clean removes wrong signs that rounding left.
func (s *simplex) clean(y []float64) {
	for r, sense := range s.p.Sense {
		if sense == AtMost && y[r] > 0 || sense == AtLeast && y[r] < 0 {
			y[r] = 0
		}
	}
}

func (s *simplex) value() float64 {
	sum := 0.0
	for r, j := range s.basis {
		sum += s.cost(j) * s.x[r]
	}
	return sum
}

// leaving returns the row that limits the entering column; -1 if none does. Of rows that limit it alike
// it takes the one of the largest entry. In phase two an artificial column, which is zero, leaves as
// soon as it can.
func (s *simplex) leaving() int {
	limit, at := math.Inf(1), -1
	for r, w := range s.w {
		artificial := s.costs && s.basis[r] >= s.slacks && s.basis[r] < s.first
		switch {
		case artificial && math.Abs(w) > 1e-7:
			return r
		case w > 1e-9:
			step := s.x[r] / w
			slack := 1e-12 * (1 + step)
			if at < 0 || step < limit-slack || step <= limit+slack && w > s.w[at] {
				limit, at = step, r
			}
		}
	}
	return at
}

// refactor is after how many pivots the basis is factored anew.
const refactor = 60

func (s *simplex) pivot(j, row int) {
	step := s.x[row] / s.w[row]
	for r, w := range s.w {
		if w != 0 {
			s.x[r] = max(s.x[r]-step*w, 0)
		}
	}
	s.x[row] = max(step, 0)
	s.isBasic[s.basis[row]], s.isBasic[j] = false, true
	s.basis[row] = j
	s.inv.replace(int32(row), s.w)
	s.stalled++
	if step > 1e-11*(1+s.right) {
		s.stalled = 0
	}
	if s.since++; s.since >= refactor {
		s.factor()
	}
}

// factor factors the basis and computes its values. Rows that dependent columns leave get their slack
// back, or a new artificial column.
func (s *simplex) factor() {
	s.since = 0
	columns := make([]Column, len(s.basis))
	for r, j := range s.basis {
		columns[r] = s.columns[j]
	}
	owner := s.inv.invert(len(s.basis), columns)
	old := slices.Clone(s.basis)
	kept := make([]bool, len(old))
	for _, from := range owner {
		if from >= 0 {
			kept[from] = true
		}
	}
	for from, k := range kept {
		if !k {
			s.isBasic[old[from]] = false
		}
	}
	for r, from := range owner {
		if from >= 0 {
			s.basis[r] = old[from]
		}
	}
	s.patch(owner)
	copy(s.x, s.p.Right)
	s.inv.ahead(s.x)
	for r := range s.x {
		s.x[r] = max(s.x[r], 0)
	}
}

// patch gives rows that no column is left for a slack of their own.
func (s *simplex) patch(owner []int) {
	for r, from := range owner {
		if from >= 0 {
			continue
		}
		for j := range s.first {
			if int(s.columns[j].Row[0]) == r && !s.isBasic[j] {
				s.basis[r], s.isBasic[j] = j, true
				clear(s.w)
				s.w[r] = s.columns[j].Coef[0]
				s.inv.ahead(s.w)
				s.inv.replace(int32(r), s.w)
				break
			}
		}
	}
}

func (s *simplex) infeasible() error {
	s.price()
	s.clean(s.y)
	e := &InfeasibleError{Multipliers: slices.Clone(s.y)}
	for r, y := range s.y {
		if math.Abs(y) > improving {
			e.Rows = append(e.Rows, r)
		}
	}
	weight := func(r int) float64 { return math.Abs(s.y[r]) * (1 + math.Abs(s.p.Right[r])) }
	slices.SortStableFunc(e.Rows, func(a, b int) int {
		return cmp.Or(-cmp.Compare(weight(a), weight(b)), cmp.Compare(a, b))
	})
	if s.best.Exhausted {
		e.Reason = "no answer was found before the limit on iterations"
	}
	return e
}

func (s *simplex) answer() *LinearAnswer {
	s.factor()
	a := &LinearAnswer{Certificate: s.best, Columns: s.columns[s.first:],
		X: make([]float64, len(s.columns)-s.first)}
	a.Value = s.value()
	for r, j := range s.basis {
		if j >= s.first {
			a.X[j-s.first] = s.x[r]
		}
	}
	a.Iterations = s.iters
	a.Y = s.bestY
	if s.p.Oracle == nil || a.Y == nil {
		s.price()
		s.clean(s.y)
		a.Y = slices.Clone(s.y)
	}
	a.Bound = s.p.Bound(a.Columns, a.Y)
	return a
}

// Verify checks a proof that a program has no answer: the rows' sum with the multipliers asks for more
// than zero of columns that can only give less.
func (e *InfeasibleError) Verify(p *Linear) error {
	zero := *p
	zero.Columns = slices.Clone(p.Columns)
	for j := range zero.Columns {
		zero.Columns[j].Cost = 0
	}
	zero.Oracle = nil
	sum := zero.Bound(zero.Columns, e.Multipliers)
	if p.Oracle != nil {
		if news, _ := p.Oracle.Price(e.Multipliers, false); len(news) > 0 {
			sum = math.Inf(-1)
		}
	}
	if !(sum > 0) {
		return errNotProven
	}
	return nil
}
