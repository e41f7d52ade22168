package training

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"lightloom/pathmap"
)

// MostTime bounds the time of a run, some 104 days: up to there a float counts whole nanoseconds.
const MostTime time.Duration = 1 << 53

// ErrTooLong ends a run that takes longer than MostTime.
var ErrTooLong = errors.New("it takes longer than 104 days, the most that is counted: look for a wrong unit of a " +
	"rate, a delay or a size")

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

// CollectiveOutcome sums up the collectives of one kind, phase, size of communicator, and bytes.
type CollectiveOutcome struct {
	Op    Op
	Phase Phase
	Ranks int
	Bytes pathmap.Bytes
	Count int
	Mean  time.Duration // from when the last rank joined until the last left
	Max   time.Duration
	Bus   pathmap.BitsPerSecond // bus bandwidth of the mean: see Op.BusFactor
}

// call identifies a collective: the nth of its kind in a communicator, which is the nth of each of its ranks.
type call struct {
	group   int32
	op      Op
	ordinal int
}

// interval is from when the last rank joined a collective until the last left it.
type interval struct {
	node       *Node
	start, end time.Duration
}

// Collectives sums up what became of a workload's collectives, in the order of kind, phase, ranks and bytes.
func (o *Outcome) Collectives(w *Workload) []CollectiveOutcome {
	all := map[call]*interval{}
	for r := range w.Ranks {
		next := map[joined]int{}
		for i := range w.Ranks[r].Nodes {
			n, span := &w.Ranks[r].Nodes[i], o.Ranks[r].Spans[i]
			if n.Kind != Collective {
				continue
			}
			k := joined{n.Group, n.Op}
			c := call{n.Group, n.Op, next[k]}
			next[k]++
			if all[c] == nil {
				all[c] = &interval{node: n}
			}
			all[c].start, all[c].end = max(all[c].start, span.Start), max(all[c].end, span.End)
		}
	}
	return summed(w, all)
}

// alike identifies collectives that are summed up together.
type alike struct {
	op    Op
	phase Phase
	ranks int
	bytes pathmap.Bytes
}

func summed(w *Workload, all map[call]*interval) []CollectiveOutcome {
	sums, totals := map[alike]*CollectiveOutcome{}, map[alike]float64{} // a sum of many can be above what is counted
	for c, x := range all {
		k := alike{c.op, x.node.Phase, len(w.Groups[c.group].Ranks), x.node.Bytes}
		if sums[k] == nil {
			sums[k] = &CollectiveOutcome{Op: k.op, Phase: k.phase, Ranks: k.ranks, Bytes: k.bytes}
		}
		s := sums[k]
		s.Count++
		s.Max = max(s.Max, x.end-x.start)
		totals[k] += float64(x.end - x.start)
	}
	var out []CollectiveOutcome
	for k, s := range sums {
		if s.Mean = time.Duration(totals[k] / float64(s.Count)); s.Mean > 0 {
			s.Bus = pathmap.BitsPerSecond(float64(k.bytes) * 8 * k.op.BusFactor(k.ranks) / s.Mean.Seconds())
		}
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b CollectiveOutcome) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Ranks, b.Ranks),
			cmp.Compare(a.Bytes, b.Bytes))
	})
	return out
}
