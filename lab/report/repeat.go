package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lightloom/lab/console"
)

// Repeat holds the results of several runs of the same policies, one under each seed. The run is the unit of
// replication: the number of its coflows says nothing about the next run.
type Repeat struct {
	Seeds       []uint64   `json:"seeds"`
	Interleaved bool       `json:"interleaved"`
	Alike       bool       `json:"jobs_alike"` // the runs replay the same jobs: coflows can be compared one by one
	Shown       uint64     `json:"shown_seed"` // the run that all else in the report is of
	Runs        []SeedRun  `json:"runs"`
	Figures     []Estimate `json:"figures"`
	Pairs       []Pair     `json:"pairs"` // each policy against the first
}

// SeedRun is one run: every policy under one seed.
type SeedRun struct {
	Seed     uint64     `json:"seed"`
	Order    []string   `json:"order"` // in which the policies ran
	Jobs     string     `json:"jobs_digest"`
	Policies []Measured `json:"policies"` // in the order of the report
}

// Measured is one run's measurements under one policy.
type Measured struct {
	Name      string    `json:"name"`
	Error     string    `json:"error,omitempty"` // it failed, and measured nothing
	Makespan  float64   `json:"makespan_seconds"`
	CCT       Seconds   `json:"cct_seconds"`
	JCT       Seconds   `json:"jct_seconds"`
	OverBound float64   `json:"cct_over_bound_mean"`
	Each      []float64 `json:"cct_each_seconds,omitempty"` // by coflow, as the report lists them
}

// Estimate is the mean of a figure over runs.
type Estimate struct {
	Policy string   `json:"policy"`
	Figure string   `json:"figure"`
	Runs   int      `json:"runs"`
	Mean   Interval `json:"mean"` // with its bootstrap interval of 95 %
}

// Measure returns the part of a row that a repetition keeps.
func Measure(p *Policy) Measured {
	m := Measured{Name: p.Name, Makespan: p.Makespan, CCT: p.CCT, JCT: p.JCT, OverBound: p.OverBound.Mean}
	for i := range p.Coflows {
		m.Each = append(m.Each, p.Coflows[i].Took)
	}
	return m
}

// policy returns a Measured as the row that figures are taken of.
func (m *Measured) policy() *Policy {
	return &Policy{Name: m.Name, Completion: Completion{Makespan: m.Makespan, CCT: m.CCT, JCT: m.JCT,
		OverBound: Ratios{Mean: m.OverBound}}}
}

// Add fills a repetition's figures and pairs from its runs, and puts it into the report.
func (r *Report) Add(rep *Repeat) {
	r.Repeat = rep
	if len(rep.Runs) == 0 {
		return
	}
	rep.Alike = true
	for _, run := range rep.Runs {
		rep.Alike = rep.Alike && run.Jobs == rep.Runs[0].Jobs
	}
	for k := range rep.Runs[0].Policies {
		name := rep.Runs[0].Policies[k].Name
		for _, f := range repeated() {
			v := rep.values(k, f)
			rep.Figures = append(rep.Figures, Estimate{Policy: name, Figure: f.name, Runs: len(v),
				Mean: Bootstrap(v, r.Seed)})
			if k > 0 {
				ours, theirs := both(rep.Runs, rep.Runs, k, 0, f)
				rep.Pairs = append(rep.Pairs, pair(name, rep.Runs[0].Policies[0].Name, f.name, ours, theirs, r.Seed))
			}
		}
	}
	judge(rep.Pairs, 0)
}

// repeated are the figures of a repetition.
func repeated() []figure {
	return []figure{
		{"makespan", func(p *Policy) float64 { return p.Makespan }},
		{meanCCT, func(p *Policy) float64 { return p.CCT.Mean }},
		{"p50 CCT", func(p *Policy) float64 { return p.CCT.P50 }},
		{"p95 CCT", func(p *Policy) float64 { return p.CCT.P95 }},
		{"p99 CCT", func(p *Policy) float64 { return p.CCT.P99 }},
		{"mean JCT", func(p *Policy) float64 { return p.JCT.Mean }},
	}
}

// values returns a policy's figure in every run that did not fail.
func (r *Repeat) values(policy int, f figure) []float64 {
	var out []float64
	for i := range r.Runs {
		if m := &r.Runs[i].Policies[policy]; m.Error == "" {
			out = append(out, f.of(m.policy()))
		}
	}
	return out
}

// meanCCT is the figure by which the headline compares.
const meanCCT = "mean CCT"

// between compares the mean CCT of two policies over the runs.
func (r *Repeat) between(policy, against string, seed uint64) Pair {
	at := func(name string) int {
		return slices.IndexFunc(r.Runs[0].Policies, func(m Measured) bool { return m.Name == name })
	}
	i, k := at(policy), at(against)
	if i < 0 || k < 0 {
		return Pair{}
	}
	f := figure{meanCCT, func(p *Policy) float64 { return p.CCT.Mean }}
	ours, theirs := both(r.Runs, r.Runs, i, k, f)
	return pair(policy, against, f.name, ours, theirs, seed)
}

// both returns a figure of two policies in the runs in which both ended, of one repetition or of two over the same
// seeds.
func both(a, b []SeedRun, i, k int, f figure) (ours, theirs []float64) {
	for n := range min(len(a), len(b)) {
		x, y := &a[n].Policies[i], &b[n].Policies[k]
		if x.Error == "" && y.Error == "" {
			ours, theirs = append(ours, f.of(x.policy())), append(theirs, f.of(y.policy()))
		}
	}
	return ours, theirs
}

