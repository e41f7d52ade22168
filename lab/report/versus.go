package report

import "fmt"

// versusWords explains how to read comparisons over seeds.
func versusWords(pairs []Paired) string {
	return fmt.Sprintf("Ratio: geometric mean over seeds of policy ÷ other, below 1 where the policy takes less. "+
		"Interval: paired bootstrap, 95 %%, %d comparisons, not corrected for their number.", len(pairs))
}

// interval writes the bounds.
func (i Interval) interval() string { return sig(i.Low) + " to " + sig(i.High) }
