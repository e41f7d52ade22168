package report

import (
	"fmt"
	"slices"
	"strings"
)

// CompareOptions choose how reports are compared.
type CompareOptions struct {
	Across bool    // over fabrics: the same jobs and policy, flowsim, netns and Mininet
	Margin float64 // within which part figures are called equal; 0: nothing is
}

// Comparison is the result of comparing reports, each with the first.
type Comparison struct {
	Reports []Compared `json:"reports"`
	Differs []Differs  `json:"settings_that_differ,omitempty"`
	Margin  float64    `json:"margin,omitempty"`
	Pairs   []Pair     `json:"pairs"`   // Policy of a later report, Against the first
	Coflows []Each     `json:"coflows"` // coflow by coflow
	Words   []string   `json:"words"`   // how to read it
}

// Compared is one of the reports.
type Compared struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	On       string   `json:"on"`
	Seeds    []uint64 `json:"seeds"`
	Policies []string `json:"policies"`
}

// Differs is a setting with different values in the reports.
type Differs struct {
	Flag   string   `json:"flag"`
	Values []string `json:"values"` // by report; "–" where one has no such flag
}

// UnlikeError holds the reason why reports cannot be compared, and what to type instead.
type UnlikeError struct{ Reason, Mend string }

func (e *UnlikeError) Error() string { return e.Reason }

// Hint returns what to type instead.
func (e *UnlikeError) Hint() string { return e.Mend }

// CompareReports compares every further report with the first. It refuses reports of other jobs, fabrics or seeds,
// because their differences would be attributed to policies.
func CompareReports(names []string, reps []*Report, opt CompareOptions) (*Comparison, error) {
	if len(reps) < 2 || len(names) != len(reps) {
		return nil, &UnlikeError{fmt.Sprintf("%d reports: a comparison needs two", len(reps)),
			"lightloom compare A/report.json B/report.json"}
	}
	c := &Comparison{Margin: opt.Margin, Differs: settingsThatDiffer(reps)}
	for i, r := range reps {
		c.Reports = append(c.Reports, Compared{Name: names[i], Version: r.Version, On: r.Fabric.On,
			Seeds:    r.seeds(),
			Policies: r.names()})
		if i > 0 {
			if err := like(names, reps, i, opt); err != nil {
				return nil, err
			}
		}
	}
	for i, r := range reps[1:] {
		matched, err := match(reps[0], r, names[0], names[i+1])
		if err != nil {
			return nil, err
		}
		for _, m := range matched {
			c.add(reps[0], r, m, c.Reports[0].label(opt), c.Reports[i+1].label(opt))
		}
	}
	judge(c.Pairs, opt.Margin)
	c.Words = c.words(reps)
	return c, nil
}

// label names a report beside a policy: its fabric, or its file name.
func (c *Compared) label(opt CompareOptions) string {
	if opt.Across {
		return c.On
	}
	return c.Name
}

func (r *Report) seeds() []uint64 {
	switch {
	case r.Repeat != nil:
		return r.Repeat.Seeds
	case r.Manifest != nil && len(r.Manifest.Seeds) > 0:
		return r.Manifest.Seeds
	}
	return []uint64{r.Seed}
}

func (r *Report) names() (all []string) {
	for i := range r.Policies {
		all = append(all, r.Policies[i].Name)
	}
	return all
}

