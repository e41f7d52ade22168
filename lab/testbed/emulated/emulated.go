package emulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/controller/api"
	"lightloom/controller/replica"
	"lightloom/controller/rollout"
	"lightloom/controller/server"
	"lightloom/controller/state"
	"lightloom/emulator/netns"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/testbed"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/hint"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// Descriptors of the process inside, after the standard three.
const (
	ordersFD  = 3
	wordsFD   = 4
	controlFD = 5
)

// Inside is the process in the new namespaces: it builds the fabric, puts a gNMI target in front of
// every switch, starts the replicas of the controller as processes of their own, replays the jobs, and
// reports the results.
//
// keep keeps the fabric up until ctx ends, if the configuration says Stay. It serves the socket that it
// gets.
func Inside(ctx context.Context, stderr io.Writer,
	keep func(context.Context, *Testbed, *os.File) error) error {
	orders, words := os.NewFile(ordersFD, "orders"), os.NewFile(wordsFD, "words")
	if orders == nil || words == nil {
		return errors.New("inside: this command is for lightloom itself; try lightloom demo")
	}
	out := &speaker{enc: json.NewEncoder(words)}
	err := inside(ctx, orders, out, stderr, keep)
	if err != nil {
		out.say(Event{Error: err.Error(), Hint: hint.Of(err)})
	}
	return err
}

// speaker writes events, one at a time.
type speaker struct {
	mu  sync.Mutex
	enc *json.Encoder
}

// say sends an event to the parent. If the parent is gone, this process ends soon as well.
func (s *speaker) say(w Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.enc.Encode(w)
}

func inside(ctx context.Context, orders io.Reader, out *speaker, stderr io.Writer,
	keep func(context.Context, *Testbed, *os.File) error) (err error) {
	if err := netns.Reap(ctx); err != nil { // first: it leaves the orders to the next process
		return err
	}
	if _, err := netns.Prepare(); err != nil {
		return err
	}
	var o ChildConfig
	if err := json.NewDecoder(orders).Decode(&o); err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	s, err := newStage(o, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.serve(ctx) })
	g.Go(func() error {
		defer cancel()
		return s.play(ctx, out, keep)
	})
	return g.Wait()
}

// VerboseEnv is the environment variable that makes replicas log what they do, not only what goes wrong.
const VerboseEnv = "LIGHTLOOM_VERBOSE"

// Testbed is the testbed inside: the fabric, the servers in front of it, and the controller.
type Testbed struct {
	testbed.Remote
	Config    ChildConfig
	Topo      *topo.Fabric
	Packets   *PacketFabric
	Authority *pki.Authority
	Began     time.Time
	Epoch     time.Time // instant 0: Began, or that of the first start on the same state
	delta     time.Duration
	state     *server.State
	fences    string // directory of the largest election ids that switches and the agent know

	discovery *discovery // nil: no LLDP
	Counters  *PortCounters

	Faults  *testbed.FaultLog // faults that users caused
	agent   *endpoint
	Cluster *server.Cluster
	stderr  io.Writer

	run stageRun
}

// stageRun is the testbed's state of a running scenario.
type stageRun struct {
	since        netns.Counters // when it began
	queueSamples func(since netns.Counters) ([]outcome.PortLoad, error)
	kill         []Killing // still to come
	change       int64     // of leaders, as far as seen
	outage       time.Duration
	down         atomic.Int64  // faults that last
	grown        time.Duration // when hosts had last received something
	bytes        pathmap.Bytes // what they had received
	ends         []func()      // of watches

	timers *lateness
	probed *float64 // the error of the probe coflow before the run; nil: it could not be sent
}

var _ testbed.Testbed = (*Testbed)(nil)

