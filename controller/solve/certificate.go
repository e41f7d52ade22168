package solve

import (
	"fmt"
	"math"
)

// Certificate says how good an answer to a minimisation is.
type Certificate struct {
	Value float64 `json:"value"` // what the answer reaches
	Bound float64 `json:"bound"` // what no answer is below; -Inf if nothing is known
	// Scale is what the gap is relative to; 0 stands for Value. Programs whose value can be zero set it.
	Scale      float64 `json:"scale,omitempty"`
	Iterations int     `json:"iterations"`
	Exhausted  bool    `json:"exhausted,omitempty"` // the iteration limit was hit before the gap was closed
}

// Gap returns how far the value is above the bound, relative to Scale: 0 for a proven optimum, +Inf if nothing is
// proven.
func (c *Certificate) Gap() float64 {
	over := c.Value - c.Bound
	switch {
	case over <= 0:
		return 0
	case c.Scale > 0:
		return over / c.Scale
	case c.Value == 0 || math.IsInf(over, 1):
		return math.Inf(1)
	}
	return over / math.Abs(c.Value)
}

// agree reports whether two figures that were computed in different ways are the same up to rounding.
func agree(a, b, scale float64) bool {
	off := math.Abs(a - b)
	return a == b || !math.IsInf(off, 1) && off <= tolerance*max(math.Abs(a), math.Abs(b), scale)
}

// tolerance is what rounding may add up to in a verification, relative to the terms of a sum.
const tolerance = 1e-7

// InfeasibleError is a program without an answer.
type InfeasibleError struct {
	// Rows contradict each other, the one that weighs most first; Multipliers prove it where they are known: the rows'
	// sum with these weights has no answer (Farkas).
	Rows        []int
	Multipliers []float64
	Reason      string
}

func (e *InfeasibleError) Error() string {
	if e.Reason != "" {
		return "solve program: infeasible: " + e.Reason
	}
	return fmt.Sprintf("solve program: infeasible: rows %v contradict each other", e.Rows)
}
