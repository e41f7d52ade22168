package simulated

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/explain"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/emulator/flowsim"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/pathmap"
	"lightloom/pathmap/live"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Testbed is a scenario's fabric on the flow-level simulator. The controller is the same Step as
// everywhere; its log entries are applied without serialising, and devices and hosts are called
// directly.
type Testbed struct {
	s     *scenario.Scenario
	Env   Options
	Sim   *flowsim.Sim
	State *state.State
	loop  *loop.Loop
	asks  controller.Policy // of loop
	paths *pathmap.Map
	index *live.Paths // nil where nothing fails
	notes notes

	control   control
	Seats     simulatedReplicas
	multihops loop.MultihopCounts // of controllers that have died

	in     loop.Inputs
	begun  bool
	due    time.Duration // when to step again
	now    time.Duration // of sim
	events int64
	err    error // of what happened within Advance
}

// Options are the options of a simulation beside its scenario. All can be nil.
type Options struct {
	Policy func() controller.Policy // in place of what the scenario names
	Why    *explain.Writer
	Memory *MemoryLimit

	// Crash is called after entries have been applied. If it returns true, the controller dies before it
	// acts, and a new one takes over on a copy of the state.
	Crash func() bool
}

// control holds the controller's delays, and what it has sent.
type control struct {
	rollout.Control
	delta   time.Duration                         // the reconfiguration delay that schedules reckon with
	chance  *rand.Rand                            // of what the controller takes
	arrived map[southbound.DeviceID]time.Duration // when the last Set reaches its device: none overtakes another
	steered time.Duration                         // likewise, the last hosts to be steered
	refused error                                 // by hosts that were steered late
}

// notes holds the records of a simulation while it runs.
type notes struct {
	meter    *meter
	queues   *queueWatch       // nil: not requested
	circuits *circuitWatch     // nil: not requested, or no circuits
	moved    *outcome.MoveSums // nil: there are no circuits
	left     func(southbound.CoflowID) (southbound.Remaining, bool)
	brief    func(southbound.CoflowID) (southbound.Remaining, bool)
	total    func(southbound.CoflowID) (float64, bool)
	counters func() (demand.Sample, error)
	usages   []loop.Usage
	proofs   outcome.Proofs
}

// used returns what records how reservations are used; nil if that is not requested.
func (n *notes) used(requested bool) func(loop.Usage) {
	if !requested {
		return nil
	}
	return func(u loop.Usage) {
		for _, c := range []*loop.Count{&u.AtMade, &u.AtService, &u.AtEnd} {
			c.Actual, c.Age = c.Bytes, 0
		}
		n.usages = append(n.usages, u)
	}
}

var _ testbed.Testbed = (*Testbed)(nil)

// New makes a testbed for a scenario, with an elected controller.
func New(s *scenario.Scenario, env Options) (*Testbed, error) {
	f, err := topo.New(s.Row.Spec)
	if err != nil {
		return nil, err
	}
	opt := flowsim.Options{Seed: s.Seed, Optical: s.Delays.Optical(), Own: s.Delays.Own, Switch: s.Delays.Packet(),
		NoHeaders: s.Row.Spec.Kind == topo.Crossbar, Hairpins: s.Rules.CarryLocal, AllStop: s.Row.AllStop,
		Quantum: s.Quantum, Proportional: s.Rules.Proportional}
	var sums *outcome.MoveSums
	if f.HasOCS() {
		sums = outcome.NewMoveSums(f.OCSPorts())
		opt.Lit = sums.Lit
	}
	x := &Testbed{s: s, Env: env, State: state.New(f)}
	if x.Sim, err = flowsim.New(f, opt); err != nil {
		return nil, err
	}
	if err := x.mapPaths(f); err != nil {
		return nil, err
	}
	ctl := s.Delays.Control(s.Row.Spec)
	x.control = control{Control: ctl, delta: ctl.Delta(s.Delays.Slowest().Quantile(0.9)),
		chance: rand.New(rand.NewPCG(s.Seed, scenario.ControlStream)), arrived: map[southbound.DeviceID]time.Duration{}}
	x.note(sums)
	x.Seats.dead = make([]bool, max(1, s.Replicas))
	if f.HasOCS() && slices.ContainsFunc(s.Faults, func(e fault.Event) bool { return e.Kind == fault.Fibre }) {
		x.Sim.Patch()
	}
	return x, x.elect()
}

