package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/replica"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/agent"
	"lightloom/southbound/pki"
)

// charge is what a replica's process is told, as one JSON object on its standard input: it holds a private key, so it
// is neither an argument nor a file.
type charge struct {
	ID        string            `json:"id"`
	Peers     []replica.Peer    `json:"peers"`
	API       map[string]string `json:"api"` // northbound addresses, by id
	Dir       string            `json:"dir"`
	Epoch     time.Time         `json:"epoch"` // instant 0 of the run
	Row       row               `json:"row"`
	Parts     Parts             `json:"parts"`
	Seed      uint64            `json:"seed"`
	Elephants pathmap.Bytes     `json:"elephants"`
	Delta     time.Duration     `json:"delta"`
	Agent     string            `json:"agent"`             // address of one for all hosts; or
	Agents    []agentSite       `json:"agents,omitempty"`  // several
	Devices   map[string]string `json:"devices"`           // addresses of gNMI targets, by name
	Earlier   uint64            `json:"earlier,omitempty"` // clusters that have programmed the same devices before
	Identity  []byte            `json:"identity"`
	Verbose   bool              `json:"verbose,omitempty"`
	Metrics   string            `json:"metrics,omitempty"` // address
	Sample    time.Duration     `json:"sample,omitempty"`  // how far apart switches tell what passed their ports; 0: never
	Explain   string            `json:"explain,omitempty"` // file that all replicas share, which says why; empty: none
	Leave     string            `json:"leave,omitempty"`   // directory to remove when whoever started the replica is gone
}

// controllerProcess is one replica of the controller.
type controllerProcess struct {
	charge charge
	fabric *topo.Fabric
	id     pki.Identity
	state  *state.State
	node   *replica.Node
	seat   leader.Seat
	clock  func() time.Duration
	log    *slog.Logger
	export *exporter

	mapped   sync.Once
	pathMap  *pathmap.Map
	index    *pathmap.Live
	pathsErr error
}

// Replica is the process of one replica of the controller. It reads its charge from stdin and runs until ctx ends, or stdin:
// then whoever started it was killed, and it takes along what that one would have removed.
func Replica(ctx context.Context, stdin io.Reader, stderr io.Writer) error {
	var c charge
	if err := json.NewDecoder(stdin).Decode(&c); err != nil {
		return fmt.Errorf("read charge: %w", err)
	}
	p, err := newControllerProcess(c, stderr)
	if err != nil {
		return fmt.Errorf("start replica %q: %w", c.ID, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel(errAlone)
	}()
	err = p.run(ctx)
	if context.Cause(ctx) == errAlone && c.Leave != "" {
		err = errors.Join(err, os.RemoveAll(c.Leave))
	}
	return err
}

var errAlone = errors.New("whoever started the replica has gone")

func newControllerProcess(c charge, stderr io.Writer) (*controllerProcess, error) {
	level := slog.LevelError
	if c.Verbose {
		level = slog.LevelInfo
	}
	p := &controllerProcess{charge: c, clock: clockFrom(c.Epoch),
		log: slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})).With("replica", c.ID)}
	var err error
	if p.fabric, err = topo.New(c.Row.Spec); err != nil {
		return nil, err
	}
	if p.id, err = pki.ParseIdentity(c.Identity); err != nil {
		return nil, err
	}
	p.state = state.New(p.fabric)
	if p.export, err = newExporter(c.Metrics, p.id); err != nil {
		return nil, err
	}
	p.node, err = replica.New(replica.Config{ID: c.ID, Peers: c.Peers, Dir: c.Dir,
		ServerTLS: p.id.Server(pki.Controller), ClientTLS: p.id.Client("", pki.Controller),
		Machine: p.machine(), Logger: p.log, Timeouts: patient()})
	return p, err
}

// patient are raft's timeouts for replicas that share two cores with the fabric that they control: a leader may be kept
// off the processor for some 0.3 s without being voted out.
func patient() replica.Timeouts {
	t := replica.DefaultTimeouts()
	t.Heartbeat, t.Election, t.Lease = 400*time.Millisecond, 400*time.Millisecond, 300*time.Millisecond
	return t
}

// clockFrom returns the time since epoch. It reads the wall clock once, so it never jumps; processes of one machine
// agree to within the time between two of its readings.
func clockFrom(epoch time.Time) func() time.Duration {
	began := time.Now()
	offset := began.Sub(epoch)
	return func() time.Duration { return offset + time.Since(began) }
}

func (p *controllerProcess) run(ctx context.Context) error {
	srv, err := p.server()
	if err != nil {
		return errors.Join(err, p.node.Close())
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return srv.Run(ctx) })
	g.Go(func() error { return p.export.run(ctx) })
	g.Go(func() error { return p.node.Leadership(ctx, p.lead) })
	return errors.Join(g.Wait(), p.node.Close())
}

