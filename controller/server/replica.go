package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/explain"
	"lightloom/controller/feed"
	"lightloom/controller/history"
	"lightloom/controller/leader"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/replica"
	"lightloom/controller/state"
	"lightloom/controller/tracing"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// replicaProcess is one replica of the controller.
type replicaProcess struct {
	config  ReplicaConfig
	home    *home
	keys    *pki.Source
	state   *state.State
	node    *replica.Node
	current leader.Current
	clock   *clock
	log     *slog.Logger
	notice  *slog.Logger // for what its owner must know
	audit   *auditLog
	export  *exporter
	traces  *tracing.Exporter
	history *history.Store
	feed    *feed.Feed
	reasons *explain.Memory // empty unless the configuration asks for them

	mapping sync.Mutex
	routes  routes
	between []func(*leader.Config) // tests only
}

// fabric returns the fabric as it is now.
func (p *replicaProcess) fabric() *topo.Fabric { return p.state.Fabric() }

// RunReplica is the process of a replica that has a parent. It reads its configuration from stdin and
// runs until ctx ends or stdin is closed. The latter means that the parent was killed: RunReplica then
// removes the run's own directory.
func RunReplica(ctx context.Context, stdin io.Reader, stderr io.Writer) error {
	var c ReplicaConfig
	if err := json.NewDecoder(stdin).Decode(&c); err != nil {
		return fmt.Errorf("read charge: %w", err)
	}
	c.Garbage.Limit()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		cancel(errAlone)
	}()
	err := runReplica(ctx, c, stderr)
	if context.Cause(ctx) == errAlone && c.Leave != "" {
		err = errors.Join(err, os.RemoveAll(c.Leave))
	}
	return err
}

var errAlone = errors.New("the parent process has exited")

// runReplica runs a replica until ctx ends. No other process can use its state directory meanwhile.
func runReplica(ctx context.Context, c ReplicaConfig, stderr io.Writer,
	between ...func(*leader.Config)) (err error) {
	fail := func(err error) error { return fmt.Errorf("start replica %q: %w", c.ID, err) }
	node, err := ReadNode(c.Dir)
	if err != nil {
		return fail(missing(c.Dir, "if its cluster is new, lightloom cluster init has made its directory: put that here; "+
			"else type: lightloom cluster join --config FILE", err))
	}
	release, err := hold(c.Dir, holdTries)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := node.check(c.Dir, Node{Replica: c.ID, Cluster: c.Cluster,
		Fabric: fabricName(c.Spec)}); err != nil {
		return fail(err)
	}
	p, err := newReplicaProcess(c, &home{dir: c.Dir, node: *node}, stderr)
	if err != nil {
		return fail(err)
	}
	p.between = between
	if !node.Begun {
		if err := p.home.note(func(n *Node) { n.Begun = true }); err != nil {
			return errors.Join(fail(err), p.close())
		}
	}
	if err = p.run(ctx); errors.Is(err, replica.ErrApart) {
		err = errors.Join(apartError(c.Dir, c.ID, err),
			p.home.note(func(n *Node) { n.Apart = p.node.Failed().Error() }))
	}
	return err
}

func newReplicaProcess(c ReplicaConfig, h *home, stderr io.Writer) (*replicaProcess, error) {
	level := slog.LevelError
	if c.Verbose {
		level = slog.LevelInfo
	}
	var handler slog.Handler = slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})
	if !c.Verbose {
		handler = newQuiet(handler, time.Minute)
	}
	p := &replicaProcess{config: c, home: h, clock: newClock(c.Epoch, time.Now), reasons: explain.NewMemory(),
		log: slog.New(handler).With("replica", c.ID),
		notice: slog.New(slog.NewTextHandler(stderr,
			&slog.HandlerOptions{Level: slog.LevelWarn})).With("replica", c.ID)}
	p.audit = newAuditLog(filepath.Join(c.Dir, auditFile), p.notice)
	f, err := topo.New(c.Spec)
	if err != nil {
		return nil, err
	}
	if p.keys, err = c.Identity.open(c.ID); err != nil {
		return nil, err
	}
	p.state = state.New(f)
	if p.export, err = newExporter(c.Metrics, p.keys, c.Restarts); err != nil {
		return nil, err
	}
	if p.traces, err = tracing.Open(context.Background(), c.Traces, c.ID, c.Cluster, p.notice); err != nil {
		return nil, err
	}
	if err = p.openHistory(); err != nil {
		return nil, err
	}
	p.feed = feed.New(feed.Config{State: p.state, History: p.history, Epoch: c.Epoch,
		View: func(fn func(uint64)) { p.node.View(fn) }})
	p.node, err = replica.New(replica.Config{ID: c.ID, Peers: c.Peers, Start: h.start(), Dir: c.Dir,
		ServerTLS: ofCluster(p.keys.Server(pki.Controller), c.Cluster),
		ClientTLS: ofCluster(p.keys.Client("", pki.Controller), c.Cluster),
		Timeouts:  replica.Timeouts{Heartbeat: c.Silence, Lease: c.Silence},
		Learner:   p.learner(), Trusted: c.OwnLogs, Machine: p.machine(), Archive: p.history, Logger: p.log,
		Parts: func() bool { return p.state.Counts().Level >= partsLevel }})
	if err != nil {
		return nil, errors.Join(err, p.history.Close())
	}
	p.export.follow(p)
	return p, nil
}

