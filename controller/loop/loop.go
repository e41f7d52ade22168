// Package loop is one step of the controller: from the state and the inputs to the entries and actions.
// It owns no timer and no goroutine: its caller passes the time, appends its entries to the log,
// applies them, and then sends its actions.
//
// It decides nothing about jobs (a controller.Policy does) and knows no device (package rollout orders
// the steps).
package loop

import (
	"errors"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/live"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Config of a Loop.
type Config struct {
	Policy controller.Policy
	Paths  *pathmap.Map
	Index  *live.Paths // of Paths, as nothing had failed: which racks use a link; nil disables it for policies
	Seed   uint64
	// the model's p90 of a circuit's reconfiguration delay; corrected by what the moves of the log took
	Delta time.Duration
	// Deltas are those of each OCS, where they differ, and Delta is the longest of them; nil: all have Delta.
	Deltas            []time.Duration
	ElephantThreshold pathmap.Bytes
	Demand            demand.Options // what circuit policies know of traffic
	Rollout           rollout.Options
	// Patience is how long the loop waits after a start for devices that do not answer, before it goes on
	// without them.
	Patience time.Duration
	// Verify has every change to the tables checked for loops and black holes. Findings are returned as errors.
	Verify bool
	// Contain has a policy that panics or breaks a law reported as controller.ErrPolicyFailed; without it
	// the panic goes on, and a plan that cannot stand is dropped.
	Contain bool
	// Asked is told when the policy is called (true) and has answered (false); nil disables it. It must
	// not block.
	Asked func(bool)
	// Used gets how each circuit reservation that has ended was used; nil disables it. Step calls it: it
	// must not block.
	Used func(Usage)
}

// DeviceSeen is the answer to a read.
type DeviceSeen struct {
	Device southbound.DeviceID
	Seen   southbound.Seen
	Err    error
}

// SetDone is the outcome of a Set.
type SetDone struct {
	Device southbound.DeviceID
	Token  uint64
	Err    error
}

// Inputs are what came in since the last Step. All of it is borrowed.
type Inputs struct {
	Jobs              []controller.Offer
	Cancels           []Cancel
	BandwidthRequests []BandwidthRequest
	Grants            []GrantRequest
	Changes           []ChangeRequest
	Slices            []SliceRequest
	Events            []southbound.Event
	Devices           []southbound.DeviceEvent
	Seen              []DeviceSeen
	Done              []SetDone
	Counts            []DeviceCounts // what passed the ports of devices, in the order in which it came
	// Remaining returns what is left of a coflow; it is called during Step only.
	Remaining func(southbound.CoflowID) (southbound.Remaining, bool)
	// Brief is Remaining that can be brief, likewise; nil if there is only Remaining.
	Brief func(southbound.CoflowID) (southbound.Remaining, bool)
	// Total returns how many bytes are left of a coflow's rows together, likewise; nil if there is only
	// Remaining.
	Total func(southbound.CoflowID) (float64, bool)
	// Counters returns what hosts have sent so far; it is called during Step only, if demand comes from
	// counters. It can return an older reading, but must not block.
	Counters func() (demand.Sample, error)
}

var errNoCounters = errors.New("no demand estimate: hosts have not reported their counters")

// Actions are what to do once the entries have been applied, in the order of the fields. Borrowed until
// the next Step.
type Actions struct {
	// Urgent waits for no entry: it follows from what devices report, and the next leader gets the same
	// reports. Callers should send it before they append entries.
	Urgent []rollout.Set

	Start []southbound.Start
	Steer []southbound.Steer
	Rates *southbound.Rates
	Run   []southbound.Task
	Sets  []rollout.Set
	Reads []southbound.DeviceID
	Errs  []error // refusals and findings; the rest of the step is unaffected
}

func (a *Actions) empty() bool {
	return len(a.Urgent)+len(a.Start)+len(a.Steer)+len(a.Run)+len(a.Sets)+len(a.Reads)+len(a.Errs) == 0 && a.Rates == nil
}

// Loop runs one leadership over one state. All of it is volatile: a new Loop on the same state continues.
type Loop struct {
	cfg    Config
	fabric *topo.Fabric
	base   *rollout.Base
	begun  bool
	ready  bool

	inputs       Inputs // of this Step
	pass         pass
	pending      pending
	decider      decider
	devices      devices
	cables       cables
	circuits     circuits
	reservations reservations
	steering     steering
	usages       usages
	slicing      slicing
	multihops    multihops
}

// Decisions returns how often the policy has been called.
func (l *Loop) Decisions() int64 { return l.decider.asked }

// New returns a loop for one leadership.
func New(f *topo.Fabric, cfg Config) *Loop {
	can := cfg.Policy.Capabilities()
	base, ports := rollout.NewBase(f, cfg.Paths), f.OCSPorts()
	l := &Loop{cfg: cfg, fabric: f, base: base,
		pending: pending{wants: cfg.Policy.Wants()},
		decider: decider{policy: cfg.Policy, traffic: demand.NewEstimator(cfg.Demand),
			meters: meters{topology: f.Topology},
			asks:   state.NewAsked(), blind: can.Blind && cfg.Demand.Oracle(),
			totals: can.Totals && cfg.Demand.Oracle(), brief: can.Brief && cfg.Demand.Oracle(),
			late: can.Late && cfg.Demand.Oracle()},
		devices: newDevices(),
		cables:  newCables(f),
		circuits: circuits{mover: rollout.NewMover(f, base, cfg.Rollout), steered: make([]bool, ports),
			failing: failures{byIn: make([]failure, ports)}},
		reservations: newReservations(ports),
		usages:       newUsages(cfg.Used),
		multihops:    newMultihops(base)}
	l.steering.multihops = &l.multihops
	if !cfg.Demand.Oracle() || f.Spec.Pod() {
		base.SteerAll()
	}
	// Racks that relay bytes for each other use per-circuit rules of their ToRs.
	if controller.CircuitsOnly(f) && f.OCSPorts() == f.Racks && cfg.Demand.Oracle() && !can.Relays {
		base.Stand()
	}
	return l
}

// Multihops returns how often pairs of racks have had paths over several circuits.
func (l *Loop) Multihops() MultihopCounts { return l.multihops.counts }

// Base returns the tables that the loop keeps on packet switches.
func (l *Loop) Base() *rollout.Base { return l.base }

// Ready reports whether decisions are being made: every device holds what it should, or the wait for
// devices is over.
func (l *Loop) Ready() bool { return l.ready }

// Step makes one pass. It never writes s. When wakeAt is now, the caller applies the entries, acts, and
// calls again with empty inputs; else it does the former two all the same, and the next call is due at
// wakeAt, or when something comes in.
func (l *Loop) Step(s *state.State, now time.Duration, in Inputs) (entries []state.Entry, act *Actions,
	wakeAt time.Duration) {
	l.inputs = in // a view can point there
	return l.step(s, now, &l.inputs)
}

func (l *Loop) step(s *state.State, now time.Duration, in *Inputs) (entries []state.Entry, act *Actions,
	wakeAt time.Duration) {
	l.pass.reset(in)
	l.reservations.reset()
	if !l.begun {
		l.begin(s, now)
	}
	l.after(s, now)
	l.resteer(s)
	for i := range in.Counts {
		l.decider.meters.add(now, &in.Counts[i])
	}
	l.facts(s, now, in)
	p := &l.pass
	if len(p.entries) > 0 || len(p.act.Urgent) > 0 {
		return p.entries, &p.act, now
	}
	if l.ready = l.ready || l.devices.ready(now); !l.ready {
		return nil, &p.act, min(l.devices.giveUp, l.devices.nextRead())
	}
	l.readTraffic(s, now, in)
	if l.circuits.failing.over(now) {
		l.pending.changed(now)
	}
	next := s.Live().Wake // when to decide
	if len(l.pending.events) > 0 {
		next = now
	}
	if next = l.devices.fastReroute.after(now, next); next <= now {
		l.decide(s, now, in)
		return p.entries, &p.act, now
	}
	if l.placePinned(s, now); len(p.entries) > 0 {
		return p.entries, &p.act, now
	}
	if l.settleSlices(s, now); len(p.entries) > 0 {
		return p.entries, &p.act, now
	}
	l.transitions(s, now)
	if idle := len(p.entries) == 0 && p.act.empty(); !idle && (len(p.entries) > p.lit || !l.still(s, now)) ||
		l.multihops.due {
		return p.entries, &p.act, now
	}
	return p.entries, &p.act, min(s.Boundary(), next, l.circuits.mover.Wake(), l.devices.nextRead(),
		l.nextReading(), l.circuits.failing.next(), l.nextSilent(now), l.multihops.next(now))
}

// still reports whether a pass leaves nothing for another one at this instant. That is so if it has no
// entries, or only of circuits that are in service now: these make nothing due, and the flows over them
// have been steered.
func (l *Loop) still(s *state.State, now time.Duration) bool {
	return l.pending.none(s) && l.steering.none() && !l.reservations.idle.any && !l.reservations.astray.any &&
		l.circuits.mover.Wake() > now
}

// begin takes over from the previous leader: it repeats what is in effect (hosts ignore what they
// know), reads every device, and repeats the moves whose outcome is not known.
func (l *Loop) begin(s *state.State, now time.Duration) {
	l.begun, l.devices.giveUp = true, now+l.cfg.Patience
	l.reservations.astray.fill()
	l.reservations.idle.fill() // the previous leader may have died before it skipped what had ended early
	l.slicing.rings = l.leftStanding(s)
	removed := s.Change().Removed
	for _, d := range l.base.Devices() {
		if slices.Contains(removed, d) {
			l.devices.away[d] = true
			continue
		}
		l.devices.unread[d] = repair{}
		l.pass.read(d)
	}
	d := s.Live()
	for _, j := range d.Jobs {
		for i, t := range d.TasksOf(j) {
			if t.Started != state.Unset && t.Ended == state.Unset && !s.Held(t.Job, t.Stage) {
				l.run(s, j.FirstTask+southbound.TaskID(i))
			}
		}
	}
	for _, id := range s.Active() {
		if c := s.Coflow(id); c.Started != state.Unset {
			l.start(s, id)
			// Hosts that know the start ignore it. The previous leader may have died before it steered: repeat it.
			l.steering.repeat(id, len(c.Tag))
			l.holdLost(id, c)
		}
	}
	l.holdCancelled(s)
	for in, c := range d.Circuits {
		switch c.Phase {
		case controller.Reconfiguring:
			in := southbound.Port(in)
			l.circuits.mover.Begin(now, in, c.Out, []southbound.CrossConnect{{In: in, Out: c.Out}})
		case controller.InService:
			l.circuits.steered[in] = true
		}
	}
	l.pending.changed(now)
}

// after draws the consequences of what has been applied since the last pass.
func (l *Loop) after(s *state.State, now time.Duration) {
	l.pending.arrivals(s, now)
	for _, id := range l.pending.touched {
		if c := s.Coflow(id); c.Ended != state.Unset {
			l.pending.note(controller.CoflowEnded, now, c.Job, id, 0)
			if s.Job(c.Job).EdgeOf(c).Stream { // the last of a stage's ends its tasks
				l.pending.freed = true
			}
			l.steering.sent.over(id)
		}
	}
	l.pending.touched = l.pending.touched[:0]
	if l.pending.freed {
		l.pending.freed = false
		l.pending.note(controller.SlotsFreed, now, -1, -1, 0)
	}
	l.steering.flush(s, &l.pass)
}

func (l *Loop) run(s *state.State, id southbound.TaskID) {
	j, t := s.Task(id)
	i := int(id - j.FirstTask)
	first, _ := j.StageTasks(int(t.Stage))
	stage := &j.Job.Stages[t.Stage]
	l.pass.act.Run = append(l.pass.act.Run, southbound.Task{Task: id, Host: t.Host,
		Compute: stage.Runs(l.fabric, i-first, t), Try: t.Try, MilliVCPUs: stage.VCPUs(l.fabric, i-first, t)})
}

// start declares a coflow to its hosts, with the tags that hold now.
func (l *Loop) start(s *state.State, id southbound.CoflowID) {
	c := s.Coflow(id)
	tags := l.steering.append(nil, s, id)
	l.steering.sent.set(id, tags)
	if len(tags) > 0 {
		l.pass.act.Start = append(l.pass.act.Start,
			southbound.Start{Coflow: id, Src: c.Columns.Src, Dst: c.Columns.Dst,
				Size: c.Columns.Size, Tag: slices.Clone(tags), Cap: l.caps(s, c)})
	}
}