// like refuses a report with other jobs, another fabric or other seeds than the first.
func like(names []string, reps []*Report, i int, opt CompareOptions) error {
	a, b := reps[0], reps[i]
	unlike := func(what, x, y, mend string) error {
		return &UnlikeError{fmt.Sprintf("%s and %s are of unlike %s: %s and %s", names[0], names[i],
			what, x, y), mend}
	}
	const again = "repeat one of them with the settings of the other: lightloom rerun says how"
	if x, y := a.input("trace"), b.input("trace"); x != nil && y != nil && x.SHA256 != y.SHA256 {
		return unlike("traces", fmt.Sprintf("%q (SHA-256 %.12s…)", x.Name, x.SHA256),
			fmt.Sprintf("%q (%.12s…)", y.Name, y.SHA256), "replay the same trace twice")
	}
	if x, y := a.seeds(), b.seeds(); !slices.Equal(x, y) {
		return unlike("seeds", fmt.Sprint(x), fmt.Sprint(y), again)
	}
	if x, y := a.Workload.Digest, b.Workload.Digest; x != y {
		return unlike("jobs", x+" of "+a.Workload.Source, y+" of "+b.Workload.Source+
			blame(settingsThatDiffer([]*Report{a, b}), jobFlags()), again)
	}
	if x, y := a.Fabric.Spec, b.Fabric.Spec; x != y {
		return unlike("fabrics", x, y, again)
	}
	switch {
	case !opt.Across && a.Fabric.On != b.Fabric.On:
		return unlike("worlds", a.Fabric.On, b.Fabric.On, "add --across fabrics to hold one against the other")
	case opt.Across && a.Fabric.On == b.Fabric.On:
		return &UnlikeError{fmt.Sprintf("%s and %s both ran on %s: --across fabrics is for the same run on two", names[0],
			names[i], a.Fabric.On), "leave --across away"}
	}
	return nil
}

// input returns the file that a flag named, or nil.
func (r *Report) input(flag string) *Input {
	if r.Manifest != nil {
		for i := range r.Manifest.Inputs {
			if r.Manifest.Inputs[i].Flag == flag {
				return &r.Manifest.Inputs[i]
			}
		}
	}
	return nil
}

// jobFlags returns the flags that determine the jobs.
func jobFlags() []string {
	return []string{"all-at-zero", "attributes", "background", "coflows", "fabric", "local-flows",
		"max-width", "scale",
		"seed", "speedup", "trace", "warmup", "workload"}
}

