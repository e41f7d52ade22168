package iteration

import (
	"fmt"
	"io"
	"strings"
	"time"

	"lightloom/controller/training"
	"lightloom/lab/console"
)

// Result is what became of a job.
type Result struct {
	Job     string        `json:"job"`
	Mode    string        `json:"mode"`
	Network string        `json:"network"`
	Ranks   int           `json:"ranks"`
	Nodes   int           `json:"nodes"`
	Took    time.Duration `json:"took_ns"`            // all iterations
	Exposed time.Duration `json:"exposed_ns"`         // of the rank that computes least of it
	Mean    time.Duration `json:"mean_exposed_ns"`    // over ranks
	Share   float64       `json:"mean_exposed_share"` // of took
	Of      []Collective  `json:"collectives"`
	ByRank  []Rank        `json:"by_rank"`

	work       *training.Workload
	outcome    *training.Outcome
	iterations int // of a generated job; 0: not known
}

// Collective sums up those of one kind, phase, size of communicator and bytes.
type Collective struct {
	Kind  string        `json:"collective"`
	Phase string        `json:"phase"`
	Ranks int           `json:"ranks"`
	Bytes int64         `json:"bytes"` // of an all-gather what a rank contributes, of others what it holds
	Count int           `json:"count"`
	Mean  time.Duration `json:"mean_ns"` // from when the last rank joined until the last left
	Max   time.Duration `json:"max_ns"`
	Bus   int64         `json:"bus_bits_per_second"`
}

// Rank is what one rank did.
type Rank struct {
	Rank    int           `json:"rank"`
	End     time.Duration `json:"end_ns"`
	Compute time.Duration `json:"compute_ns"`
	Exposed time.Duration `json:"exposed_ns"`
	Busy    [5]int64      `json:"communication_ns"` // in nodes without phase, of DP, TP, PP and EP
}

func newResult(w *training.Workload, out *training.Outcome, mode, network string) *Result {
	r := &Result{Job: w.Name, Mode: mode, Network: network, Ranks: len(w.Ranks), Took: out.End(), Of: []Collective{},
		work: w, outcome: out}
	for _, c := range out.Collectives(w) {
		r.Of = append(r.Of, Collective{c.Op.String(), c.Phase.String(), c.Ranks, int64(c.Bytes), c.Count, c.Mean, c.Max,
			int64(c.Bus)})
	}
	sum := 0.0 // of many ranks it can be above what is counted
	for i := range out.Ranks {
		k := &out.Ranks[i]
		one := Rank{Rank: i, End: k.End, Compute: k.Compute, Exposed: k.Exposed()}
		for n, span := range k.Spans {
			if node := &w.Ranks[i].Nodes[n]; node.Kind != training.Compute && node.Kind != training.Nothing {
				one.Busy[node.Phase] += int64(span.End - span.Start)
			}
		}
		r.Nodes += len(k.Spans)
		r.ByRank = append(r.ByRank, one)
		r.Exposed = max(r.Exposed, r.Took-k.Compute)
		sum += float64(r.Took - k.Compute)
	}
	r.Mean = time.Duration(sum / float64(max(len(out.Ranks), 1)))
	if r.Took > 0 {
		r.Share = float64(r.Mean) / float64(r.Took)
	}
	return r
}

// WriteTimeline writes the timeline by rank in Chrome's trace format.
func (r *Result) WriteTimeline(out io.Writer) error { return r.outcome.WriteTimeline(out, r.work) }

// shownRanks is how many ranks the table has.
const shownRanks = 16

// Print prints what became of a job.
func (r *Result) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s: %d ranks, %d nodes; %s; %s\n", r.Job, r.Ranks, r.Nodes, r.Network, r.Mode)
	took := fmt.Sprintf("iteration time %v", r.Took)
	if n := r.iterations; n > 1 {
		took = fmt.Sprintf("%d iterations take %v, %v each", n, r.Took, r.Took/time.Duration(n))
	}
	fmt.Fprintf(out, "%s; exposed communication %v on average (%.1f %%), %v at most\n", took, r.Mean, 100*r.Share,
		r.Exposed)
	if len(r.Of) > 0 {
		t := console.NewTable(out, "collective", "phase", "ranks", "bytes", "count", "mean", "longest", "bus bandwidth")
		t.Right(3, 4, 5, 6, 7, 8)
		for _, c := range r.Of {
			t.Row(c.Kind, c.Phase, c.Ranks, c.Bytes, c.Count, c.Mean.String(), c.Max.String(), bandwidth(c.Bus))
		}
		if err := t.Print(); err != nil {
			return err
		}
	}
	return r.printRanks(out)
}

// bandwidth returns a rate in Gb/s.
func bandwidth(bits int64) string {
	if bits == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f Gb/s", float64(bits)/1e9)
}

// printRanks prints a line of time for each rank: C where it computes, and the letter of a phase where it only
// communicates.
func (r *Result) printRanks(out io.Writer) error {
	t := console.NewTable(out, "rank", "end", "compute", "exposed", "from 0 to "+r.Took.String())
	t.Right(1, 2, 3, 4)
	for i := range min(len(r.ByRank), shownRanks) {
		k := &r.ByRank[i]
		t.Row(k.Rank, k.End.String(), k.Compute.String(), k.Exposed.String(), r.line(i))
	}
	if err := t.Print(); err != nil {
		return err
	}
	fmt.Fprintln(out, "C computes; else it waits for D data, T tensor, P pipeline, E expert parallel or X other messages")
	if more := len(r.ByRank) - shownRanks; more > 0 {
		fmt.Fprintf(out, "and %d more ranks: -o json has all of them\n", more)
	}
	return nil
}

// columns is how wide a rank's line of time is.
const columns = 40

// line draws what a rank did in each part of the time: what took most of it.
func (r *Result) line(rank int) string {
	var took [columns][6]time.Duration // computing, then by phase
	for n, span := range r.outcome.Ranks[rank].Spans {
		node := &r.work.Ranks[rank].Nodes[n]
		kind := 1 + int(node.Phase)
		switch {
		case node.Kind == training.Nothing:
			continue
		case node.Kind == training.Compute:
			kind = 0
		}
		for c := range columns {
			from, to := r.Took*time.Duration(c)/columns, r.Took*time.Duration(c+1)/columns
			if d := min(to, span.End) - max(from, span.Start); d > 0 {
				took[c][kind] += d
			}
		}
	}
	var b strings.Builder
	for c := range columns {
		b.WriteByte(letter(&took[c], r.Took/columns))
	}
	return b.String()
}

// letter returns the letter of a part of the time. Computing hides what is communicated meanwhile.
func letter(took *[6]time.Duration, whole time.Duration) byte {
	if took[0] > 0 && 2*took[0] >= whole {
		return 'C'
	}
	best := 0
	for k := 1; k < len(took); k++ {
		if took[k] > took[best] || best == 0 && took[k] > 0 {
			best = k
		}
	}
	switch {
	case best > 0:
		return "XDTPE"[best-1]
	case took[0] > 0:
		return 'C'
	}
	return '.'
}
