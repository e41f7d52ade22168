package training

import "time"

// Outcome is what became of a workload.
type Outcome struct {
	Ranks []RankOutcome
}

// RankOutcome is what became of one rank.
type RankOutcome struct {
	End     time.Duration // of its last node
	Compute time.Duration // in which its accelerator computed
	Spans   []Span        // by node
}

// Span is the time of a node.
type Span struct{ Start, End time.Duration }

// Exposed is the time of a rank in which it did not compute: what communication, waiting and idleness cost it.
func (r *RankOutcome) Exposed() time.Duration { return r.End - r.Compute }

// End returns when the last rank ended: the iteration time of one iteration.
func (o *Outcome) End() time.Duration {
	var end time.Duration
	for r := range o.Ranks {
		end = max(end, o.Ranks[r].End)
	}
	return end
}