// blame names the settings that can explain different jobs.
func blame(all []Differs, flags []string) string {
	var out []string
	for _, d := range all {
		if slices.Contains(flags, d.Flag) {
			out = append(out, "--"+d.Flag+" "+strings.Join(d.Values, " and "))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; what differs: " + strings.Join(out, ", ")
}

// settingsThatDiffer lists, by name, the flags whose values differ between reports with a manifest. If reports are of
// different commands, it ignores flags that only some of these have.
func settingsThatDiffer(reps []*Report) []Differs {
	values := make([]map[string]string, len(reps))
	var flags []string
	alike := !slices.ContainsFunc(reps, func(r *Report) bool {
		return r.Manifest != nil && reps[0].Manifest != nil && r.Manifest.Command != reps[0].Manifest.Command
	})
	for i, r := range reps {
		values[i] = map[string]string{}
		if r.Manifest == nil {
			continue
		}
		for _, s := range r.Manifest.Settings {
			if old, ok := values[i][s.Flag]; ok {
				s.Value = old + "," + s.Value
			} else {
				flags = append(flags, s.Flag)
			}
			values[i][s.Flag] = s.Value
		}
	}
	slices.Sort(flags)
	var out []Differs
	for _, f := range slices.Compact(flags) {
		d := Differs{Flag: f}
		same := true
		for i := range reps {
			v, ok := values[i][f]
			if !ok {
				v = "–"
			}
			d.Values = append(d.Values, v)
			same = same && v == d.Values[0]
		}
		if f == "fabric" && sameFabric(reps) {
			continue // 200Mbps and 200000kbps are one rate
		}
		if !same && (alike || !slices.Contains(d.Values, "–")) {
			out = append(out, d)
		}
	}
	return out
}

// sameFabric reports whether flags that differ mean one fabric. What is in a file, its name does not say.
func sameFabric(reps []*Report) bool {
	return !slices.ContainsFunc(reps, func(r *Report) bool {
		return r.Manifest == nil || reps[0].Manifest == nil || strings.HasPrefix(r.Manifest.Fabric, "file:") ||
			r.Manifest.Fabric != reps[0].Manifest.Fabric
	})
}

// match pairs policies by name. If no name is in both reports and one has a single policy, that one is paired with each
// of the other.
func match(a, b *Report, nameA, nameB string) ([][2]int, error) {
	var out [][2]int
	for i := range a.Policies {
		for k := range b.Policies {
			if a.Policies[i].Name == b.Policies[k].Name {
				out = append(out, [2]int{i, k})
			}
		}
	}
	if alone := len(a.Policies) == 1 || len(b.Policies) == 1; len(out) == 0 && alone {
		for i := range a.Policies {
			for k := range b.Policies {
				out = append(out, [2]int{i, k})
			}
		}
	}
	if len(out) == 0 {
		return nil, &UnlikeError{fmt.Sprintf("%s and %s have no policy in common: %s, and %s", nameA, nameB,
			strings.Join(a.names(), ", "), strings.Join(b.names(), ", ")),
			"replay a policy of one in the other, or one policy alone in each"}
	}
	return out, nil
}

// add compares one policy of a later report with one of the first.
func (c *Comparison) add(a, b *Report, m [2]int, labelA, labelB string) {
	x, y := a.runsOf(m[0]), b.runsOf(m[1])
	policy, against := b.Policies[m[1]].Name+" ("+labelB+")", a.Policies[m[0]].Name+" ("+labelA+")"
	for _, f := range repeated() {
		ours, theirs := both(y, x, 0, 0, f)
		c.Pairs = append(c.Pairs, pair(policy, against, f.name, ours, theirs, a.Seed))
	}
	c.Coflows = append(c.Coflows, each(policy, against, &a.Policies[m[0]], &b.Policies[m[1]], x, y, c.Margin))
}

// runsOf returns the runs of a row, each with that row alone; for a report without repetition, the report itself.
func (r *Report) runsOf(policy int) []SeedRun {
	p := &r.Policies[policy]
	if r.Repeat == nil {
		return []SeedRun{{Seed: r.Seed, Jobs: r.Workload.Digest, Policies: []Measured{Measure(p)}}}
	}
	var out []SeedRun
	for _, run := range r.Repeat.Runs {
		i := slices.IndexFunc(run.Policies, func(m Measured) bool { return m.Name == p.Name })
		if i < 0 {
			continue
		}
		out = append(out, SeedRun{Seed: run.Seed, Jobs: run.Jobs, Policies: run.Policies[i : i+1]})
	}
	return out
}

// words returns the notes that a reader needs.
func (c *Comparison) words(reps []*Report) []string {
	out := []string{fmt.Sprintf("Ratio: geometric mean over runs of policy ÷ other, below 1 where the policy takes "+
		"less; intervals: paired bootstrap over runs, 95 %%; p: flips of the signs of log-ratios, corrected for %d "+
		"comparisons after Holm.", len(c.Pairs))}
	runs := len(reps[0].seeds())
	switch least := enough(len(c.Pairs)); {
	case runs == 1:
		out = append(out, "Each report is of one run, which says nothing about another seed: replay --repeat 20 gives "+
			"intervals.")
	case runs < least:
		out = append(out, fmt.Sprintf("So few runs decide nothing at 95 %% in %d comparisons: that takes %d.", len(c.Pairs),
			least))
	}
	if c.Margin > 0 {
		out = append(out, fmt.Sprintf("Equal: the interval of the ratio lies within 1/%s to %s.",
			plain(1+c.Margin),
			plain(1+c.Margin)))
	}
	for i, r := range reps {
		if r.Repeat != nil {
			if f := r.Repeat.Failures(); len(f) > 0 {
				out = append(out, fmt.Sprintf("%s: %d runs failed and are left out: %s.", c.Reports[i].Name, len(f),
					strings.Join(f, "; ")))
			}
		}
		if r.Version != reps[0].Version {
			out = append(out, fmt.Sprintf("%s is by version %s, %s by %s.", c.Reports[0].Name, reps[0].Version,
				c.Reports[i].Name, r.Version))
		}
	}
	return out
}
