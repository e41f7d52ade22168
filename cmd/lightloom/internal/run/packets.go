package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/controller"
	"lightloom/emulator/fault"
	"lightloom/emulator/netns"
	"lightloom/pathmap"
)

// Commands of this binary that users do not type: Enter starts Inside in new namespaces, and that starts Replica.
const (
	InsideCommand  = "inside"
	ReplicaCommand = "replica"
)

// order is what the process inside is told, as one JSON object on descriptor 3.
type order struct {
	Row       row              `json:"row"`
	Seed      uint64           `json:"seed"`
	StopAt    time.Duration    `json:"stop_at,omitempty"` // whatever still runs; 0: at the end of all jobs
	Parts     Parts            `json:"parts"`
	Elephants pathmap.Bytes    `json:"elephants"`
	Jobs      []controller.Job `json:"jobs"`
	Replicas  int              `json:"replicas"`
	Net       netns.Options    `json:"net"`
	Delays    string           `json:"delays,omitempty"`
	Kill      []killing        `json:"kill,omitempty"`
	Queues    bool             `json:"queues,omitempty"` // look at what waits at ports
	Explain   bool             `json:"explain,omitempty"`
	Faults    []fault.Event    `json:"faults,omitempty"`
	Failover  *FailoverOptions `json:"failover,omitempty"` // measure this and no jobs
	Until     time.Duration    `json:"until,omitempty"`    // what has not ended then is cancelled; 0: never
	Stay      bool             `json:"stay,omitempty"`     // keep the fabric until told to end, and answer on descriptor 5
}

// killing is a leader to be killed once the log has that many entries.
type killing struct {
	Applied uint64 `json:"applied"`
}

// word is what the process inside tells, one JSON object a line on descriptor 4.
type word struct {
	Ready bool `json:"ready,omitempty"`
	Done  int  `json:"done,omitempty"` // jobs that have ended

	Failover *Failover   `json:"failover,omitempty"`
	Why      []explained `json:"why,omitempty"` // before the outcome

	Outcome *outcome `json:"outcome,omitempty"`
	Error   string   `json:"error,omitempty"`
	Hint    string   `json:"hint,omitempty"`
}

// insideError is an error of the process inside.
type insideError struct{ text, hint string }

func (e *insideError) Error() string { return e.text }
func (e *insideError) Hint() string  { return e.hint }

// tolerated is how much of a core others may steal from a run before it is thrown away and made again, and retries how
// often that is done: a machine that is always busy gets its result, and the report says so.
const (
	tolerated = 0.3
	retries   = 1
)

// onPackets runs a row in namespaces of its own.
func (s *setup) onPackets(ctx context.Context, r row, progress func(int), cost *report.PolicyRun) (*outcome, error) {
	if err := s.delays.onPackets(); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		began, cpu := time.Now(), cpuSeconds()
		busy, busyErr := report.MachineBusy()
		o, err := s.enter(ctx, r, progress)
		if err != nil {
			return nil, fmt.Errorf("run %s on packets: %w", r.Name, err)
		}
		after, err := report.MachineBusy()
		if busyErr != nil || err != nil {
			return o, nil // this kernel does not say
		}
		wall := time.Since(began).Seconds()
		cost.StolenCores = max(0, ((after-busy).Seconds()-(cpuSeconds()-cpu))/wall)
		if cost.StolenCores <= tolerated || try == retries || s.opt.Demo {
			if cost.StolenCores > tolerated {
				o.Notes = append(o.Notes, fmt.Sprintf("others used %.1f of this machine's cores during this run: times may be theirs as well", cost.StolenCores))
			}
			return o, nil
		}
		cost.Repeated++
	}
}