// ofCluster has a handshake between replicas of two clusters fail: one may have begun with the other's
// backup, under the same names and keys.
func ofCluster(c *tls.Config, cluster string) *tls.Config {
	if cluster != "" {
		c.NextProtos = []string{"lightloom-raft/" + cluster}
	}
	return c
}

// ClockFrom returns the time since epoch. It reads the wall clock once, so it never jumps; processes of
// one machine agree to within the time between two of its readings.
func ClockFrom(epoch time.Time) func() time.Duration {
	began := time.Now()
	offset := began.Sub(epoch)
	return func() time.Duration { return offset + time.Since(began) }
}

func (p *replicaProcess) run(ctx context.Context) error {
	srv, err := p.server()
	if err != nil {
		return errors.Join(err, p.close())
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return srv.Run(ctx) })
	g.Go(func() error {
		if err := p.export.run(ctx); err != nil { // metrics are not essential to the controller
			p.log.Error("metrics", "error", err)
		}
		return nil
	})
	g.Go(func() error {
		p.keys.Watch(ctx, pki.DefaultEvery, p.notice)
		return nil
	})
	g.Go(func() error { p.feed.Run(ctx); return nil })
	g.Go(func() error { return p.node.Leadership(ctx, p.lead) })
	g.Go(func() error { return p.attend(ctx) })
	err = g.Wait()
	if err == nil && context.Cause(ctx) != errAlone { // a regular stop: hand over at once, before the others time out
		_ = p.node.StepDown() // best effort: they elect one anyway
	}
	return errors.Join(err, p.close())
}

func (p *replicaProcess) close() error {
	return errors.Join(p.node.Close(), p.history.Close(), p.audit.close(), p.traces.Close())
}

func (p *replicaProcess) server() (*api.Server, error) {
	ln, err := net.Listen("tcp", p.config.API[p.config.ID])
	if err != nil {
		return nil, fmt.Errorf("listen for the northbound: %w", err)
	}
	return api.NewServer(api.Config{ID: p.config.ID, Peers: p.config.API, Listener: ln,
		ServerTLS: p.keys.Server(pki.Client, pki.Controller), ClientTLS: p.keys.Client("", pki.Controller),
		Submitter: p, Stater: p,
		Resources: api.Resources{BandwidthReserver: p, Slicer: p, Wirer: p.wirer()},
		Canceller: p, Changer: p, Finder: p.node, Indexer: p, Membership: p,
		Address: p.address, Logger: p.log, Tracer: p.traces.Tracer(),
		Retention: p.requestsKnown, Replay: p.config.Replay,
		Check: p.check, Callers: p.callers(), Jobs: p.feed, Eventer: p.feed.Hub,
		Reported: api.Reported{
			Now:   p.clock.now,
			Epoch: p.epoch,
			Fabric: func() *apiv1.Fabric {
				return api.DescribeFabric(p.fabric(), p.config.Policy,
					p.fabricChange())
			},
			Disk:    p.node.Disk,
			Ready:   p.current.Ready,
			Links:   func() []api.Link { return namedLinks(p.fabric().Topology, p.current.Leader().Links()) },
			Claims:  func() []api.Claim { return namedClaims(p.fabric().Topology, p.current.Leader().Claims()) },
			Agents:  func() []api.Agent { return namedAgents(p.fabric(), p.current.Leader().Agents()) },
			Silent:  p.silent,
			Reasons: p.reasons.Of,
			Changes: p.node.LeaderChanges, Standing: p.standing}})
}

// lead runs one leadership: it makes its election id known to every device and to the agent, and steps.
// If policy or cables are changed meanwhile, it begins anew in the same term, as another leader would.
func (p *replicaProcess) lead(ctx context.Context, term uint64) error {
	if err := p.found(ctx, term); err != nil {
		return err
	}
	compared := make(chan struct{})
	defer func() { <-compared }()
	comparing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(compared)
		p.compare(comparing, term)
	}()
	why, err := explain.Join(p.config.Explain, explain.Leadership{Leader: p.config.ID, Term: term})
	if err != nil {
		p.log.Error("why", "error", err)
	}
	defer func() {
		if err := why.Close(); err != nil {
			p.log.Warn("why", "error", err)
		}
	}()
	for round := uint64(1); ; round++ {
		if err := p.leadOver(ctx, term, round, why); !errors.Is(err, leader.ErrPolicy) || ctx.Err() != nil {
			return err
		}
	}
}

