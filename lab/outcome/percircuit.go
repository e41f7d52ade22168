package outcome

import (
	"slices"
	"strconv"

	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// circuitLine is a line of the file of --per-circuit: one circuit, from the intent to make it to its end. Times are
// seconds of the run; events that did not happen or were not measured are left out.
type circuitLine struct {
	In        int32    `json:"in"`
	Out       int32    `json:"out"`
	Coflow    string   `json:"coflow"` // the trace's id, or the run's; "any" where it serves all
	Intended  float64  `json:"intended"`
	Dark      *float64 `json:"dark,omitempty"`       // its ports lost what they had, mirrors began to move
	Connected *float64 `json:"connected,omitempty"`  // the OCS said that light passes
	InService *float64 `json:"in_service,omitempty"` // host flows were steered to it
	Ended     float64  `json:"ended"`
	Bytes     *float64 `json:"bytes,omitempty"` // payload; on real packets switches count by port, not by circuit
	Failed    bool     `json:"failed"`
	Policy    string   `json:"policy"`
	Switch    string   `json:"switch,omitempty"` // where there are several OCSes: which, and in and out are its ports
}

func (l *circuitLine) fields() []string {
	out := []string{strconv.Itoa(int(l.In)), strconv.Itoa(int(l.Out)), l.Coflow, decimal(l.Intended),
		optional(l.Dark),
		optional(l.Connected),
		optional(l.InService), decimal(l.Ended), optional(l.Bytes), strconv.FormatBool(l.Failed), l.Policy}
	if l.Switch != "" {
		out = append(out, l.Switch)
	}
	return out
}

// circuitsOf returns the circuits of an outcome, in order of intent, then by input.
func circuitsOf(o *Outcome) []circuitLine {
	var out []circuitLine
	for i := range o.State.Moves {
		m := &o.State.Moves[i]
		l := circuitLine{In: int32(m.In), Out: int32(m.Out), Coflow: "any", Intended: inSeconds(m.Intent),
			Dark:      known(m.Stages.Accepted),
			Connected: known(m.Stages.Connected), Ended: inSeconds(o.End), Failed: m.Failed, Policy: o.Row.Name}
		if c := o.State.Coflow(m.Coflow); c != nil {
			l.Coflow = traceID(o.State.Job(c.Job).Name, int(m.Coflow))
		}
		if m.InService != state.Unset {
			l.InService = known(m.InService)
		}
		if m.Ended != state.Unset {
			l.Ended = inSeconds(m.Ended)
		}
		if i < len(o.Carried) {
			v := float64(o.Carried[i])
			l.Bytes = &v
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b circuitLine) int {
		switch {
		case a.Intended < b.Intended:
			return -1
		case a.Intended > b.Intended:
			return 1
		}
		return int(a.In - b.In)
	})
	return out
}

// nameSwitches gives circuits their switch and the numbers that it has for their ports, where there are several.
func nameSwitches(spec topo.Spec, lines []circuitLine) error {
	if spec.ParallelOCSes() == 1 {
		return nil
	}
	f, err := topo.New(spec)
	if err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		ocs, in := f.OCSAt(l.In)
		_, l.Out = f.OCSAt(l.Out)
		l.In, l.Switch = in, f.Topology.Node(ocs).Name
	}
	return nil
}

// WritePerCircuit writes a line for every circuit of every policy.
func WritePerCircuit(name string, outcomes []*Outcome) error {
	head := []string{"in", "out", "coflow", "intended", "dark", "connected", "in_service", "ended",
		"bytes", "failed",
		"policy"}
	if slices.ContainsFunc(outcomes, func(o *Outcome) bool { return o.Row.Spec.ParallelOCSes() > 1 }) {
		head = append(head, "switch")
	}
	return writeLines(name, "per-circuit", head, func(emit func(*circuitLine) error) error {
		for _, o := range outcomes {
			lines := circuitsOf(o)
			if err := nameSwitches(o.Row.Spec, lines); err != nil {
				return err
			}
			for _, l := range lines {
				if err := emit(&l); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// QueueLine is a line of the file of --per-queue: one port, and the link that it sends into.
type QueueLine struct {
	Node     string  `json:"node"`
	Port     int32   `json:"port"`
	To       string  `json:"to"`
	Capacity int64   `json:"bits_per_second"`
	Bytes    int64   `json:"bytes"`     // layer 2
	Acks     int64   `json:"ack_bytes"` // of these, at the priority of acknowledgements
	Drops    int64   `json:"drops"`
	Max      float64 `json:"max_queue_bytes"`
	Mean     float64 `json:"mean_queue_bytes"` // over the run's time
	Policy   string  `json:"policy"`
}

func (l *QueueLine) fields() []string {
	return []string{l.Node, strconv.Itoa(int(l.Port)), l.To, strconv.FormatInt(l.Capacity, 10),
		strconv.FormatInt(l.Bytes, 10), strconv.FormatInt(l.Acks, 10),
		strconv.FormatInt(l.Drops, 10), decimal(l.Max), decimal(l.Mean), l.Policy}
}

// WritePerQueue writes a line for every port of every policy, by link.
func WritePerQueue(name string, outcomes []*Outcome) error {
	head := []string{"node", "port", "to", "bits_per_second", "bytes", "ack_bytes", "drops", "max_queue_bytes",
		"mean_queue_bytes", "policy"}
	return writeLines(name, "per-queue", head, func(emit func(*QueueLine) error) error {
		for _, o := range outcomes {
			f, err := topo.New(o.Row.Spec)
			if err != nil {
				return err
			}
			t := f.Topology
			for l, q := range o.Queues {
				link := t.Link(pathmap.LinkID(l))
				out := QueueLine{Node: t.Node(link.From).Name, Port: link.FromPort, To: t.Node(link.To).Name,
					Capacity: int64(link.Capacity),
					Bytes:    int64(q.Bytes), Acks: int64(q.Acks), Drops: q.Drops, Max: q.Max, Mean: q.Mean, Policy: o.Row.Name}
				if err := emit(&out); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
