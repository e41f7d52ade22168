package report

import (
	"fmt"
	"slices"
	"strings"
)

// remark is what a reader must mind of a policy, and which lines of the table it is about.
type remark struct {
	policy int      // index of the policy; ofAll: of the whole run
	lines  []string // names of lines; none: of all that the policy has
	text   string
}

// ofAll is the policy of a remark on the whole run.
const ofAll = -1

// The lines that remarks are about, beside the completion times.
const (
	lineError  = "CCT mean, expected error"
	lineDelays = "reconfiguration delay p50, p99"
)

// remarks are what a reader must mind, the most important first: what was measured badly, what did not end, and
// what the figures stand for. Losses are apart.
func (r *Report) remarks() (out []remark) {
	all := func(text string) { out = append(out, remark{policy: ofAll, text: text}) }
	if r.Repeat != nil {
		for _, f := range r.Repeat.Failures() {
			all("A run failed: " + f)
		}
	}
	for i := range r.Policies {
		if late := r.Policies[i].late(); late != "" {
			out = append(out, remark{i, []string{lineDelays}, late})
		}
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		for _, s := range p.Health.remarks() {
			out = append(out, remark{i, []string{lineError}, p.Name + ": " + s})
		}
		for _, s := range p.Notes {
			out = append(out, remark{policy: i, text: p.Name + ": " + s})
		}
	}
	if w := r.Workload; w.Scale > 0 && w.Speedup > 0 && (w.Scale != 1 || w.Speedup != 1) {
		all(fmt.Sprintf("scale %s (bytes and rates divided), speedup %s (arrivals, sizes and compute times "+
			"divided): %s bytes stand for %s", plain(w.Scale), plain(w.Speedup), thousands(w.BytesTotal),
			thousands(w.BytesTrace)))
	}
	return out
}

// general are remarks on how the whole run was made, which matter least.
func (r *Report) general() (out []remark) {
	for _, s := range append(slices.Clone(r.Notes), r.Workload.Fold) {
		if s != "" {
			out = append(out, remark{policy: ofAll, text: s})
		}
	}
	return out
}

// remarks say why the error of a run is large or not known, and what others took.
func (h *Health) remarks() (out []string) {
	switch {
	case h == nil:
		return nil
	case h.Unknown:
		out = append(out, fmt.Sprintf("how far its mean CCT is off is not known: something waited for a processor in "+
			"%.0f %% of the time, and such runs with circuits were off by 3 to 34 %%: raise --scale, or give the fabric "+
			"slower links", 100*h.Waiting))
	case h.Expected > MarkedError:
		out = append(out, fmt.Sprintf("its mean CCT may be off by %.0f %%: a probe of known length was off by %.0f %%, and "+
			"timers were %.1f ms late (p99)", 100*h.Expected, 100*h.Probe, 1e3*h.TimerP99))
	}
	if h.StolenCores > ToleratedCores && !h.Realtime {
		out = append(out, fmt.Sprintf("others used %.1f of this machine's cores during this run: times may be theirs as "+
			"well", h.StolenCores))
	}
	return out
}

// shownAs is the line of the table that shows a figure.
func shownAs(figure string) string {
	first, second, both := strings.Cut(figure, " ")
	if both {
		return second + " " + first + ", s"
	}
	return figure + ", s"
}

// lost are the remarks on where policies are worse than the first one or than the best.
func lost(policies []Policy) (out []remark) {
	for i := range policies {
		out = append(out, losses(policies, i)...)
		out = append(out, beaten(policies, i)...)
		if late := policies[i].late(); late != "" {
			out = append(out, remark{i, []string{lineDelays}, late})
		}
	}
	return out
}

// on returns the numbers of the remarks on a cell, or with an empty line those on a policy as a whole.
func on(all []remark, policy int, line string) (at []int) {
	for i, x := range all {
		if x.policy == policy && (slices.Contains(x.lines, line) || line == "" && len(x.lines) == 0) {
			at = append(at, i)
		}
	}
	return at
}
