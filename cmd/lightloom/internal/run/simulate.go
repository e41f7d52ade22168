package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller/demand"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/emulator/flowsim"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// simulation is one row on the flow-level simulator: the same Step as everywhere, an unserialised log, the direct door.
type simulation struct {
	setup *setup
	row   row
	ctl   control
	sim   *flowsim.Sim
	meter *meter
	state *state.State
	loop  *loop.Loop
	paths *pathmap.Map
	index *pathmap.Live // nil where nothing fails
	delta time.Duration

	budget  delays
	chance  *rand.Rand                            // of what the controller takes
	arrived map[southbound.DeviceID]time.Duration // when the last Set reaches its device: none overtakes another

	queues   *queueWatch   // nil: nobody asked
	circuits *circuitWatch // nil: nobody asked, or there are none
	moved    *moved        // nil: there are no circuits

	in       loop.Inputs
	left     func(southbound.CoflowID) (southbound.Left, bool)
	counters func() (demand.Sample, error)
	next     int           // first job that has not arrived
	now      time.Duration // of sim
	events   int64

	// crash, where set, is asked after entries have been applied: true kills the controller before it acts, and a new
	// one takes over on a copy of the state. lives counts them.
	crash func() bool
	lives int

	broken *breakdown // nil: nothing fails
	seats  seats
	err    error // of what happened within Advance
}

// simulate runs a row to its end. progress, which may be nil, is told how many jobs have ended.
func simulate(ctx context.Context, s *setup, r row, progress func(done int)) (*outcome, error) {
	x, err := newSimulation(s, r)
	if err != nil {
		return nil, err
	}
	if err := x.run(ctx, progress); err != nil {
		return nil, fmt.Errorf("simulate %s: %w", r.Name, err)
	}
	return x.outcome(), nil
}

func newSimulation(s *setup, r row) (*simulation, error) {
	f, err := topo.New(r.Spec)
	if err != nil {
		return nil, err
	}
	paths, index, err := s.pathsOf(f, r)
	if err != nil {
		return nil, err
	}
	budget, err := parseDelays(s.opt.Delays, r.Spec)
	if err != nil {
		return nil, err
	}
	optical := budget.optical()
	opt := flowsim.Options{Seed: s.opt.Seed, Optical: optical, Switch: budget.packet(), NoHeaders: r.Spec.Kind == topo.Crossbar,
		Hairpins: s.opt.Rules.CarryLocal, AllStop: r.AllStop, Quantum: s.quantum()}
	var sums *moved
	if f.HasOCS() {
		sums = newMoved(f.OCSPorts())
		opt.Lit = sums.lit
	}
	sim, err := flowsim.New(f, opt)
	if err != nil {
		return nil, err
	}
	ctl := budget.control(r.Spec)
	x := &simulation{setup: s, row: r, ctl: ctl, budget: budget, chance: rand.New(rand.NewPCG(s.opt.Seed, controlStream)), arrived: map[southbound.DeviceID]time.Duration{},
		sim: sim, meter: newMeter(sim), state: state.New(f), paths: paths, index: index, delta: ctl.delta(optical), moved: sums}
	if s.opt.Rules.PerQueue != "" {
		x.queues = newQueueWatch(sim, len(f.Topology.Links()))
	}
	if s.opt.Rules.PerCircuit != "" {
		x.circuits = newCircuitWatch(sim, x.state)
	}
	x.keep()
	x.left = sim.Host().Left
	x.counters = func() (demand.Sample, error) { return x.meter.read(x.state, sim.Now()) }
	if err := x.plan(); err != nil {
		return nil, err
	}
	return x, x.elect()
}

// pathsOf maps a row's fabric: followed, where something is to fail.
func (s *setup) pathsOf(f *topo.Fabric, r row) (*pathmap.Map, *pathmap.Live, error) {
	if len(s.faults) == 0 {
		m, err := f.PathMap(r.Spec.PathsKept(), s.opt.Seed)
		return m, nil, err
	}
	return follow(f, r.Spec.PathsKept(), s.opt.Seed)
}

// indexedRacks is up to how many racks an index from links to pairs of racks is kept: some 15 MB then.
const indexedRacks = 512

// follow maps a fabric, with the index where that is not too large.
func follow(f *topo.Fabric, k int, seed uint64) (*pathmap.Map, *pathmap.Live, error) {
	if f.Racks > indexedRacks {
		m, err := f.PathMap(k, seed)
		return m, nil, err
	}
	index, err := f.Follow(k, seed)
	if err != nil {
		return nil, nil, err
	}
	return index.Map(), index, nil
}

// verifyRacks is up to how many racks every change to the tables is walked for loops: it takes the cube of their number.
const verifyRacks = 32