// mapPaths maps the fabric, and adds the index that follows links if the scenario has faults.
func (x *Testbed) mapPaths(f *topo.Fabric) (err error) {
	k := x.s.Row.Spec.PathsKept()
	if len(x.s.Faults) == 0 {
		x.paths, err = f.PathMap(k, x.s.Seed)
	} else {
		x.paths, x.index, err = f.Indexed(k, x.s.Seed)
	}
	return err
}

// note starts the records that the scenario requests.
func (x *Testbed) note(sums *outcome.MoveSums) {
	n := &x.notes
	n.moved, n.meter, n.left, n.total = sums, newMeter(x.Sim), x.Sim.Host().Remaining, x.Sim.Total
	n.brief = x.Sim.Brief
	n.counters = func() (demand.Sample, error) { return n.meter.read(x.State, x.Sim.Now()) }
	if x.s.Rules.PerQueue != "" {
		n.queues = newQueueWatch(x.Sim, len(x.Fabric().Topology.Links()))
	}
	if x.s.Rules.PerCircuit != "" {
		n.circuits = newCircuitWatch(x.Sim, x.State)
	}
	x.keep()
}

// Fabric implements Testbed.
func (x *Testbed) Fabric() *topo.Fabric { return x.State.Fabric() }

// Now implements Testbed.
func (x *Testbed) Now() time.Duration { return x.Sim.Now() }

// At implements Testbed.
func (x *Testbed) At(t time.Duration, f func(context.Context) error) {
	x.Sim.At(t, func() {
		if err := f(context.Background()); err != nil {
			x.err = errors.Join(x.err, err)
		}
	})
}

// Submit implements Testbed.
func (x *Testbed) Submit(_ context.Context, _ int, j *controller.Job) error {
	x.in.Jobs = append(x.in.Jobs, controller.Offer{Job: j, Recorded: true})
	return nil
}

// CancelAll implements Testbed.
func (x *Testbed) CancelAll(context.Context) (bool, error) {
	x.in.Jobs = nil
	if x.Seats.vacant {
		return false, nil
	}
	for _, j := range x.State.Live().Jobs {
		if j.Ended == state.Unset {
			x.in.Cancels = append(x.in.Cancels, loop.Cancel{Job: j.ID})
		}
	}
	x.due = x.now
	return true, nil
}

// OnTables implements Testbed.
func (x *Testbed) OnTables(f func(time.Duration, device.Applied)) {
	for _, id := range x.Sim.Devices() {
		x.Sim.Do(id, func(_ time.Duration, d *device.Device) {
			d.OnApplied(func(a device.Applied) { f(a.At, a) })
		})
	}
}

// Jobs implements Testbed.
func (x *Testbed) Jobs() (accepted, ended int) {
	return len(x.State.Live().Jobs) + len(x.in.Jobs), x.State.Finished()
}

// Received implements Testbed.
func (x *Testbed) Received() pathmap.Bytes { return x.Sim.Counters().Delivered }

// Carried implements testbed.Carrier.
func (x *Testbed) Carried() ([]pathmap.Bytes, error) { return x.Sim.Carried(), nil }

// Apart implements testbed.Carrier: what reads a fluid does not disturb it.
func (x *Testbed) Apart() time.Duration { return time.Millisecond }

// Close implements Testbed.
func (x *Testbed) Close() error { return policy.Close(x.asks) }

