package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/emulator/netns"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/pki"
)

// Descriptors of the process inside, after the standard three.
const (
	ordersFD  = 3
	wordsFD   = 4
	controlFD = 5
)

// Inside is the process in the new namespaces: it builds the fabric, puts a gNMI target in front of every switch, starts
// the replicas of the controller as processes of their own, replays the jobs, and tells what came of it.
func Inside(ctx context.Context, stderr io.Writer) error {
	orders, words := os.NewFile(ordersFD, "orders"), os.NewFile(wordsFD, "words")
	if orders == nil || words == nil {
		return errors.New("inside: this command is for lightloom itself; try lightloom demo")
	}
	out := &speaker{enc: json.NewEncoder(words)}
	err := inside(ctx, orders, out, stderr)
	if err != nil {
		w := word{Error: err.Error()}
		var hinted interface{ Hint() string }
		if errors.As(err, &hinted) {
			w.Hint = hinted.Hint()
		}
		out.say(w)
	}
	return err
}

// speaker writes words, one at a time.
type speaker struct {
	mu  sync.Mutex
	enc *json.Encoder
}

// say tells the parent. If it is gone, so is this process in a moment.
func (s *speaker) say(w word) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.enc.Encode(w)
}

func inside(ctx context.Context, orders io.Reader, out *speaker, stderr io.Writer) (err error) {
	var o order
	if err := json.NewDecoder(orders).Decode(&o); err != nil {
		return fmt.Errorf("read orders: %w", err)
	}
	if _, err := netns.Prepare(); err != nil {
		return err
	}
	s, err := newStage(o, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	ctx, cancel := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.serve(ctx) })
	g.Go(func() error {
		defer cancel()
		return s.play(ctx, out)
	})
	return g.Wait()
}

// stage is everything inside: the fabric, the servers in front of it, and the controller.
type stage struct {
	order  order
	fabric *topo.Fabric
	plant  *plant
	ca     *pki.Authority
	epoch  time.Time
	clock  func() time.Duration
	delta  time.Duration

	discovery *discovery // nil: nobody speaks LLDP
	tally     *tally

	targets  []*server // gNMI, by switch
	front    map[southbound.DeviceID]*front
	failing  failing
	agent    *server
	replicas *replicas
	client   *api.Client
	stderr   io.Writer
}

// newStage builds the fabric and opens every listener. It starts nothing.
func newStage(o order, stderr io.Writer) (*stage, error) {
	f, err := topo.New(o.Row.Spec)
	if err != nil {
		return nil, err
	}
	budget, err := parseDelays(o.Delays, o.Row.Spec)
	if err != nil {
		return nil, err
	}
	s := &stage{order: o, fabric: f, epoch: time.Now(), stderr: stderr, delta: defaultControl().delta(budget.optical())}
	s.clock = clockFrom(s.epoch)
	s.front = map[southbound.DeviceID]*front{}
	s.openFaults()
	if s.ca, err = pki.New(24 * time.Hour); err != nil {
		return nil, err
	}
	if s.plant, err = newPlant(f, o.Net, o.Seed, o.Row.AllStop, budget, s.clock); err != nil {
		return nil, err
	}
	s.tally = newTally(f.Topology, s.plant.net.Counters, s.clock)
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stage) listen() (err error) {
	if s.order.Stay {
		if s.discovery, err = s.openDiscovery(); err != nil {
			return err
		}
	}
	if err = s.openTargets(); err != nil {
		return err
	}
	if s.agent, err = s.newServer(pki.Agent, agentName); err != nil {
		return err
	}
	dir, err := privateDir()
	if err != nil {
		return err
	}
	c := s.charge()
	c.Explain = s.order.whyFile(dir)
	if s.replicas, err = newReplicas(s.order.Replicas, c, s.ca.Issue, privatePorts, dir, s.stderr); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	id, err := s.ca.Issue(pki.Client, "replay")
	if err != nil {
		return err
	}
	s.client, err = api.Dial(s.replicas.addrs(), id.Client("", pki.Controller))
	return err
}

// charge is what every replica is told.
func (s *stage) charge() charge {
	c := charge{Epoch: s.epoch, Row: s.order.Row, Parts: s.order.Parts, Seed: s.order.Seed, Elephants: s.order.Elephants,
		Delta: s.delta, Agent: s.agent.ln.Addr().String(), Devices: map[string]string{}, Sample: DefaultSamplePeriod, Verbose: os.Getenv("LIGHTLOOM_VERBOSE") != ""}
	for _, t := range s.targets {
		c.Devices[t.name] = t.ln.Addr().String()
	}
	return c
}

func (s *stage) close() error {
	var errs []error
	if s.client != nil {
		s.client.Close()
	}
	if s.replicas != nil {
		errs = append(errs, s.replicas.close())
	}
	for _, t := range append(s.targets, s.agent) {
		if t != nil {
			_ = t.ln.Close() // closed already where it has been serving
		}
	}
	return errors.Join(append(errs, s.discovery.close(), s.plant.close())...)
}

// serve runs switches, targets, the agent and the replicas until ctx ends.
func (s *stage) serve(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.plant.run(ctx) })
	g.Go(func() error { return s.discovery.run(ctx) })
	for _, f := range s.front {
		g.Go(func() error { return f.run(ctx) })
	}
	g.Go(func() error { return s.plant.agent.Serve(ctx, s.agent.ln, s.agent.id.Server(pki.Controller)) })
	g.Go(func() error { return s.replicas.run(ctx) })
	return g.Wait()
}