// newStage builds the fabric and opens every listener. It starts nothing.
func newStage(o ChildConfig, stderr io.Writer) (_ *Testbed, err error) {
	f, err := topo.New(o.Row.Spec)
	if err != nil {
		return nil, err
	}
	garbage(&o, f, ofFabric).Limit()
	s := &Testbed{Config: o, Topo: f, Began: time.Now(), stderr: stderr, delta: rollout.DefaultControl().
		Delta(o.Delays.Slowest().Quantile(0.9))}
	if s.state, err = s.openState(); err != nil {
		return nil, err
	}
	defer func() {
		if s.Cluster == nil {
			err = errors.Join(err, s.state.Close())
		}
	}()
	s.Epoch = s.state.Epoch
	s.Clock = server.ClockFrom(s.Epoch)
	s.Faults = testbed.NewFaultLog(f, o.Replicas)
	if s.Authority, err = pki.New(runLife); err != nil {
		return nil, err
	}
	if s.fences, err = server.PrivateDir(); err != nil {
		return nil, err
	}
	if s.Packets, err = newPacketFabric(f, &o, s.fences, s.Clock); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.fences))
	}
	if o.State != "" {
		if err := s.forgetHosts(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.Counters = newPortCounters(f.Topology, s.Packets.Net.Counters, s.Clock)
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// forgetHosts reports all hosts to the controller as lost and back, since its log can know hosts of an
// earlier fabric. Work of those hosts is done again, and none counts as failed.
func (s *Testbed) forgetHosts() error {
	for h := range s.Topo.HostNode {
		for _, up := range []bool{false, true} {
			if err := s.Packets.Agent.Fail(southbound.HostID(h), up); err != nil {
				return err
			}
		}
	}
	return nil
}

// openState opens the logs that the replicas continue, or makes temporary ones that end with the run.
func (s *Testbed) openState() (*server.State, error) {
	fabric := s.Config.Row.Spec
	if s.Config.State != "" {
		return server.OpenState(s.Config.State, s.Config.Replicas, fabric)
	}
	return server.PrivateState("", s.Config.Replicas, fabric, s.Began)
}

func (s *Testbed) listen() (err error) {
	if s.Config.Stay {
		if s.discovery, err = s.openDiscovery(); err != nil {
			return err
		}
	}
	if err = s.openTargets(); err != nil {
		return err
	}
	if s.agent, err = s.newEndpoint(pki.Agent, inventory.AgentName); err != nil {
		return err
	}
	c := s.replicaConfig()
	c.Explain, c.ProofsOnly = s.Config.whyFile(s.state.Dir), s.Config.Rules.Explain == ""
	c.Usages = s.Config.usageFile(s.state.Dir)
	c.Reasons = s.Config.Stay // nothing is measured then
	if s.Cluster, err = server.NewCluster(s.Config.Replicas, c, s.Authority.Issue,
		server.PrivatePorts, s.state,
		s.stderr); err != nil {
		return err
	}
	id, err := s.Authority.Issue(pki.Client, inventory.ClientName)
	if err != nil {
		return err
	}
	s.Client, err = api.Dial(s.Cluster.Addrs(), id.Client("", pki.Controller))
	return err
}

// replicaConfig is the configuration of every replica. runLife is how long the keys of a run are good
// for. They are in memory and on pipes alone, and go with the run.
const runLife = 10 * 365 * 24 * time.Hour

func (s *Testbed) replicaConfig() server.ReplicaConfig {
	r := s.Config.Row
	return server.ReplicaConfig{Spec: r.Spec, Policy: r.Policy, Overrides: s.Config.Overrides,
		Identity: server.IdentityConfig{Admins: []string{inventory.ClientName}},
		Demand:   r.Demand,
		Rollout:  rollout.DefaultControl().Options(s.delta), Seed: s.Config.Seed,
		ElephantThreshold: s.Config.ElephantThreshold,
		Delays:            server.Delays{Delta: s.delta, Deltas: s.Config.Delays.Deltas(rollout.DefaultControl())},
		Agent:             s.agent.ln.Addr().String(), Devices: s.Devices(),
		Sample: samplePeriod(&s.Config, s.Topo),
		Parent: server.Parent{FixedCables: true, Replay: len(s.Config.Jobs) > 0, FewQueues: s.Packets.Net.FewQueues(),
			Silence: silence(&s.Config, s.Topo), Within: within(&s.Config, s.Topo),
			Garbage: garbage(&s.Config, s.Topo, ofLeader)},
		Verbose: os.Getenv(VerboseEnv) != ""}
}

// fewNodes is how many switches and hosts leave enough of two cores and of their memory for replicas beside them.
const fewNodes = 512

// silence is how long a leader can be silent beside a fabric that is kept up: on processors that it keeps busy while it
// comes up, a leader that is replaced in vain makes the next one program all switches again. Runs of jobs have the
// default, since they measure how long there is no leader.
func silence(o *ChildConfig, f *topo.Fabric) time.Duration {
	nodes := len(f.Topology.Nodes())
	if !o.Stay || nodes <= fewNodes {
		return 0
	}
	return replica.DefaultTimeouts().Heartbeat * time.Duration(nodes) / fewNodes
}

// within is how long a switch of a large fabric that is kept up may take for a Set or a read: all are programmed at
// once, and what does not come in time is sent and read again.
func within(o *ChildConfig, f *topo.Fabric) time.Duration {
	nodes := len(f.Topology.Nodes())
	if !o.Stay || nodes <= fewNodes {
		return 0
	}
	return 20 * time.Millisecond * time.Duration(nodes)
}

// samplePeriod is the interval between the switches' counter reports: a millisecond a link and direction on large
// fabrics that are kept up, whose reports would keep half of a processor busy. Runs of jobs have the default.
func samplePeriod(o *ChildConfig, f *topo.Fabric) time.Duration {
	if !o.Stay {
		return server.DefaultSamplePeriod
	}
	return max(server.DefaultSamplePeriod, time.Duration(len(f.Topology.Links()))*time.Millisecond)
}

// Devices returns the addresses of the switches.
func (s *Testbed) Devices() (all inventory.Devices) {
	for _, id := range slices.Sorted(maps.Keys(s.Packets.Switches)) {
		sw := s.Packets.Switches[id]
		all = append(all, inventory.Device{Name: sw.Name(), Address: sw.Addr().String(),
			Profile: s.Config.Profiles.of(s.Topo.Topology.Node(id).Role)})
	}
	return all
}

// serve runs switches, targets, the agent and the replicas until ctx ends.
func (s *Testbed) serve(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.Packets.run(ctx) })
	g.Go(func() error {
		select {
		case <-s.Packets.raised:
			return s.discovery.run(ctx)
		case <-ctx.Done():
			return nil
		}
	})
	g.Go(func() error { return s.Packets.Agent.Serve(ctx, s.agent.ln, s.agent.id.Server(pki.Controller)) })
	g.Go(func() error { return s.Cluster.Run(ctx) })
	return g.Wait()
}

