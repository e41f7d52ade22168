package astrasim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lightloom/controller/training"
)

// Options are how a workload is run.
type Options struct {
	System  *System
	Network *Network
	Unaware bool                               // messages do not meet on links
	Custom  map[training.Op]*training.Workload // collectives from files, of a rank each
}

// sim is one run.
type sim struct {
	q      *queue
	work   *training.Workload
	system *System
	net    *Network
	post   *post
	custom map[training.Op]*training.Workload
	total  int // NPUs
	atOnce int // chunks of a queue
	npus   []*engine
	err    error // the first
}

// Run runs a workload to its end. A rank that waits for what never comes is an error that names its node.
func Run(ctx context.Context, w *training.Workload, o Options) (*training.Outcome, error) {
	s := &sim{q: &queue{}, work: w, system: o.System, net: o.Network, custom: o.Custom, total: o.Network.Size()}
	if len(w.Ranks) != s.total {
		return nil, fmt.Errorf("run %s: it has %d ranks, and the network has %d NPUs: give as many of both", w.Name,
			len(w.Ranks), s.total)
	}
	if err := w.Check(); err != nil {
		return nil, fmt.Errorf("run %s: %w", w.Name, err)
	}
	queues := max(o.System.Queues, 1)
	s.atOnce = (o.System.ActiveChunks + queues - 1) / queues
	s.post = &post{q: s.q, channels: map[channel]*pending{}, net: &aware{o.Network, s.q, map[[2]int32]*link{}}}
	if o.Unaware {
		s.post.net = &unaware{o.Network, s.q}
	}
	for r := range w.Ranks {
		s.npus = append(s.npus, newEngine(s, r, queues))
	}
	for _, e := range s.npus {
		e.issue()
	}
	if err := s.q.run(ctx); err != nil {
		return nil, fmt.Errorf("run %s: %w", w.Name, err)
	}
	return s.outcome()
}

// fail keeps the first error.
func (s *sim) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *sim) outcome() (*training.Outcome, error) {
	out := &training.Outcome{}
	for r, e := range s.npus {
		if s.err == nil && e.progress.Left() > 0 {
			i := slices.IndexFunc(e.out.Spans, func(s training.Span) bool { return s.End < 0 })
			s.err = fmt.Errorf("%s: it never ends: ranks wait for each other, so begin collectives in one order on all of "+
				"them", s.work.Where(r, i))
		}
		out.Ranks = append(out.Ranks, e.out)
	}
	if s.err != nil {
		return nil, fmt.Errorf("run %s: %w", s.work.Name, s.err)
	}
	return out, nil
}

// engine runs the nodes of a rank: one that computes, one of the processor, and one that communicates, beside those
// that receive. Of those that could begin, the smallest id is first.
type engine struct {
	*npu
	nodes    []training.Node
	progress *training.Progress

	cpu, accelerator, link bool // what is in use
	out                    training.RankOutcome
}

func newEngine(s *sim, rank, queues int) *engine {
	n := &npu{sim: s, id: int32(rank), buckets: map[int64]*[]func(){}, groupStreams: map[int32]int64{},
		trees: map[treeOf]*tree{}}
	for d := range s.net.NPUs {
		n.levels = append(n.levels, newLevel(d*queues, queues))
	}
	n.active, n.running = make([][]*chunk, queues*len(s.net.NPUs)), make([]int, queues*len(s.net.NPUs))
	nodes := s.work.Ranks[rank].Nodes
	e := &engine{npu: n, nodes: nodes, progress: training.NewProgress(nodes),
		out: training.RankOutcome{Spans: make([]training.Span, len(nodes))}}
	for i := range nodes {
		e.out.Spans[i].End = -1
	}
	return e
}

// issue begins what can begin.
func (e *engine) issue() {
	for _, i := range e.progress.Free() {
		if use := e.engineOf(i); (use == nil || !*use) && e.progress.Take(i) {
			e.begin(i, use)
		}
	}
}

// engineOf returns what a node uses; nil: nothing.
func (e *engine) engineOf(i int32) *bool {
	switch n := &e.nodes[i]; {
	case n.CPU:
		return &e.cpu
	case n.Kind == training.Compute:
		return &e.accelerator
	case n.Kind == training.Receive:
		return nil
	}
	return &e.link
}

func (e *engine) begin(i int32, use *bool) {
	n := &e.nodes[i]
	if use != nil {
		*use = true
	}
	e.out.Spans[i].Start = time.Duration(e.q.now)
	ended := func() { e.ended(i, use) }
	if e.system.Replay != 0 {
		e.compute(n, ended)
		return
	}
	switch n.Kind {
	case training.Nothing:
		ended()
	case training.Compute:
		e.compute(n, ended)
	case training.Send:
		e.post.send(channel{int64(n.Tag) % collectiveTags, e.id, n.Peer, int64(n.Bytes)}, ended)
	case training.Receive:
		e.post.receive(channel{int64(n.Tag) % collectiveTags, n.Peer, e.id, int64(n.Bytes)}, ended)
	case training.Collective:
		if err := e.collect(n, ended); err != nil {
			e.fail(fmt.Errorf("%s: %w", e.work.Where(int(e.id), int(i)), err))
		}
	}
}

// collect begins a collective. A broadcast is the time that its trace says, as in the reference.
func (e *engine) collect(n *training.Node, ended func()) error {
	switch n.Op {
	case training.Broadcast:
		e.after(max(int64(n.Duration), 1), ended)
		return nil
	case training.Barrier:
		return fmt.Errorf("the reference tool has no %v: leave it out", n.Op)
	}
	if e.system.Memory == 0 && n.Op != training.AllGather && n.Op != training.AllToAll {
		return fmt.Errorf("%v needs local-mem-bw in the system file: write GB/s, such as 1600", n.Op)
	}
	return e.beginCollective(n, ended)
}

// compute takes the time of the trace, at least 1 ns, or that of the roofline model.
func (e *engine) compute(n *training.Node, ended func()) {
	took := max(int64(n.Duration), 1)
	if e.system.Roofline != 0 && e.system.Replay == 0 && !n.CPU {
		if n.Tensor == 0 {
			ended()
			return
		}
		intensity := float64(n.Ops) / float64(n.Tensor)
		speed := min(e.system.Memory*1e9*intensity, e.system.Peak*1e12)
		took = e.q.after(float64(n.Ops)/speed*1e9) - e.q.now
	}
	if !n.CPU {
		e.out.Compute += time.Duration(took)
	}
	e.after(took, ended)
}

// ended frees what a node used, and begins what waited for it.
func (e *engine) ended(i int32, use *bool) {
	if use != nil {
		*use = false
	}
	now := time.Duration(e.q.now)
	e.out.Spans[i].End, e.out.End = now, max(e.out.End, now)
	e.progress.End(i)
	e.issue()
}