// leadOver leads over the switches and hosts that the fabric has, until it has more (leader.ErrPolicy).
// What was sent in an earlier round of the term is refused once they know of this one.
func (p *replicaProcess) leadOver(ctx context.Context, term, round uint64, why *explain.Writer) error {
	hosts, hangUp, err := p.hosts(ctx, term, round)
	if err != nil {
		return err
	}
	defer func() { _ = hangUp() }() // nothing is left to lose
	devices, redial, closeAll := p.dial(term, round)
	defer closeAll()
	used, closeUsages, err := p.usages()
	if err != nil {
		return err
	}
	defer closeUsages()
	cfg := leader.Config{State: p.state, Log: p.node, Devices: devices, Redial: redial, Hosts: hosts,
		Clock:  p.clock.now,
		Logger: p.log, Sample: p.config.Sample, Keep: p.config.Reasons, SetTimeout: p.config.Within,
		Loop: loop.Config{Seed: p.config.Seed, Delta: p.config.Delta, Deltas: p.config.Deltas,
			ElephantThreshold: p.config.ElephantThreshold, Demand: p.config.Demand, Rollout: p.config.Rollout,
			Patience: 3 * time.Second, Verify: true, Used: used}}
	if p.traces != nil {
		cfg.Tracer = p.traces.Tracer()
	}
	cfg.Watchdog = p.watchdog(ctx, term)
	for _, f := range p.between {
		f(&cfg)
	}
	for {
		was := p.fabric().Topology
		err := p.decide(ctx, term, cfg, why)
		now := p.fabric().Topology
		if !errors.Is(err, leader.ErrPolicy) || ctx.Err() != nil || len(now.Nodes()) != len(was.Nodes()) {
			return err
		}
		for n := range pathmap.NodeID(len(now.Nodes())) {
			if now.Ports(n) != was.Ports(n) { // drivers know how many there are
				redial(n)
			}
		}
	}
}

// decide leads with the policy that stands, until it is changed.
func (p *replicaProcess) decide(ctx context.Context, term uint64, cfg leader.Config,
	why *explain.Writer) error {
	m, err := p.paths()
	if err != nil {
		return err
	}
	cfg.Loop.Paths, cfg.Loop.Index = m.paths, m.index
	cfg.Policy = p.fabricChange().Policy
	name, overrides := p.config.Policy, p.config.Overrides
	if cfg.Policy != "" {
		name, overrides = cfg.Policy, policy.Overrides{}
	}
	opt := policy.Options{Overrides: overrides, Prove: why.Teller(name)}
	if !p.config.ProofsOnly {
		opt.Explain, opt.Prove = opt.Prove, nil
	}
	if p.config.Reasons {
		opt.Explain = opt.Explain.And(p.reasons.Teller())
	}
	decider, err := policy.New(name, opt)
	if err != nil {
		return err
	}
	defer func() {
		if err := policy.Close(decider); err != nil {
			p.log.Warn("close policy", "error", err)
		}
	}()
	cfg.Loop.Policy = decider
	if p.config.FewQueues && decider.Capabilities().Priorities {
		p.notice.Warn("priorities of the policy have no effect", "policy", name, "why", noQueues)
	}
	p.log.Info("leading", "term", term, "policy", name)
	return p.current.Run(ctx, term, leader.New(cfg))
}

// dial makes a line to every switch, metered where metrics are served. redial gives one up for the
// device that the state names now.
func (p *replicaProcess) dial(term, round uint64) (devices map[southbound.DeviceID]southbound.Device,
	redial func(southbound.DeviceID), closeAll func()) {
	devices = map[southbound.DeviceID]southbound.Device{}
	var now atomic.Pointer[inventory.Devices] // calls do not wait for the state
	look := func() { all := p.devices(); now.Store(&all) }
	look()
	lines := dialDevices(p.fabric, &p.config, func() inventory.Devices { return *now.Load() }, p.keys,
		gnmi.Election{High: p.config.ElectionHigh(term), Low: p.config.ElectionLow(round)})
	for id, l := range lines {
		devices[id] = l
		if p.export != nil {
			devices[id] = p.export.meter.Device(p.fabric().Topology.Node(id).Name, l, p.clock.now)
		}
	}
	return devices, func(id southbound.DeviceID) { look(); lines[id].Redial() }, func() {
		for _, l := range lines {
			l.Close()
		}
		if p.export != nil {
			p.export.meter.Release()
		}
	}
}

// devices are the records of all switches as they are now.
func (p *replicaProcess) devices() inventory.Devices {
	c := p.fabricChange()
	all, err := p.founded().With(&c)
	if err != nil {
		p.log.Error("records of replaced devices", "error", err)
	}
	return all
}