// elect makes a new controller on the state, with a fresh policy.
func (x *simulation) elect() error {
	p, err := x.setup.policy(x.row.Policy)
	if err != nil {
		return err
	}
	if err := policy.Prepare(p, x.sim.Host(), x.delta); err != nil {
		return fmt.Errorf("policy %q: %w", x.row.Policy, err)
	}
	x.lives++
	x.loop = loop.New(x.state.Fabric(), loop.Config{Policy: p, Paths: x.paths, Index: x.index, Seed: x.setup.opt.Seed, Delta: x.delta,
		Elephants: x.setup.elephants, Demand: x.row.Demand, Rollout: x.ctl.rollout(x.delta), Patience: time.Second, Verify: x.row.Spec.Racks <= verifyRacks})
	return nil
}

// keep has the state forget old moves once they have been summed up; a file of all circuits wants all.
func (x *simulation) keep() {
	switch {
	case x.circuits != nil:
		x.state.KeepMoves(0, nil)
	case x.moved != nil:
		x.state.KeepMoves(max(simulatedMoves, 8*x.state.Fabric().OCSPorts()), x.moved.forgotten)
	}
}

// simulatedMoves is of how many moves a simulation keeps the records: few enough to stay near the processor. A large switch
// keeps several for each port, lest the records of circuits that stand fill the room.
const simulatedMoves = 1 << 10

// die loses everything that is not replicated.
func (x *simulation) die() error {
	snap, err := x.state.Snapshot()
	if err != nil {
		return err
	}
	x.state = state.New(x.state.Fabric())
	if err := x.state.Restore(snap); err != nil {
		return err
	}
	x.keep()
	x.in = loop.Inputs{Jobs: x.in.Jobs}
	return x.elect()
}

func (x *simulation) run(ctx context.Context, progress func(int)) error {
	reported, due := -1, time.Duration(0)
	for {
		if x.heard() || due <= x.now {
			var err error
			if due, err = x.settle(); err != nil {
				return err
			}
		}
		wake := due
		x.queues.step(x.now)
		x.circuits.step(x.state.Live())
		x.moved.step(x.state.Live())
		if n := x.state.Finished(); progress != nil && n != reported {
			reported = n
			progress(n)
		}
		wake = x.stop(wake)
		if x.over() {
			return nil
		}
		if end := x.setup.opt.until; end > 0 && x.now >= end {
			return nil
		}
		if x.next < len(x.setup.jobs) {
			if at, ok := x.due(); ok {
				wake = min(wake, at)
			}
		}
		if at, ok := x.sim.Next(); ok {
			wake = min(wake, at)
		}
		if wake == southbound.Never {
			if x.broken != nil {
				return nil // what waits, waits for something that has failed
			}
			return fmt.Errorf("stands still at %v with %d of %d jobs ended: what is left may not be sent, or would take more than 70 years", x.now, x.state.Finished(), len(x.setup.jobs))
		}
		if err := x.advance(wake); err != nil {
			return err
		}
		if x.events&0xff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			x.setup.memory.look()
		}
	}
}

// heard says whether anything has come in that the controller has not been told of. What fails is no input: it may have
// another controller lead, whom nobody has asked when it is to be called.
func (x *simulation) heard() bool {
	in := &x.in
	return x.broken != nil || len(in.Jobs)+len(in.Cancels)+len(in.Asks)+len(in.Events)+len(in.Devices)+len(in.Seen)+len(in.Done) > 0
}

// advance moves the fabric to an instant and gathers what came of it.
func (x *simulation) advance(to time.Duration) (err error) {
	x.events++
	x.now = max(to, x.now)
	x.in.Events, x.in.Devices, err = x.sim.Advance(x.now, x.in.Events, x.in.Devices)
	x.queues.arrive(x.now)
	for x.next < len(x.setup.jobs) {
		if at, ok := x.due(); !ok || at > x.now {
			break
		}
		x.in.Jobs = append(x.in.Jobs, loop.Offer{Job: x.offer()})
		x.next++
	}
	return errors.Join(err, x.err)
}

