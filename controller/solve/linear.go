package solve

import (
	"errors"
	"fmt"
	"math"
)

// Sense is how a row's sum compares with its right-hand side.
type Sense int8

// The senses.
const (
	AtMost Sense = iota
	Equal
	AtLeast
)

// Column is a variable that is at least zero: what it costs, and its coefficients in the rows that it
// enters, ascending by row.
type Column struct {
	Cost float64
	Row  []int32
	Coef []float64
}

// reduced returns a column's cost less what the rows pay for it, and the size of the terms.
func (c *Column) reduced(cost float64, y []float64) (r, size float64) {
	r, size = cost, math.Abs(cost)
	for i, at := range c.Row {
		t := c.Coef[i] * y[at]
		r -= t
		size += math.Abs(t)
	}
	return r, size
}

// Oracle knows the columns that a program does not list.
type Oracle interface {
	// Price returns columns whose cost less Σ y·coefficient is below zero by more than rounding, the least
	// of all among them; none if there are none. Where costs is false all costs count as zero. slack is at
	// most the sum, over the unlisted columns of some optimum, of the variable times that difference: zero
	// if there are none.
	Price(y []float64, costs bool) (news []Column, slack float64)
}

// Linear is the program: minimise Σ cost·x over x ≥ 0 such that each row's Σ coefficient·x compares with its
// right-hand side. It should be scaled so that coefficients and right-hand sides are around 1.
type Linear struct {
	Right   []float64
	Sense   []Sense
	Columns []Column
	Oracle  Oracle  // nil: all columns are listed
	Gap     float64 // relative; an answer this close to its bound is good enough
	Enough  float64 // so is any answer of this value or less, and any bound above it; 0: none is
	Limit   int     // on iterations; 0: a limit that follows from the size
	// Start is an answer to begin with, by row: which of Columns is basic there, -1 for the row's slack.
	// One that is no answer is not heeded; nil: there is none.
	Start []int
}

// LinearAnswer is an answer to a Linear.
type LinearAnswer struct {
	Certificate
	Columns []Column  // the program's, and those that its oracle added
	X       []float64 // by column
	Y       []float64 // by row: what a unit of its right-hand side is worth
}

// errInput wraps what is wrong with a program; errNotProven is a proof that proves nothing.
var (
	errInput     = errors.New("solve program")
	errNotProven = errors.New("verify proof: the multipliers do not show that there is no answer")
)

// check refuses what no answer can be computed from.
func (p *Linear) check() error {
	if len(p.Right) != len(p.Sense) {
		return fmt.Errorf("%w: %d right-hand sides and %d senses", errInput, len(p.Right), len(p.Sense))
	}
	for r, b := range p.Right {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return fmt.Errorf("%w: right-hand side of row %d is %v", errInput, r, b)
		}
	}
	for j := range p.Columns {
		if err := p.Columns[j].check(len(p.Right)); err != nil {
			return fmt.Errorf("%w: column %d: %w", errInput, j, err)
		}
	}
	return nil
}

func (c *Column) check(rows int) error {
	if math.IsNaN(c.Cost) || math.IsInf(c.Cost, 0) {
		return fmt.Errorf("cost is %v", c.Cost)
	}
	if len(c.Row) != len(c.Coef) {
		return fmt.Errorf("%d rows and %d coefficients", len(c.Row), len(c.Coef))
	}
	for i, r := range c.Row {
		switch {
		case r < 0 || int(r) >= rows:
			return fmt.Errorf("row %d is not one of %d", r, rows)
		case i > 0 && r <= c.Row[i-1]:
			return fmt.Errorf("row %d after %d", r, c.Row[i-1])
		case math.IsNaN(c.Coef[i]) || math.IsInf(c.Coef[i], 0):
			return fmt.Errorf("coefficient in row %d is %v", r, c.Coef[i])
		}
	}
	return nil
}

// Bound returns what no answer is below, by the worth y of rows: their worth, less what columns could
// still save. It is -Inf if y has a wrong sign, or if a listed column saves more than rounding does.
func (p *Linear) Bound(columns []Column, y []float64) float64 {
	if len(y) != len(p.Right) {
		return math.Inf(-1)
	}
	sum := 0.0
	for r, b := range p.Right {
		if p.Sense[r] == AtMost && y[r] > 0 || p.Sense[r] == AtLeast && y[r] < 0 {
			return math.Inf(-1)
		}
		sum += y[r] * b
	}
	for j := range columns {
		if d, size := columns[j].reduced(columns[j].Cost, y); d < -tolerance*max(size, 1) {
			return math.Inf(-1)
		}
	}
	if p.Oracle != nil {
		_, slack := p.Oracle.Price(y, true)
		sum += slack
	}
	return sum
}

// Verify checks an answer without the solver: that it keeps every row, and that value and bound are
// what they are said to be. Rows and reduced costs may be off by rounding, 1e-7 of their terms.
func (a *LinearAnswer) Verify(p *Linear) error {
	if len(a.X) != len(a.Columns) {
		return fmt.Errorf("verify answer: %d values for %d columns", len(a.X), len(a.Columns))
	}
	sum, size := make([]float64, len(p.Right)), make([]float64, len(p.Right))
	value, terms := 0.0, 0.0
	for j, x := range a.X {
		if !(x >= 0) || math.IsInf(x, 1) {
			return fmt.Errorf("verify answer: column %d is %v", j, x)
		}
		c := &a.Columns[j]
		value += c.Cost * x
		terms += math.Abs(c.Cost * x)
		for i, r := range c.Row {
			sum[r] += c.Coef[i] * x
			size[r] += math.Abs(c.Coef[i] * x)
		}
	}
	for r, b := range p.Right {
		off := sum[r] - b
		if p.Sense[r] == AtMost {
			off = max(off, 0)
		} else if p.Sense[r] == AtLeast {
			off = min(off, 0)
		}
		if !(math.Abs(off) <= tolerance*max(size[r], math.Abs(b), 1)) {
			return fmt.Errorf("verify answer: row %d is %v, its right-hand side %v", r, sum[r], b)
		}
	}
	if !agree(value, a.Value, terms) {
		return fmt.Errorf("verify answer: its value is %v, not %v", value, a.Value)
	}
	if b := p.Bound(a.Columns, a.Y); !agree(b, a.Bound, math.Abs(value)) {
		return fmt.Errorf("verify answer: its bound is %v, not %v", b, a.Bound)
	}
	return nil
}
