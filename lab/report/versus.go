package report

import (
	"fmt"
	"io"

	"lightloom/lab/console"
)

// versusWords explains how to read comparisons over seeds.
func versusWords(pairs []Paired) string {
	return fmt.Sprintf("Ratio: geometric mean over seeds of policy ÷ other, below 1 where the policy takes less. "+
		"Interval: paired bootstrap, 95 %%, %d comparisons, not corrected for their number.", len(pairs))
}

// versus writes a table of paired comparisons over seeds, and how to read it.
func versus(w io.Writer, pairs []Paired) error {
	t := console.NewTable(w, "policy", "against", "figure", "runs", "ratio", "95 % interval", "sign")
	t.Right(4, 5, 6)
	for _, p := range pairs {
		t.Row(p.Policy, p.Against, p.Figure, p.Runs, sig(p.Ratio.Mean), p.Ratio.interval(), p.Sign)
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", t.Render(), versusWords(pairs))
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// interval writes the bounds.
func (i Interval) interval() string { return sig(i.Low) + " to " + sig(i.High) }
