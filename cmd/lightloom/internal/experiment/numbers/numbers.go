// Package numbers makes single runs of the dissertation's evaluations, on plain numbers: it draws jobs, networks and
// noise as chapters 3 to 5 say, has an algorithm solve them, and returns figures by name. Rows and verdicts are package
// experiment's.
package numbers

import (
	"time"
)

// Figures are the figures of one run, by the name of an algorithm.
type Figures map[string]float64

// Mean is the arithmetic mean.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

// timed returns how long a call takes, in milliseconds of wall time: two runs share the machine.
func timed(do func() error) (float64, error) {
	began := time.Now()
	err := do()
	return float64(time.Since(began).Nanoseconds()) / 1e6, err
}
