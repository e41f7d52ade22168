package report

import (
	"fmt"
	"slices"
	"strings"
)

// sameMean is the difference of two means below which no row is called better.
const sameMean = 0.01

// Headline says in one sentence which row won by how much, and where it loses.
func (r *Report) Headline() string {
	if len(r.Policies) == 0 {
		return "Nothing was run."
	}
	first := &r.Policies[0]
	if len(r.Policies) == 1 || slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.CCT.Mean <= 0 }) {
		return fmt.Sprintf("%s: coflows take %s s in the mean, jobs %s s.", first.Name, sig(first.CCT.Mean),
			sig(first.JCT.Mean))
	}
	best := r.leastMean()
	other, against := first, "the first row"
	if best == first {
		other, against = r.leastMean(best), "the next best"
	}
	ratio := other.CCT.Mean / best.CCT.Mean
	if ratio < 1+sameMean {
		return fmt.Sprintf("No policy is better by more than %s: %s and %s take %s s a coflow in the mean.",
			percent(sameMean), best.Name, other.Name, sig(best.CCT.Mean))
	}
	text := fmt.Sprintf("%s wins: a coflow takes %s s in the mean, and %s times as long under %s (%s, %s s).", best.Name,
		sig(best.CCT.Mean), sig(ratio), other.Name, against, sig(other.CCT.Mean))
	if s := best.Slower; s.Count > 0 && best != first {
		text += fmt.Sprintf(" %d of %d coflows are slower under it.", s.Count, s.Of)
	}
	return text
}

// leastMean returns the row with the least mean CCT, the first among equals, but for those left out.
func (r *Report) leastMean(but ...*Policy) (best *Policy) {
	for i := range r.Policies {
		p := &r.Policies[i]
		if !slices.Contains(but, p) && (best == nil || p.CCT.Mean < best.CCT.Mean) {
			best = p
		}
	}
	return best
}

// told are the settings that a reader needs to know a run by, in this order.
func told() []string {
	return []string{"trace", "workload", "fabric", "on", "policy", "place", "circuits", "route", "share", "demand",
		"faults", "seed", "repeat", "coflows", "scale", "speedup", "until"}
}

// command is the command line that repeats the run, as its manifest has it. Settings that say nothing are left out.
func (r *Report) command() string {
	m := r.Manifest
	if m == nil {
		return ""
	}
	words := []string{"lightloom", m.Command}
	for _, flag := range told() {
		for _, s := range m.Settings {
			if s.Flag == flag && !slices.Contains([]string{"", "0", "0s", "1"}, s.Value) || s.Flag == flag && flag == "seed" {
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