// play waits for the controller, submits the jobs when they arrive, and tells the outcome once all have ended.
func (s *stage) play(ctx context.Context, out *speaker) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	out.say(word{Ready: true})
	if s.order.Stay {
		return s.stay(ctx)
	}
	if s.order.Failover != nil {
		return s.failover(ctx, out)
	}
	since, err := s.plant.net.Counters()
	if err != nil {
		return err
	}
	begin := s.clock()
	looks := s.lookAtQueues(ctx)
	defer s.observe()()
	g, gctx := errgroup.WithContext(ctx)
	faults, last := context.WithCancel(gctx) // what is still to come when all jobs have ended does not
	defer last()
	g.Go(func() error { return s.schedule(faults, begin) })
	for i := range s.order.Jobs {
		g.Go(func() error { return s.submit(gctx, begin, i) })
	}
	g.Go(func() error { return s.stop(faults, begin) })
	o, err := s.follow(gctx, out, begin)
	last()
	if err := errors.Join(g.Wait(), err); err != nil {
		return err
	}
	if o.Queues, err = looks(since); err != nil {
		return err
	}
	if err := s.plant.count(o, since); err != nil {
		return err
	}
	o.Row, o.Assumed, o.Net, o.Dataplane = s.order.Row, s.delta, s.plant.net.Settings(), s.plant.net.Settings().Dataplane
	o.End = s.clock()
	s.tell(o, begin)
	o.shift(begin)
	if err := s.explain(out, o, begin); err != nil {
		return err
	}
	out.say(word{Outcome: o})
	return nil
}

// readyWithin bounds how long the controller may take to elect a leader and to program the switches; a fabric of many is
// given readyPerSwitch for each beside.
const (
	readyWithin    = 20 * time.Second
	readyPerSwitch = 200 * time.Millisecond
)

// ready waits until a replica leads that has brought every switch into its state and read it back. On a busy machine the
// controller begins before that, so the switches are asked, too.
func (s *stage) ready(ctx context.Context) error {
	var left []southbound.DeviceID
	if s.fabric.Racks > 1 {
		left = s.plant.packetSwitches()
	}
	within := readyWithin + time.Duration(len(left))*readyPerSwitch
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("the controller has not programmed all switches within %v", within))
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if left = s.plant.unprogrammed(left); len(left) == 0 && s.replicas.lead(ctx, s.client) {
			return nil
		}
		select {
		case <-ctx.Done():
			err := fmt.Errorf("wait for the controller: %w", context.Cause(ctx))
			if len(left) > 0 {
				err = fmt.Errorf("%w: %s and perhaps others have no rules", err, s.fabric.Topology.Node(left[0]).Name)
			}
			return err
		case <-tick.C:
		}
	}
}

// submit waits for a job's arrival and hands it to the controller, through whichever replica answers.
func (s *stage) submit(ctx context.Context, begin time.Duration, i int) error {
	j := s.order.Jobs[i]
	j.Arrival += begin
	timer := time.NewTimer(j.Arrival - s.clock())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	_, err := s.client.Submit(ctx, fmt.Sprintf("job-%d", i), []*controller.Job{&j})
	if err != nil {
		return fmt.Errorf("submit job %d (%q): %w", i, j.Name, err)
	}
	return nil
}

// follow watches the run until every job has ended, kills leaders where the order says so, and returns the state.
func (s *stage) follow(ctx context.Context, out *speaker, begin time.Duration) (*outcome, error) {
	o := &outcome{}
	kill := s.order.Kill
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for done := 0; done < len(s.order.Jobs); {
		s.sample()
		if s.ended(begin) || s.stuck(begin) {
			break
		}
		st, err := s.client.Status(ctx)
		if err != nil && (ctx.Err() != nil || !s.replicas.gone()) {
			return nil, fmt.Errorf("follow the run: %w", err)
		}
		o.LeaderChanges = max(o.LeaderChanges, int64(st.LeaderChanges))
		if int(st.JobsEnded) > done {
			done = int(st.JobsEnded)
			out.say(word{Done: done})
		}
		if len(kill) > 0 && st.Index >= kill[0].Applied && st.Leader != "" && done < len(s.order.Jobs) {
			took, err := s.replicas.killLeader(ctx, s.client, st)
			if err != nil {
				return nil, err
			}
			o.LeaderOutage = max(o.LeaderOutage, took)
			kill = kill[1:]
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
	return o, s.settle(ctx, o)
}

// settle reads the final state and makes sure that every replica that is left holds the same.
func (s *stage) settle(ctx context.Context, o *outcome) error {
	snap, err := s.client.State(ctx)
	if err != nil {
		return fmt.Errorf("read the final state: %w", err)
	}
	o.State = &state.Data{}
	if err := json.Unmarshal(snap.JSON, o.State); err != nil {
		return fmt.Errorf("read the final state: %w", err)
	}
	digest, err := s.replicas.agree(ctx, s.client)
	o.Digest = digest
	return err
}

// shift makes begin the instant 0 of everything in the outcome.
func (o *outcome) shift(begin time.Duration) {
	back := func(ts ...*time.Duration) {
		for _, t := range ts {
			if *t > 0 && *t != southbound.Never {
				*t -= begin
			}
		}
	}
	for _, j := range o.State.Jobs {
		back(&j.Arrival, &j.Placed, &j.Started, &j.Ended)
	}
	for _, c := range o.State.Coflows {
		back(&c.Ready, &c.Started, &c.Ended)
	}
	for i := range o.State.Moves {
		m := &o.State.Moves[i]
		back(&m.Intent, &m.Usable, &m.Ended, &m.Stages.Cleared, &m.Stages.Drained, &m.Stages.Accepted, &m.Stages.Connected)
	}
	for i := range o.Lit {
		back(&o.Lit[i].From, &o.Lit[i].To)
	}
	back(&o.End)
}