// Wait implements Testbed. It moves the fabric to the next event and steps there.
func (x *Testbed) Wait(ctx context.Context) error {
	if x.begun {
		wake := x.due
		if at, ok := x.Sim.Next(); ok {
			wake = min(wake, at)
		}
		if wake == southbound.Never {
			return fmt.Errorf("%w at %v with %d of %d jobs ended: %s", testbed.ErrStill, x.now, x.State.Finished(),
				len(x.s.Jobs), x.waits())
		}
		if err := x.Advance(wake); err != nil {
			return err
		}
		if x.events&0xff == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			x.Env.Memory.sample()
		}
	}
	if x.begun = true; x.heard() || x.due <= x.now {
		var err error
		if x.due, err = x.settle(); err != nil {
			return err
		}
	}
	n := &x.notes
	n.queues.step(x.now)
	n.circuits.step(x.State.Live())
	n.moved.Step(x.State.Live())
	return nil
}

// waits says why nothing more happens: what the first job waits for, if that is known.
func (x *Testbed) waits() string {
	for _, j := range x.State.Data().Jobs {
		if why := x.State.Why(j); why != "" {
			return fmt.Sprintf("job %q (%d) waits: %s", j.Name, j.ID, why)
		}
	}
	return "what is left may not be sent, or would take more than 70 years"
}

// verifyRacks is the most racks for which every change to the tables is checked for loops. The check
// takes the cube of their number.
const verifyRacks = 32

// elect starts a new controller on the state, with a fresh policy.
func (x *Testbed) elect() error {
	s := x.s
	if err := policy.Close(x.asks); err != nil {
		return err
	}
	p, err := x.policy()
	if err != nil {
		return err
	}
	x.asks = p
	delta := x.control.delta
	if err := policy.Prepare(p, x.Sim.Host(), delta); err != nil {
		return fmt.Errorf("policy %q: %w", s.Row.Policy, err)
	}
	x.Seats.Lives++
	if x.loop != nil {
		x.multihops.Add(x.loop.Multihops())
	}
	x.loop = loop.New(x.Fabric(), loop.Config{Policy: p, Paths: x.paths, Index: x.index,
		Seed: s.Seed, Delta: delta, Deltas: s.Delays.Deltas(x.control.Control),
		ElephantThreshold: s.ElephantThreshold, Demand: s.Row.Demand, Rollout: x.control.Options(delta),
		Patience: time.Second,
		Used:     x.notes.used(s.Reservations),
		Verify:   s.Row.Spec.Racks <= verifyRacks})
	return nil
}

// policy makes a fresh policy.
func (x *Testbed) policy() (controller.Policy, error) {
	if x.Env.Policy != nil {
		p := x.Env.Policy()
		if x.s.Overrides.ReadsBeside {
			policy.ReadBeside(p)
		}
		return p, nil
	}
	s := x.s
	if x.notes.proofs == nil {
		x.notes.proofs = outcome.Proofs{}
	}
	return policy.New(s.Row.Policy, policy.Options{Overrides: s.Overrides, Redecide: s.Rules.Redecide,
		Explain: x.Env.Why.Teller(s.Row.Policy), Prove: x.notes.proofs.Tell})
}

// keep makes the state forget old moves once they have been summed up; a file of all circuits needs all.
func (x *Testbed) keep() {
	switch {
	case x.notes.circuits != nil:
		x.State.KeepMoves(0, nil)
	case x.notes.moved != nil:
		x.State.KeepMoves(max(simulatedMoves, 8*x.State.Fabric().OCSPorts()), x.notes.moved.Forgotten)
	}
}

// simulatedMoves is how many moves a simulation keeps records of: few enough for the processor's
// caches. A large switch keeps several for each port, so that records of present circuits do not fill
// them.
const simulatedMoves = 1 << 10

// die replaces the controller, which loses everything that is not replicated.
func (x *Testbed) die() error {
	snap, err := x.State.Snapshot()
	if err != nil {
		return err
	}
	x.State = state.New(x.State.Fabric())
	if err := x.State.Restore(snap); err != nil {
		return err
	}
	x.keep()
	x.in = loop.Inputs{Jobs: x.in.Jobs}
	return x.elect()
}