func (s *setup) order(r row) order {
	return order{Row: r, Delays: s.opt.Delays, Seed: s.opt.Seed, Parts: s.opt.Parts, Elephants: s.elephants, Jobs: s.jobs, Replicas: s.opt.Replicas, Kill: s.kill, Queues: s.opt.Rules.PerQueue != "", Explain: s.opt.Rules.Explain != "", Faults: s.faults, Until: s.opt.Until,
		Net: netns.Options{Dataplane: s.opt.Dataplane, Congestion: s.opt.Congestion, MTU: s.opt.MTU, QueueBytes: s.opt.Queue, ECNBytes: s.opt.ECN, DarkQueues: s.opt.DarkQueues}}
}

// enter starts the process inside, tells it the order and listens to it until it ends.
func (s *setup) enter(ctx context.Context, r row, progress func(int)) (*outcome, error) {
	var result *outcome
	var why []explained
	order := s.order(r)
	order.StopAt = s.opt.until
	err := inNamespaces(ctx, order, s.rootless, s.opt.Stderr, nil, func(w *word) {
		switch {
		case w.Outcome != nil:
			result = w.Outcome
			result.why = why
		case w.Why != nil:
			why = append(why, w.Why...)
		case w.Done > 0 && progress != nil:
			progress(w.Done)
		}
	})
	if err == nil && result == nil {
		err = errors.New("the fabric's process ended without a result")
	}
	return result, err
}

// inNamespaces runs the process inside to its end, and hands each of its words to listen. extra is its descriptor 5.
func inNamespaces(ctx context.Context, o order, rootless bool, stderr io.Writer, extra *os.File, listen func(*word)) error {
	orders, ordersW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	wordsR, words, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("make pipe: %w", err), orders.Close(), ordersW.Close())
	}
	go func() {
		// The process may end before it has read all; Enter says why it did.
		_ = json.NewEncoder(ordersW).Encode(o)
		ordersW.Close()
	}()
	var said error
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		said = hear(wordsR, listen)
	}()
	files := []*os.File{orders, words}
	if extra != nil {
		files = append(files, extra)
	}
	status, err := netns.Enter(ctx, []string{InsideCommand}, netns.EnterOptions{Stderr: stderr, ExtraFiles: files, Rootless: rootless})
	orders.Close()
	words.Close()
	<-heard
	wordsR.Close()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case said != nil:
		return said
	case status != 0:
		return fmt.Errorf("the fabric's process ended with status %d", status)
	}
	return nil
}

// hear reads words until the pipe ends, and returns the error that one of them tells.
func hear(r io.Reader, listen func(*word)) error {
	d := json.NewDecoder(r)
	var first error
	for {
		var w word
		if err := d.Decode(&w); err != nil {
			if !errors.Is(err, io.EOF) && first == nil {
				first = fmt.Errorf("hear the fabric's process: %w", err)
				_, _ = io.Copy(io.Discard, r)
			}
			return first
		}
		if w.Error != "" {
			first = &insideError{w.Error, w.Hint}
			continue
		}
		listen(&w)
	}
}

// describePackets adds what only a fabric of packets has.
func (s *setup) describePackets(m *report.Meta, outcomes []*outcome) {
	o := outcomes[0]
	m.Fabric.Privilege = "user"
	if os.Geteuid() == 0 {
		m.Fabric.Privilege = "root"
	}
	m.Fabric.Congestion, m.Fabric.MTU = o.Net.Congestion, o.Net.MTU
	m.Fabric.ECNBytes = int64(o.Net.ECNBytes)
	m.Fabric.QueueBytes = int64(o.Net.MinQueueBytes) // ToR–spine links are the slowest of a hybrid
	m.Fabric.Queues = fmt.Sprintf("bfifo of %d to %d bytes a switch port, %d a host; HTB burst at most %d bytes",
		o.Net.MinQueueBytes, o.Net.MaxQueueBytes, o.Net.NICQueueBytes, o.Net.MaxBurst)
	m.Controller = report.Controller{Replicas: s.opt.Replicas, Log: "raft", Digest: o.Digest}
	m.Notes = append(m.Notes, o.Net.Notes...)
}
