package replay

import (
	"context"
	"fmt"
	"os"

	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
)

// retries is how often a disturbed run is repeated. On a machine that is always busy the last run counts,
// and the report notes it.
const retries = 1

// disturbed reports whether a run is to be made again, for what others took or for the error that it
// expects of itself. From a run that goes before other programs they take nothing.
func disturbed(h *report.Health, stolen float64) bool {
	if h == nil {
		return stolen > report.ToleratedCores
	}
	return stolen > report.ToleratedCores && !h.Realtime || h.Expected > report.RefusedError
}

// OnPackets runs a row of a prepared scenario in namespaces of its own, again where others disturbed
// it. The cost says what others took.
func OnPackets(ctx context.Context, p *scenario.Prepared, r scenario.Row,
	opt emulated.Options) (*outcome.Outcome,
	report.PolicyRun, error) {
	s := &runner{Prepared: p, Console: Console{Stderr: opt.Stderr}, packets: opt}
	cost := report.PolicyRun{Name: r.Name}
	o, err := s.onPackets(ctx, r, nil, &cost)
	return o, cost, err
}

// onPackets runs a row in namespaces of its own.
func (s *runner) onPackets(ctx context.Context, r scenario.Row, progress func(int),
	cost *report.PolicyRun) (*outcome.Outcome, error) {
	if err := s.Delays.OnPackets(); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		before := readProcessors()
		opt := s.packets
		opt.Stderr = s.Stderr
		o, why, err := emulated.Run(ctx, s.Scenario(r), opt, progress)
		if err != nil {
			return nil, fmt.Errorf("run %s on packets: %w", r.Name, err)
		}
		own, stolen, waiting, known := before.since()
		if !known {
			s.explain.Add(why)
			return o, nil // this kernel does not say
		}
		cost.StolenCores = stolen
		if h := o.Health; h != nil {
			h.OwnCores, h.StolenCores, h.Waiting = own, stolen, waiting
			s.seen(h, o)
			h.Expect()
		}
		if !disturbed(o.Health, stolen) || try == retries || s.Options.Demo || s.once {
			s.explain.Add(why)
			return o, nil
		}
		cost.Repeated++
	}
}

// describePackets adds the properties that only a fabric of packets has.
func (s *runner) describePackets(m *report.Meta, outcomes []*outcome.Outcome) {
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
	m.Controller = report.Controller{Replicas: s.Options.Replicas, Log: "raft", Digest: o.Digest}
	m.Notes = append(m.Notes, o.Net.Notes...)
}
