package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// JSON returns the comparison as JSON.
func (c *Comparison) JSON() ([]byte, error) { return encode("comparison", c) }

// Verdict says in one sentence how the mean CCTs compare, policy by policy, and how sure that is.
func (c *Comparison) Verdict() string {
	const most = 4
	var parts []string
	for _, p := range c.Pairs {
		if p.Figure != meanCCT {
			continue
		}
		how := p.words(c.Margin)
		if p.Ratio.Mean > 0 {
			how = fmt.Sprintf("%s times the mean CCT of %s (%s)", sig(p.Ratio.Mean), p.Against, how)
		}
		parts = append(parts, p.Policy+" has "+how)
	}
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d further ones are in the table", more))
	}
	return strings.Join(parts, "; ") + "."
}

// Table writes the comparison on one screen: the verdict, different settings, the figures that matter first, and
// what to mind.
func (c *Comparison) Table(w io.Writer) error {
	if err := c.head(w); err != nil {
		return err
	}
	if err := pairTable(w, firstFigures(c.Pairs), c.Margin); err != nil {
		return err
	}
	beyond := 0
	for i := range c.Coflows {
		beyond += c.Coflows[i].Beyond
	}
	lines := append(slices.Clone(c.Words[1:min(len(c.Words), 4)]), fmt.Sprintf("--all has further "+
		"figures, and coflow by coflow %d that are farther than %s from the median ratio.", beyond, percent(outlying)))
	if _, err := fmt.Fprintln(w, strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// head writes the verdict, which reports are compared, and their different settings.
func (c *Comparison) head(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, c.Verdict())
	for _, r := range c.Reports {
		fmt.Fprintf(&b, "%s: %s on %s, %s\n", r.Name, strings.Join(r.Policies, ", "), r.On, seedWords(r.Seeds))
	}
	for _, d := range c.Differs {
		fmt.Fprintf(&b, "--%s: %s\n", d.Flag, strings.Join(d.Values, " | "))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// Everything writes all of the comparison: all figures, the coflows, and outliers.
func (c *Comparison) Everything(w io.Writer) error {
	if err := c.head(w); err != nil {
		return err
	}
	if err := pairTable(w, c.Pairs, c.Margin); err != nil {
		return err
	}
	if err := c.eachTable(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, strings.Join(c.Words, "\n")); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func seedWords(seeds []uint64) string {
	if len(seeds) == 1 {
		return fmt.Sprintf("seed %d", seeds[0])
	}
	return fmt.Sprintf("%d seeds, %d to %d", len(seeds), seeds[0], seeds[len(seeds)-1])
}

// eachTable writes the comparison by coflow and names outliers.
func (c *Comparison) eachTable(w io.Writer) error {
	t := plainTable(w, []any{"coflow by coflow", "against", "runs", "coflows", "ratio p50", "p90", "p99",
		"geometric mean", "lower", "higher", "sure, lower", "sure, higher"}, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	var b strings.Builder
	for i := range c.Coflows {
		e := &c.Coflows[i]
		t.Row(e.Policy, e.Against, e.Runs, e.Coflows, sig(e.P50), sig(e.P90), sig(e.P99), sig(e.Mean),
			e.Lower, e.Higher, e.Sure[0], e.Sure[1])
		e.outliers(&b)
	}
	if _, err := fmt.Fprintf(w, "%s\n%s", t.Render(), b.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func (e *Each) outliers(b *strings.Builder) {
	if e.Note != "" {
		fmt.Fprintf(b, "%s: %s.\n", e.Policy, e.Note)
	}
	if len(e.Outliers) == 0 {
		return
	}
	fmt.Fprintf(b, "%s: %d coflows are farther than %s from the median ratio", e.Policy, e.Beyond,
		percent(outlying))
	if e.Beyond > len(e.Outliers) {
		fmt.Fprintf(b, "; the farthest %d", len(e.Outliers))
	}
	b.WriteString(":\n")
	for _, o := range e.Outliers {
		name := o.Name
		if name == "" {
			name = fmt.Sprintf("coflow %d", o.ID)
		}
		fmt.Fprintf(b, "  %s: %s s, against %s s, ratio %s", name, sig(o.Took), sig(o.Before), sig(o.Ratio.Mean))
		if e.Runs > 1 {
			fmt.Fprintf(b, " (%s, p %s after Holm)", o.Ratio.interval(), sig(o.Holm))
		}
		b.WriteString("\n")
	}
}