// heard reports whether the controller has new input. Faults are not inputs, but can elect a leader
// that has no wake-up scheduled, so it is always true in a run with faults.
func (x *Testbed) heard() bool {
	in := &x.in
	return len(x.s.Faults) > 0 || len(in.Jobs)+len(in.Cancels)+len(in.BandwidthRequests)+len(in.Slices)+len(in.Events)+
		len(in.Devices)+len(in.Seen)+
		len(in.Done) > 0
}

// Advance moves the fabric to an instant and gathers the events until then.
func (x *Testbed) Advance(to time.Duration) (err error) {
	x.events++
	x.now = max(to, x.now)
	x.in.Events, x.in.Devices, err = x.Sim.Advance(x.now, x.in.Events, x.in.Devices)
	x.notes.queues.arrive(x.now)
	return errors.Join(err, x.err)
}

// settle steps until nothing more happens at this instant, and returns when to step next.
func (x *Testbed) settle() (time.Duration, error) {
	for {
		now := x.now
		if x.Seats.vacant {
			return southbound.Never, nil
		}
		in := &x.in
		in.Remaining, in.Brief, in.Total, in.Counters = x.notes.left, x.notes.brief, x.notes.total, x.notes.counters
		entries, act, wake := x.loop.Step(x.State, now, *in)
		in.Jobs, in.Cancels, in.BandwidthRequests, in.Counts = in.Jobs[:0], in.Cancels[:0], in.BandwidthRequests[:0],
			in.Counts[:0]
		in.Slices = in.Slices[:0]
		in.Events, in.Devices, in.Seen, in.Done = in.Events[:0], in.Devices[:0], in.Seen[:0], in.Done[:0]
		if len(entries) > 0 {
			if err := x.State.ApplyAll(entries); err != nil {
				return 0, err
			}
			if x.Env.Crash != nil && x.Env.Crash() {
				if err := x.die(); err != nil {
					return 0, err
				}
				continue
			}
		}
		if err := x.realErrors(act.Errs); err != nil {
			return 0, err
		}
		err := x.act(act)
		if err != nil {
			return 0, err
		}
		// What takes no time, such as a device's first rules, happens before anything else does.
		if acts(act) {
			x.in.Events, x.in.Devices, err = x.Sim.Advance(now, x.in.Events, x.in.Devices)
		}
		if err != nil {
			return 0, err
		}
		if wake > now && len(x.in.Seen)+len(x.in.Done)+len(x.in.Events)+len(x.in.Devices) == 0 {
			return wake, nil
		}
	}
}

// acts reports whether any of the actions changes or reads the fabric.
func acts(a *loop.Actions) bool {
	return a.Rates != nil || len(a.Start)+len(a.Steer)+len(a.Run)+len(a.Urgent)+len(a.Sets)+len(a.Reads) > 0
}

func (x *Testbed) act(a *loop.Actions) error {
	h := x.Sim.Host()
	var start, steer, rates, run error
	if len(a.Start) > 0 {
		start = h.Start(a.Start)
	}
	if len(a.Steer) > 0 {
		steer = x.steer(h, a.Steer)
	}
	if a.Rates != nil {
		rates = h.SetRates(a.Rates)
	}
	if len(a.Run) > 0 {
		run = h.Run(a.Run)
	}
	x.send(a.Urgent, len(a.Reads) > 0)
	x.send(a.Sets, len(a.Reads) > 0)
	for _, d := range a.Reads {
		seen, err := x.Sim.Device(d).Read(context.Background())
		x.in.Seen = append(x.in.Seen, loop.DeviceSeen{Device: d, Seen: seen, Err: err})
	}
	return errors.Join(start, steer, rates, run)
}