// Failures describes the runs that failed.
func (r *Repeat) Failures() []string {
	var out []string
	for i := range r.Runs {
		for _, m := range r.Runs[i].Policies {
			if m.Error != "" {
				out = append(out, fmt.Sprintf("seed %d, %s: %s", r.Runs[i].Seed, m.Name, m.Error))
			}
		}
	}
	return out
}

// Words describes how the runs were made, which failed, and how to read the tables.
func (r *Repeat) Words() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs, seeds %d to %d; all else in this report is of seed %d.", len(r.Runs), r.Seeds[0],
		r.Seeds[len(r.Seeds)-1], r.Shown)
	if r.Interleaved {
		b.WriteString(" Within each run policies took turns in an order drawn from its seed.")
	}
	if least := enough(len(r.Pairs)); len(r.Runs) < least {
		fmt.Fprintf(&b, " So few runs decide nothing at 95 %% in %d comparisons: that takes %d.",
			len(r.Pairs), least)
	}
	if f := r.Failures(); len(f) > 0 {
		fmt.Fprintf(&b, " %d failed and are left out of pairs: %s.", len(f), strings.Join(f, "; "))
	}
	if r.Alike && r.allExact() {
		b.WriteString(" Every run gives the same figures: nothing in them depends on the seed, and intervals have no width.")
	}
	fmt.Fprintf(&b, " Ratio: geometric mean over runs of policy ÷ other, below 1 where the policy takes less; "+
		"intervals: paired bootstrap, 95 %%; p: flips of the signs of log-ratios, corrected for %d comparisons after Holm.",
		len(r.Pairs))
	return b.String()
}

// enough is the least number of runs that can decide that many comparisons: n runs with equal signs have p = 2 ÷ 2ⁿ.
func enough(pairs int) int {
	n := 2
	for p := 0.5; pairs > 0 && p*float64(pairs) > level; p /= 2 {
		n++
	}
	return n
}

// paired returns the pairs in the form that a forest plot needs.
func (r *Repeat) paired() []Paired {
	var out []Paired
	for _, p := range r.Pairs {
		sign := p.Verdict
		if sign != Lower && sign != Higher {
			sign = Undecided
		}
		out = append(out, Paired{Policy: p.Policy, Against: p.Against,
			Figure: p.Policy + ": " + p.Figure, Runs: p.Runs,
			Ratio: p.Ratio, Sign: sign})
	}
	return out
}

func (r *Repeat) allExact() bool {
	for i := range r.Pairs {
		if !r.Pairs[i].Exact {
			return false
		}
	}
	for _, f := range r.Figures {
		if f.Runs < 2 || f.Mean.Low != f.Mean.High {
			return false
		}
	}
	return true
}

// table writes how the policies compare over the runs, in the figures that matter first. The report has all of them.
func (r *Repeat) table(w io.Writer, on string) error {
	if _, err := fmt.Fprintf(w, "over %d runs%s, seeds %d to %d; the table above is of seed %d alone:\n", len(r.Runs),
		where(on), r.Seeds[0], r.Seeds[len(r.Seeds)-1], r.Shown); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	if len(r.Pairs) > 0 {
		return pairTable(w, firstFigures(r.Pairs), 0)
	}
	t := plainTable(w, []any{"policy", "figure", "runs", "mean", "95 % interval"}, 3, 4, 5)
	for _, f := range r.Figures {
		if isFirst(f.Figure) {
			t.Row(f.Policy, f.Figure, f.Runs, sig(f.Mean.Mean), f.Mean.interval())
		}
	}
	return t.Print()
}

// isFirst reports whether a figure is among those that matter first.
func isFirst(figure string) bool {
	return slices.Contains([]string{meanCCT, "mean JCT", "makespan"}, figure)
}

func firstFigures(all []Pair) []Pair {
	return slices.DeleteFunc(slices.Clone(all), func(p Pair) bool { return !isFirst(p.Figure) })
}

// where says on what runs were made, by the name of a testbed.
func where(on string) string {
	switch on {
	case "netns":
		return " on real packets"
	case "flowsim":
		return " on the simulator"
	case "":
		return ""
	}
	return " on " + on
}

// pairTable writes pairs, a line each.
func pairTable(w io.Writer, pairs []Pair, margin float64) error {
	t := plainTable(w, []any{"policy", "against", "figure", "runs", "mean", "other", "ratio", "95 % interval",
		"difference, s", "95 % interval", "p (Holm)", "verdict"}, 4, 5, 6, 7, 8, 9, 10, 11)
	for i := range pairs {
		p := &pairs[i]
		ratio, differ, holm := p.Ratio.interval(), p.Differ.interval(), sig(p.Holm)
		if p.Runs < 2 { // one run has neither
			ratio, differ, holm = "–", "–", "–"
		}
		t.Row(p.Policy, p.Against, p.Figure, p.Runs, sig(p.Mean), sig(p.Other), sig(p.Ratio.Mean), ratio,
			sig(p.Differ.Mean), differ, holm, p.words(margin))
	}
	if _, err := fmt.Fprintln(w, t.Render()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// plainTable is a table for w, the columns named being numbers.
func plainTable(w io.Writer, head []any, right ...int) *console.Table {
	t := console.NewTable(w, head...)
	t.Right(right...)
	return t
}
