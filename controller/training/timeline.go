package training

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// lanes are the rows of a rank in a timeline.
func lanes() []string {
	return []string{"compute", "tensor parallel", "expert parallel", "pipeline parallel", "data parallel", "communication"}
}

// lane returns the row of a node; -1 for one that does nothing.
func lane(n *Node) int {
	switch {
	case n.Kind == Nothing:
		return -1
	case n.Kind == Compute:
		return 0
	}
	return slices.Index([]Phase{TensorParallel, ExpertParallel, PipelineParallel, DataParallel, NoPhase}, n.Phase) + 1
}

// traceEvent is an event of Chrome's trace format, which Perfetto reads. Times are µs.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Start float64        `json:"ts"`
	Took  float64        `json:"dur"`
	Rank  int            `json:"pid"`
	Lane  int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// WriteTimeline writes what each rank did when, for ui.perfetto.dev or chrome://tracing: a process a rank, and a row
// for computing and each kind of communication.
func (o *Outcome) WriteTimeline(out io.Writer, w *Workload) error {
	b := bufio.NewWriter(out)
	first := true
	write := func(e traceEvent) error {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !first {
			b.WriteString(",\n")
		}
		first = false
		_, err = b.Write(text)
		return err
	}
	b.WriteString("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n")
	for r := range w.Ranks {
		if err := o.rankTimeline(w, r, write); err != nil {
			return fmt.Errorf("write timeline of rank %d: %w", r, err)
		}
	}
	b.WriteString("\n]}\n")
	return b.Flush()
}

// rankTimeline writes the events of a rank, its rows' names first.
func (o *Outcome) rankTimeline(w *Workload, r int, write func(traceEvent) error) error {
	name := func(what string, lane int, text string) error {
		return write(traceEvent{Name: what, Phase: "M", Rank: r, Lane: lane, Args: map[string]any{"name": text}})
	}
	if err := name("process_name", 0, fmt.Sprintf("rank %d", r)); err != nil {
		return err
	}
	for i, text := range lanes() {
		if err := name("thread_name", i, text); err != nil {
			return err
		}
	}
	micros := func(d time.Duration) float64 { return float64(d) / 1e3 }
	for i := range w.Ranks[r].Nodes {
		n, span := &w.Ranks[r].Nodes[i], o.Ranks[r].Spans[i]
		l := lane(n)
		if l < 0 {
			continue
		}
		e := traceEvent{Name: n.Name, Phase: "X", Start: micros(span.Start), Took: micros(span.End - span.Start), Rank: r,
			Lane: l, Args: map[string]any{"node": n.ID}}
		if n.Kind != Compute {
			e.Args["bytes"] = int64(n.Bytes)
		}
		if n.Kind == Collective {
			e.Args["collective"], e.Args["communicator"] = n.Op.String(), w.Groups[n.Group].Name
		}
		if e.Name == "" {
			e.Name = n.Kind.String()
		}
		if err := write(e); err != nil {
			return err
		}
	}
	return nil
}
