package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Versus writes a table of paired comparisons over seeds, and says how to read it.
func Versus(w io.Writer, pairs []Paired) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleRounded)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"policy", "against", "figure", "runs", "ratio", "95 % interval", "sign"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 4, Align: text.AlignRight}, {Number: 5, Align: text.AlignRight}, {Number: 6, Align: text.AlignRight}})
	for _, p := range pairs {
		t.AppendRow(table.Row{p.Policy, p.Against, p.Figure, p.Runs, sig(p.Ratio.Mean), sig(p.Ratio.Low) + " to " + sig(p.Ratio.High), p.Sign})
	}
	_, err := fmt.Fprintf(w, "%s\nratio: geometric mean over seeds of policy ÷ other, below 1 where the policy takes less; interval: paired bootstrap, %d comparisons, not corrected for their number\n",
		t.Render(), len(pairs))
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// OverSeeds compares one policy with every other row, over reports of the same rows and different seeds, in each time
// that rows are compared by. A report without the row leaves its pair out.
func OverSeeds(reports []*Report, policy string, seed uint64) []Paired {
	if len(reports) == 0 {
		return nil
	}
	var out []Paired
	for _, other := range reports[0].Policies {
		if other.Name == policy {
			continue
		}
		for _, f := range figures() {
			out = append(out, Compare(policy, other.Name, f.name, column(reports, policy, f), column(reports, other.Name, f), seed))
		}
	}
	return out
}

// column returns a row's figure in every report; 0 where the row is missing.
func column(reports []*Report, policy string, f figure) []float64 {
	out := make([]float64, len(reports))
	for i, r := range reports {
		for k := range r.Policies {
			if r.Policies[k].Name == policy {
				out[i] = f.of(&r.Policies[k])
			}
		}
	}
	return out
}