func (p *controllerProcess) server() (*api.Server, error) {
	ln, err := net.Listen("tcp", p.charge.API[p.charge.ID])
	if err != nil {
		return nil, fmt.Errorf("listen for the northbound: %w", err)
	}
	return api.NewServer(api.Config{ID: p.charge.ID, Peers: p.charge.API, Listener: ln,
		ServerTLS: p.id.Server(pki.Client, pki.Controller), ClientTLS: p.id.Client("", pki.Controller),
		Submitter: p, Stater: p, Pledger: p, Canceller: p, Finder: p.node, Now: p.clock, Logger: p.log,
		Check:   p.check,
		Ready:   p.seat.Ready,
		Links:   func() []api.Link { return namedLinks(p.fabric.Topology, p.seat.Links()) },
		Changes: func() int { return p.node.Stats().LeaderChanges }})
}

// lead runs one leadership: it makes its election id known to every device and to the agent, and steps.
func (p *controllerProcess) lead(ctx context.Context, term uint64) error {
	why, err := joinExplainer(p.charge.Explain, leadership{p.charge.ID, term})
	if err != nil {
		return err
	}
	defer func() {
		if err := why.close(); err != nil {
			p.log.Warn("why", "error", err)
		}
	}()
	policy, err := (&setup{opt: Options{Parts: p.charge.Parts}, explain: why}).policy(p.charge.Row.Policy)
	if err != nil {
		return err
	}
	paths, err := p.paths()
	if err != nil {
		return err
	}
	hosts, hangUp, err := p.hosts(ctx, term)
	if err != nil {
		return err
	}
	defer hangUp()
	devices, closeAll := p.dial(term)
	defer closeAll()
	l := leader.New(leader.Config{State: p.state, Log: p.node, Devices: devices, Hosts: hosts, Clock: p.clock, Logger: p.log, Sample: p.charge.Sample,
		Loop: loop.Config{Policy: policy, Paths: paths, Index: p.index, Seed: p.charge.Seed, Delta: p.charge.Delta,
			Elephants: p.charge.Elephants, Demand: p.charge.Row.Demand, Rollout: defaultControl().rollout(p.charge.Delta), Patience: 3 * time.Second, Verify: true}})
	p.log.Info("leading", "term", term)
	return p.seat.Sit(ctx, term, l)
}

// hosts dials the hosts' agent, where they have one.
func (p *controllerProcess) hosts(ctx context.Context, term uint64) (leader.Hosts, func() error, error) {
	if len(p.charge.Agents) > 0 {
		return p.fleet(ctx, term)
	}
	if p.charge.Agent == "" {
		return noHosts{}, func() error { return nil }, nil
	}
	c, err := agent.Dial(ctx, agent.Config{Addr: p.charge.Agent, TLS: p.id.Client(agentName, pki.Agent),
		Election: func() (uint64, uint64) { return p.charge.electionHigh(term), 1 },
		OnError:  func(err error) { p.log.Warn("agent", "error", err) }})
	if err != nil {
		return nil, nil, err
	}
	return metered{c}, c.Close, nil
}

// check says what is wrong with a job on this fabric, or nil.
func (p *controllerProcess) check(j *controller.Job) error {
	if p.charge.Agent == "" && len(p.charge.Agents) == 0 {
		return errNoAgent
	}
	return j.Check(p.fabric.Hosts(), p.fabric.Hosts()*p.fabric.Spec.Slots)
}

// electionHigh is the upper half of an election id: a later term's is larger, and that of a later cluster that programs
// the same devices larger still. A run has devices of its own, and is the first.
func (c *charge) electionHigh(term uint64) uint64 { return (c.Earlier+1)<<48 | term }

// Submit implements api.Submitter.
func (p *controllerProcess) Submit(ctx context.Context, offers []api.Offer) ([]controller.JobID, error) {
	batch := make([]loop.Offer, len(offers))
	requests := make([]string, len(offers))
	for i, o := range offers {
		batch[i], requests[i] = loop.Offer{Job: o.Job, Request: o.Request}, o.Request
	}
	switch err := p.seat.Submit(ctx, batch); {
	case errors.Is(err, leader.ErrVacant):
		return nil, fmt.Errorf("%w: %w", api.ErrNotLeader, err)
	case errors.Is(err, leader.ErrStopped), ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", api.ErrUncertain, errors.Join(err, ctx.Err()))
	case err != nil:
		return nil, err
	}
	var ids []controller.JobID
	p.node.View(func(uint64) { ids = leader.JobIDs(p.state, requests) })
	return ids, nil
}

// Counts implements api.Stater.
func (p *controllerProcess) Counts() api.Counts {
	var c api.Counts
	p.node.View(func(index uint64) {
		d := p.state.Data()
		c = api.Counts{Index: index, Digest: p.state.Digest(), Jobs: len(d.Jobs), JobsEnded: p.state.Finished(), Coflows: len(d.Coflows)}
		for _, co := range d.Coflows {
			if co.Ended != state.Unset {
				c.CoflowEnded++
			}
		}
	})
	return c
}

// State implements api.Stater.
func (p *controllerProcess) State(context.Context) (api.Snapshot, error) {
	var s api.Snapshot
	var err error
	p.node.View(func(index uint64) {
		s.Index, s.Digest = index, p.state.Digest()
		s.JSON, err = p.state.Snapshot()
	})
	return s, err
}