// play waits for the controller, runs the scenario, and reports the outcome.
func (s *Testbed) play(ctx context.Context, out *speaker,
	keep func(context.Context, *Testbed, *os.File) error) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	out.say(Event{Ready: true})
	if s.Config.Stay || s.Config.Hold {
		return keep(ctx, s, os.NewFile(controlFD, "control"))
	}
	if err := s.beginRun(ctx); err != nil {
		return err
	}
	o, err := testbed.Run(ctx, s, &s.Config.Scenario, func(ended int) { out.say(Event{Done: ended}) })
	if err != nil {
		return err
	}
	if err := s.explain(out, o); err != nil {
		return err
	}
	out.say(Event{Outcome: o})
	return nil
}

// ready waits until a leader has programmed every switch and read it back. On a busy machine the
// controller starts before that, so the switches are checked as well, and it may take longer.
func (s *Testbed) ready(ctx context.Context) error {
	var left []southbound.DeviceID
	if s.Topo.Racks > 1 {
		left = s.Packets.packetSwitches()
	}
	began, before, running := time.Now(), readLoad(), 0
	patient := newPatience(len(left))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if left = s.Packets.unprogrammed(left); len(left) == 0 && s.Packets.up() && s.Cluster.Lead(ctx, s.Client) {
			return nil
		}
		took, now := time.Since(began), readLoad()
		running = max(running, now.running)
		if crowd := now.since(before, took, running); patient.over(took, len(left), crowd.busy()) {
			return s.notReady(took, left, crowd)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the controller: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// notReady says why the fabric is not up: the controller, or a machine that is too busy for it.
func (s *Testbed) notReady(took time.Duration, left []southbound.DeviceID, crowd crowding) error {
	what := "no leader is ready"
	if len(left) > 0 {
		what = fmt.Sprintf("%s has no rules", s.Topo.Topology.Node(left[0]).Name)
		if len(left) > 1 {
			what = fmt.Sprintf("%s and up to %d others have no rules",
				s.Topo.Topology.Node(left[0]).Name, len(left)-1)
		}
	} else if !s.Packets.up() {
		what = "ports of switches are not up"
	}
	err := fmt.Errorf("wait for the controller: after %v %s", took.Round(time.Second), what)
	if crowd.busy() {
		return hint.Wrap(fmt.Errorf("%w: this machine is too busy: %v", err, crowd),
			"end other work on it, or take a smaller fabric")
	}
	return err
}

// beginRun makes this instant the begin of the scenario.
func (s *Testbed) beginRun(ctx context.Context) (err error) {
	if off, err := s.probeCoflow(ctx); err == nil {
		s.run.probed = &off
	}
	s.run.timers = watchTimers(ctx)
	if s.run.since, err = s.Packets.Net.Counters(); err != nil {
		return err
	}
	s.run.kill = s.Config.Kill
	s.Start(ctx)
	s.run.queueSamples = s.sampleQueues(s.Context)
	return nil
}

// Fabric implements Testbed.
func (s *Testbed) Fabric() *topo.Fabric { return s.Topo }

// Received implements Testbed.
func (s *Testbed) Received() pathmap.Bytes { return s.Packets.Agent.Stats().BytesReceived }

// Carried implements testbed.Carrier, for the links of switches.
func (s *Testbed) Carried() ([]pathmap.Bytes, error) { return s.Packets.Net.Sent() }

// Apart implements testbed.Carrier: a reading lists the queues of all ports.
func (s *Testbed) Apart() time.Duration { return 250 * time.Millisecond }

// Wait implements Testbed. It kills leaders when the configuration says so.
func (s *Testbed) Wait(ctx context.Context) error {
	r := &s.run
	err := s.Remote.Wait(ctx)
	if err != nil && (ctx.Err() != nil || !s.Cluster.Gone()) {
		return err
	}
	st := s.Last
	r.change = max(r.change, int64(st.LeaderChanges))
	if len(r.kill) > 0 && err == nil && st.Index >= r.kill[0].Applied && st.Leader != "" &&
		st.JobsEnded < len(s.Config.Jobs) {
		took, err := s.Cluster.KillLeader(ctx, s.Client, st)
		if err != nil {
			return err
		}
		r.outage = max(r.outage, took)
		r.kill = r.kill[1:]
	}
	if s.stuck() {
		return testbed.ErrStill
	}
	return nil
}

// stuck reports whether nothing more will happen: a fault remains, the last fault event has passed, and
// for a while no bytes were received and no task ran.
func (s *Testbed) stuck() bool {
	const idle = 5 * time.Second
	r, now := &s.run, s.Now()
	if n := s.Received(); n != r.bytes {
		r.bytes, r.grown = n, now
	}
	last := max(s.Config.LastArrival(), s.Config.LastFault(), r.grown)
	return r.down.Load() > 0 && now >= last+idle && s.Packets.Agent.Status().LiveTasks == 0
}

// Measure implements Testbed. Every replica that is left must hold the same state.
func (s *Testbed) Measure(ctx context.Context) (o *outcome.Outcome, err error) {
	queues, err := s.run.queueSamples(s.run.since)
	s.End()
	if err != nil {
		return nil, err
	}
	settings := s.Packets.Net.Settings()
	o = &outcome.Outcome{Row: s.Config.Row, Assumed: s.delta, Net: settings,
		Dataplane: settings.Dataplane, Queues: queues,
		Work:    report.Work{LeaderOutage: s.run.outage.Seconds()},
		Leaders: outcome.Leaders{LeaderChanges: s.run.change}}
	if o.State, err = testbed.StateOf(ctx, s.Client); err != nil {
		return nil, err
	}
	if o.Digest, err = s.Cluster.Agree(ctx, s.Client); err != nil {
		return nil, err
	}
	if err := s.Packets.count(o, s.run.since); err != nil {
		return nil, err
	}
	if whole := state.New(s.Topo); len(s.Config.Faults) > 0 {
		if snap, err := json.Marshal(o.State); err == nil && whole.Restore(snap) == nil {
			o.Reasons = whole.Reasons()
		}
	}
	if err := s.watched(o); err != nil {
		return nil, err
	}
	o.End = s.Clock()
	o.Health = s.health(ctx)
	o.Shift(s.Remote.Begin)
	return o, nil
}

// Close implements Testbed.
func (s *Testbed) Close() error {
	var errs []error
	for _, end := range s.run.ends {
		end()
	}
	if s.Client != nil {
		s.Client.Close()
	}
	if s.Cluster != nil {
		errs = append(errs, s.Cluster.Close())
	}
	if s.agent != nil {
		_ = s.agent.ln.Close() // closed already where it has been serving
	}
	return errors.Join(append(errs, s.discovery.close(), s.Packets.close(), os.RemoveAll(s.fences))...)
}