// settle steps until nothing more happens at this instant, and returns when to step again.
func (x *simulation) settle() (time.Duration, error) {
	for {
		now := x.now
		if x.seats.vacant {
			return southbound.Never, nil
		}
		in := &x.in
		in.Left, in.Counters = x.left, x.counters
		entries, act, wake := x.loop.Step(x.state, now, *in)
		in.Jobs, in.Cancels, in.Asks, in.Counts = in.Jobs[:0], in.Cancels[:0], in.Asks[:0], in.Counts[:0]
		in.Events, in.Devices, in.Seen, in.Done = in.Events[:0], in.Devices[:0], in.Seen[:0], in.Done[:0]
		if len(entries) > 0 {
			if err := x.state.ApplyAll(entries); err != nil {
				return 0, err
			}
			if x.crash != nil && x.crash() {
				if err := x.die(); err != nil {
					return 0, err
				}
				continue
			}
		}
		if err := x.grave(act.Errs); err != nil {
			return 0, err
		}
		err := x.act(act)
		if err != nil {
			return 0, err
		}
		// What takes no time, such as a device's first rules, happens before anything else does.
		if acts(act) {
			x.in.Events, x.in.Devices, err = x.sim.Advance(now, x.in.Events, x.in.Devices)
		}
		if err != nil {
			return 0, err
		}
		if wake > now && len(x.in.Seen)+len(x.in.Done)+len(x.in.Events)+len(x.in.Devices) == 0 {
			return wake, nil
		}
	}
}

// acts says whether any of some actions is for the fabric: else it is as it was left.
func acts(a *loop.Actions) bool {
	return a.Rates != nil || len(a.Start)+len(a.Steer)+len(a.Run)+len(a.First)+len(a.Sets)+len(a.Reads) > 0
}

func (x *simulation) act(a *loop.Actions) error {
	h := x.sim.Host()
	var errs []error
	if len(a.Start) > 0 {
		errs = append(errs, h.Start(a.Start))
	}
	if len(a.Steer) > 0 {
		errs = append(errs, h.Steer(a.Steer))
	}
	if a.Rates != nil {
		errs = append(errs, h.SetRates(a.Rates))
	}
	if len(a.Run) > 0 {
		errs = append(errs, h.Run(a.Run))
	}
	x.send(a.First, len(a.Reads) > 0)
	x.send(a.Sets, len(a.Reads) > 0)
	for _, d := range a.Reads {
		seen, err := x.sim.Device(d).Read(context.Background())
		x.in.Seen = append(x.in.Seen, loop.DeviceSeen{Device: d, Seen: seen, Err: err})
	}
	return errors.Join(errs...)
}

// send has Sets reach their devices when they would: at once where that takes no time and nobody reads a device that they
// have not reached yet.
func (x *simulation) send(sets []rollout.Set, reads bool) {
	life := x.lives
	for i := range sets {
		s, after := &sets[i], x.budget.draw(x.chance)
		free := after == 0 && !reads && (len(x.arrived) == 0 || x.arrived[s.Device] <= x.now)
		if !x.loop.Ready() || free { // the fabric is brought into its first state before the run begins
			x.set(s, life)
			continue
		}
		set := *s
		at := max(x.sim.Now()+after, x.arrived[set.Device])
		x.arrived[set.Device] = at
		x.sim.At(at, func() { x.set(&set, life) })
	}
}

// set sets a device on behalf of a controller, and tells it what came of it unless it has died.
func (x *simulation) set(s *rollout.Set, life int) {
	err := x.sim.Device(s.Device).Set(context.Background(), &s.Change)
	if life == x.lives {
		x.in.Done = append(x.in.Done, loop.SetDone{Device: s.Device, Token: s.Token, Err: err})
	}
}

func (x *simulation) outcome() *outcome {
	c := x.sim.Counters()
	o := &outcome{
		Row: x.row, State: x.state.Data(), Assumed: x.delta, Decisions: x.loop.Decisions(), Steps: x.events,
		OCS: c.OCS, EPS: c.EPS, Basis: "payload", Dropped: int64(c.Dropped), Stalls: c.Stalls,
		Carried: x.circuits.close(x.state.Data()), Queues: x.queues.loads(x.sim.Now(), c.Wire),
		Lit: c.Lit, DarkSource: "model", End: x.sim.Now(), Busiest: busiest(x.state.Fabric(), c.Wire, x.sim.Now()),
	}
	x.moved.close(o.State, c.Lit, o.End)
	o.moved = x.moved
	x.tell(o)
	return o
}

// simulateCrashes is simulate with a controller that dies whenever crash says so.
func simulateCrashes(s *setup, crash func() bool) (*outcome, int, error) {
	x, err := newSimulation(s, s.rows[0])
	if err != nil {
		return nil, 0, err
	}
	x.crash = crash
	if err := x.run(context.Background(), nil); err != nil {
		return nil, x.lives, err
	}
	return x.outcome(), x.lives, nil
}

// busiest is the load of the busiest link between switches over a run: bytes of layer 2 over what it could have carried.
func busiest(f *topo.Fabric, wire []pathmap.Bytes, over time.Duration) float64 {
	most := 0.0
	for l, link := range f.Topology.Links() {
		if could := link.Capacity.In(over); could > 0 && f.Topology.Node(link.From).Role != pathmap.Host && f.Topology.Node(link.To).Role != pathmap.Host {
			most = max(most, float64(wire[l])/float64(could))
		}
	}
	return most
}