// steer tells hosts their host flows' tags after the delay of steering, in the order of decisions.
func (x *Testbed) steer(h southbound.Hosts, all []southbound.Steer) error {
	after := x.s.Delays.DrawSteer(x.control.chance)
	if x.control.steered = max(x.control.steered, x.Sim.Now()+after); x.control.steered <= x.Sim.Now() {
		return h.Steer(all)
	}
	all = slices.Clone(all)
	x.Sim.At(x.control.steered, func() { x.control.refused = errors.Join(x.control.refused, h.Steer(all)) })
	return x.control.refused
}

// send delivers Sets to their devices after the control delay. It delivers at once if that is zero and
// no device is read in this step.
func (x *Testbed) send(sets []rollout.Set, reads bool) {
	life := x.Seats.Lives
	for i := range sets {
		s, after := &sets[i], x.s.Delays.Draw(x.control.chance)
		free := after == 0 && !reads && (len(x.control.arrived) == 0 || x.control.arrived[s.Device] <= x.now)
		if !x.loop.Ready() || free { // the fabric is brought into its first state before the run begins
			x.set(s, life)
			continue
		}
		set := *s
		at := max(x.Sim.Now()+after, x.control.arrived[set.Device])
		x.control.arrived[set.Device] = at
		x.Sim.At(at, func() { x.set(&set, life) })
	}
}

// set applies a Set to a device and passes the result to the controller, unless that has died.
func (x *Testbed) set(s *rollout.Set, life int) {
	err := x.Sim.Device(s.Device).Set(context.Background(), &s.Change)
	if life == x.Seats.Lives {
		x.in.Done = append(x.in.Done, loop.SetDone{Device: s.Device, Token: s.Token, Err: err})
	}
}

// Measure implements Testbed.
func (x *Testbed) Measure(context.Context) (*outcome.Outcome, error) {
	c, n := x.Sim.Counters(), &x.notes
	o := &outcome.Outcome{Row: x.s.Row, State: x.State.Data(), Assumed: x.control.delta,
		Steps: x.events, Stalls: c.Stalls, End: x.Sim.Now(), Queues: n.queues.loads(x.Sim.Now(), c.Wire),
		Traffic: outcome.Traffic{ByNetwork: report.ByNetwork{OCS: c.OCS, EPS: c.EPS, Basis: "payload"},
			Busiest: busiest(x.Fabric(), c.Wire, x.Sim.Now())},
		Work:     report.Work{Decisions: x.loop.Decisions(), LeaderOutage: x.Seats.outage.Seconds()},
		Circuits: outcome.Circuits{Carried: n.circuits.close(x.State.Data()), Lit: c.Lit, DarkSource: "model"}}
	o.DroppedDark, o.Usages, o.Proofs = int64(c.Dropped), n.usages, n.proofs
	n.moved.Close(o.State, c.Lit, o.End)
	o.Sums = n.moved
	o.Multihop = x.multihop(&c)
	if len(x.s.Faults) > 0 {
		o.LeaderChanges, o.Reasons = x.Seats.changes, x.State.Reasons()
	}
	return o, nil
}

// multihop counts paths over several circuits; nil where the policy has none.
func (x *Testbed) multihop(c *flowsim.Counters) *report.Multihop {
	if x.asks == nil || !x.asks.Capabilities().Multihop {
		return nil
	}
	of := x.multihops
	of.Add(x.loop.Multihops())
	return &report.Multihop{Stood: of.Stood, Lost: of.Lost, Onward: c.OCS + c.EPS - (c.Delivered - c.RackLocal)}
}

// busiest is the load of the busiest link between switches: its layer-2 bytes over what it could have
// carried in that time.
func busiest(f *topo.Fabric, wire []pathmap.Bytes, over time.Duration) float64 {
	most := 0.0
	for l, link := range f.Topology.Links() {
		if could := link.Capacity.In(over); could > 0 && f.Topology.Node(link.From).Role != pathmap.Host &&
			f.Topology.Node(link.To).Role != pathmap.Host {
			most = max(most, float64(wire[l])/float64(could))
		}
	}
	return most
}
