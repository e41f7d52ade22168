package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// sameMean is the difference of two means below which no row is called better.
const sameMean = 0.01

// contender is a row as the headline weighs it.
type contender struct {
	*Policy
	at   int
	mean float64 // CCT, seconds: of the run, or over the runs of a repetition
}

// Headline says in one sentence which row won by how much. It names no winner where its lead over the
// next best can be chance, or an error of the measurement.
func (r *Report) Headline() string {
	if len(r.Policies) == 0 {
		return "Nothing was run."
	}
	first := &r.Policies[0]
	if len(r.Policies) == 1 || slices.ContainsFunc(r.Policies,
		func(p Policy) bool { return p.CCT.Mean <= 0 }) {
		return fmt.Sprintf("%s: coflows take %s s in the mean, jobs %s s.", first.Name, sig(first.CCT.Mean),
			sig(first.JCT.Mean))
	}
	all := r.contenders()
	best, next := all[0], all[1]
	if next.mean/best.mean < 1+sameMean {
		return fmt.Sprintf("No policy is better by more than %s: %s and %s take %s s a coflow in the mean%s.",
			percent(sameMean), best.Name, next.Name, sig(best.mean), r.overRuns())
	}
	if why := r.undecided(best, next); why != "" {
		return fmt.Sprintf("No winner: coflows take %s s in the mean under %s and %s s under %s%s, but %s.", sig(best.mean),
			best.Name, sig(next.mean), next.Name, r.overRuns(), why)
	}
	other, against := next, "the next best"
	if best.at != 0 {
		i := slices.IndexFunc(all, func(c contender) bool { return c.at == 0 })
		other, against = all[i], "the baseline"
	}
	text := fmt.Sprintf("%s wins: a coflow takes %s s in the mean%s, and %s times as long under %s (%s, %s s).", best.Name,
		sig(best.mean), r.overRuns(), sig(other.mean/best.mean), other.Name, against, sig(other.mean))
	if s := best.Slower; s.Count > 0 && best.at != 0 {
		text += fmt.Sprintf(" %d of %d coflows are slower under it.", s.Count, s.Of)
	}
	return text
}

// contenders are the rows by their mean CCT, the first among equals first.
func (r *Report) contenders() []contender {
	var all []contender
	for i := range r.Policies {
		all = append(all, contender{&r.Policies[i], i, r.Policies[i].CCT.Mean})
	}
	if r.repeated() {
		for _, f := range r.Repeat.Figures {
			for i := range all {
				if f.Figure == meanCCT && f.Policy == all[i].Name && f.Mean.Mean > 0 {
					all[i].mean = f.Mean.Mean
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b contender) int { return cmp.Compare(a.mean, b.mean) })
	return all
}

// repeated reports whether the report holds several runs.
func (r *Report) repeated() bool { return r.Repeat != nil && len(r.Repeat.Runs) > 1 }

func (r *Report) overRuns() string {
	if !r.repeated() {
		return ""
	}
	return fmt.Sprintf(" over %d runs%s", len(r.Repeat.Runs), where(r.Fabric.On))
}

// undecided returns why the first of two rows cannot be said to win; "" where it can.
func (r *Report) undecided(best, next contender) string {
	if r.repeated() {
		p := r.Repeat.between(best.Name, next.Name, r.Seed)
		switch {
		case p.Runs < 2 || p.Exact:
		case p.Ratio.High >= 1:
			return fmt.Sprintf("the 95 %% interval of their ratio, %s, holds 1", p.Ratio.interval())
		case p.P > level:
			return fmt.Sprintf("%d runs can differ like that by chance (p = %s)", p.Runs, sig(p.P))
		}
		return ""
	}
	for _, c := range []contender{best, next} {
		if c.Health != nil && c.Health.Unknown {
			return "the error of " + c.Name + " is not known, since this machine was too busy"
		}
	}
	if a, b := best.Health, next.Health; a != nil && b != nil &&
		best.mean*(1+a.Expected) >= next.mean*(1-b.Expected) {
		return fmt.Sprintf("their expected errors, %v and %v, overlap", a, b)
	}
	return ""
}

// told are the settings that a reader needs to know a run by, in this order.
func told() []string {
	return []string{"trace", "workload", "fabric", "on", "policy", "place", "circuits", "route",
		"share", "demand",
		"faults", "seed", "repeat", "coflows", "scale", "speedup", "until"}
}

// command is the command line that repeats the run, as its manifest has it. Settings that say nothing
// are left out.
func (r *Report) command() string {
	m := r.Manifest
	if m == nil {
		return ""
	}
	words := []string{"lightloom", m.Command}
	for _, flag := range told() {
		for _, s := range m.Settings {
			if s.Flag == flag && !slices.Contains([]string{"", "0", "0s", "1"}, s.Value) ||
				s.Flag == flag && flag == "seed" {
				words = append(words, "--"+flag+" "+s.Value)
			}
		}
	}
	return strings.Join(words, " ")
}

// commit says which source the program was built from.
func (r *Report) commit() string {
	m := r.Manifest
	switch {
	case m == nil || m.Commit == "":
		return ""
	case m.Changed:
		return m.Commit + ", with changes"
	}
	return m.Commit
}
