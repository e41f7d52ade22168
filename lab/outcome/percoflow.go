package outcome

import (
	"slices"
	"strconv"
	"strings"

	"lightloom/lab/report"
)

// coflowLine is a line of the file of --per-coflow. Times are seconds of the run.
type coflowLine struct {
	ID         string   `json:"id"`         // the trace's, or the run's where it has none
	Arrival    float64  `json:"arrival"`    // from which its time counts
	Start      float64  `json:"start"`      // when it was admitted
	End        float64  `json:"end"`        // when its last byte arrived
	Bytes      int64    `json:"bytes"`      // payload, local bytes too
	Width      int64    `json:"width"`      // flows
	Bottleneck float64  `json:"bottleneck"` // the time that it takes with the fabric to itself
	Policy     string   `json:"policy"`
	Weight     float64  `json:"weight"`
	Deadline   *float64 `json:"deadline,omitempty"` // by which it was to end
	Decided    *float64 `json:"decided,omitempty"`  // what the decision on its routes reaches, of the policy's objective
	Bound      *float64 `json:"bound,omitempty"`    // and no decision is below it
	Gap        *float64 `json:"proven_gap,omitempty"`

	proofs bool // the file has columns of proofs
}

func (l *coflowLine) fields() []string {
	out := []string{l.ID, decimal(l.Arrival), decimal(l.Start), decimal(l.End), strconv.FormatInt(l.Bytes, 10),
		strconv.FormatInt(l.Width, 10),
		decimal(l.Bottleneck), l.Policy, decimal(l.Weight), optional(l.Deadline)}
	if l.proofs {
		out = append(out, optional(l.Decided), optional(l.Bound), optional(l.Gap))
	}
	return out
}

// WritePerCoflow writes a line for every coflow of every policy, in the order of the report.
func WritePerCoflow(name string, results []report.PolicyResult) error {
	head := []string{"id", "arrival", "start", "end", "bytes", "width", "bottleneck", "policy",
		"weight", "deadline"}
	proofs := slices.ContainsFunc(results, func(r report.PolicyResult) bool {
		return slices.ContainsFunc(r.Coflows, func(c report.CoflowResult) bool { return c.Proof != nil })
	})
	if proofs {
		head = append(head, "decided", "bound", "proven_gap")
	}
	return writeLines(name, "per-coflow", head, func(emit func(*coflowLine) error) error {
		for i := range results {
			for k := range results[i].Coflows {
				c := &results[i].Coflows[k]
				l := coflowLine{ID: traceID(c.Name, int(c.ID)), Arrival: inSeconds(c.Arrival),
					Start: inSeconds(c.Start),
					End:   inSeconds(c.End), Bytes: int64(c.Bytes),
					Width: c.Width, Bottleneck: inSeconds(c.Bound), Policy: results[i].Name, Weight: c.Weight,
					Deadline: known(c.Deadline), proofs: proofs}
				if p := c.Proof; p != nil {
					l.Decided, l.Bound, l.Gap = &p.Value, &p.Bound, &p.Gap
				}
				if err := emit(&l); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// traceID is the trace's id of a coflow, taken from the name of its job; the run's id if there is none.
func traceID(job string, id int) string {
	if of, ok := strings.CutPrefix(job, "coflow-"); ok {
		return of
	}
	return strconv.Itoa(id)
}
