// Package loop is the controller's one step: from what is known and what came in to what is committed and what is done
// about it. It owns no timer and no goroutine; whoever runs it hands it the time, appends its entries to the log,
// applies them, and then sends its actions.
//
// It decides nothing about jobs (a controller.Policy does) and knows no device (package rollout orders the steps).
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
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Config of a Loop.
type Config struct {
	Policy    controller.Policy
	Paths     *pathmap.Map
	Index     *pathmap.Live // of Paths, as nothing had failed: which racks use a link; nil: nobody tells policies
	Seed      uint64
	Delta     time.Duration // the model's p90 of a circuit's whole outage; corrected by what the moves of the log took
	Elephants pathmap.Bytes
	Demand    demand.Options // what circuit policies know of traffic
	Rollout   rollout.Options
	// Patience is how long after a start it waits for devices that do not answer, before it goes on without them.
	Patience time.Duration
	// Verify has every change to the tables walked for loops and black holes. What it finds comes out as an error.
	Verify bool
}

// Offer is a job that asks to be taken; Request is unique for each submitted job, "" for none.
type Offer struct {
	Job     *controller.Job
	Request string
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
	Jobs    []Offer
	Cancels []Cancel
	Asks    []Ask
	Events  []southbound.Event
	Devices []southbound.DeviceEvent
	Seen    []DeviceSeen
	Done    []SetDone
	Counts  []DeviceCounts // what passed the ports of devices, in the order in which it came
	// Left tells what is left of a coflow; asked during the call only.
	Left func(southbound.CoflowID) (southbound.Left, bool)
	// Counters tells what hosts have sent so far; asked during the call only, where demand comes from counters. It may
	// tell what was read a while ago, but not wait.
	Counters func() (demand.Sample, error)
}

var errNoCounters = errors.New("nobody has told what hosts have sent")

// Actions are what to do once the entries have been applied, in the order of the fields. Borrowed until the next Step.
type Actions struct {
	// First waits for no entry: it follows from what devices have told, and whoever leads next hears the same of them.
	// Whoever can sends it before appending any.
	First []rollout.Set

	Start []southbound.Start
	Steer []southbound.Steer
	Rates *southbound.Rates
	Run   []southbound.Task
	Sets  []rollout.Set
	Reads []southbound.DeviceID
	Errs  []error // what was refused or found wrong; nothing else suffers from it
}

func (a *Actions) empty() bool {
	return len(a.First)+len(a.Start)+len(a.Steer)+len(a.Run)+len(a.Sets)+len(a.Reads)+len(a.Errs) == 0 && a.Rates == nil
}

// Loop runs one leadership over one state. Everything in it is volatile: a new one on the same state goes on.
type Loop struct {
	cfg     Config
	fabric  *topo.Fabric
	base    *rollout.Base
	mover   *rollout.Mover
	view    controller.View
	traffic *demand.Estimator
	meters  meters

	entries []state.Entry
	act     Actions
	pending []controller.Event // worth a decision

	uplinks [][]int32 // by device: its ports that face the OCS, of a ToR

	begun   bool
	ready   bool
	giveUp  time.Duration                  // when to go on without devices that do not answer
	unread  map[southbound.DeviceID]repair // devices that are not known to hold what they should
	later   []laterRead
	away    map[southbound.DeviceID]bool // devices whose stream has ended and has not begun again
	dark    map[state.PortRef]bool       // ports that the devices' streams have told to be down, beside those to the OCS
	avoided []state.PortRef              // ports that the base's tables keep clear of
	haste   haste                        // the Sets of First that nobody has answered yet
	changed []bool                       // by link: came or went since the last decision; nil: none
	pairs   []pathmap.Pair               // of racks with a path over one of them; nil: none, or there is no index
	cut     []bool                       // by link: what they are, with the other direction; nil before the first
	taken   []bool                       // by OCS output: of what begins in this pass
	due     ports                        // inputs whose first reservation is to begin or end in this pass
	ended   ports                        // inputs whose first reservation ends in this pass
	began   ports                        // inputs of which a reservation begins in this pass
	outs    []southbound.Port            // memory of beginDue
	steered []bool                       // by OCS input: its ToR may hold the circuit's rule
	gone    []southbound.CrossConnect    // memory of displaced
	sent    sent
	touched []southbound.CoflowID    // had bundles end since the last pass
	idle    ports                    // inputs whose first reservation may have nothing left to carry
	asking  ports                    // those of which it is being asked
	astray  ports                    // inputs whose begun reservation may have lost its circuit since it was last looked at
	looking ports                    // those that are being looked at
	lit     int                      // entries of this pass after which nothing is due that was not before
	stages  []state.Stages           // of this pass's entries
	reserve []controller.Reservation // likewise
	freed   bool
	arrived int                   // jobs known to the policy
	resteer []southbound.CoflowID // coflows whose rows are to be sent another way, perhaps
	repaths []pairOf              // rows between two racks that are, of one coflow or all
	held    map[southbound.HostID]int32
	blind   bool // the policy reads nothing of what coflows have left
	tags    []southbound.Tag
	asked   int64
	left    func(southbound.CoflowID) (southbound.Left, bool) // of the Step that is on
}

// Decisions returns how often the policy has been asked.
func (l *Loop) Decisions() int64 { return l.asked }

// New returns a loop for one leadership.
func New(f *topo.Fabric, cfg Config) *Loop {
	l := &Loop{cfg: cfg, fabric: f, base: rollout.NewBase(f, cfg.Paths),
		unread: map[southbound.DeviceID]repair{}, held: map[southbound.HostID]int32{}, dark: map[state.PortRef]bool{},
		away: map[southbound.DeviceID]bool{}, uplinks: uplinks(f)}
	l.mover = rollout.NewMover(f, l.base, cfg.Rollout)
	l.traffic = demand.NewEstimator(cfg.Demand)
	l.meters.topology = f.Topology
	if !cfg.Demand.Oracle() {
		l.base.SteerAll()
	} else if p, ok := cfg.Policy.(interface{ Blind() bool }); ok {
		l.blind = p.Blind()
	}
	// Racks that keep bytes for each other go by the circuits that their ToRs are told of.
	_, relays := cfg.Policy.(interface {
		Relay(delta time.Duration) southbound.Relay
	})
	if controller.CircuitsOnly(f) && f.OCSPorts() == f.Racks && cfg.Demand.Oracle() && !relays {
		l.base.Stand()
	}
	l.steered, l.taken = make([]bool, f.OCSPorts()), make([]bool, f.OCSPorts())
	return l
}

// Base returns the tables that the loop keeps on packet switches.
func (l *Loop) Base() *rollout.Base { return l.base }

// Ready says whether decisions are being made: every device has come to hold what it should, or has been waited for
// long enough.
func (l *Loop) Ready() bool { return l.ready }

// Step makes one pass. It never writes s. When wakeAt is now, the caller applies the entries, acts, and calls again
// with empty inputs; else it does the former two all the same, and the next call is due at wakeAt, or when something comes in.
func (l *Loop) Step(s *state.State, now time.Duration, in Inputs) (entries []state.Entry, act *Actions, wakeAt time.Duration) {
	l.entries = l.entries[:0]
	l.act = Actions{Start: l.act.Start[:0], Steer: l.act.Steer[:0], Run: l.act.Run[:0], Sets: l.act.Sets[:0], Reads: l.act.Reads[:0]}
	l.stages, l.lit = l.stages[:0], 0
	l.ended.clear()
	l.began.clear()
	if !l.begun {
		l.begin(s, now)
	}
	l.after(s, now)
	for i := range in.Counts {
		l.meters.add(now, &in.Counts[i])
	}
	l.left = in.Left
	l.facts(s, now, &in)
	if len(l.entries) > 0 || len(l.act.First) > 0 {
		return l.entries, &l.act, now
	}
	if l.ready = l.ready || len(l.unread) == 0 || now >= l.giveUp; !l.ready {
		return nil, &l.act, min(l.giveUp, l.nextRead())
	}
	l.readTraffic(s, now, &in)
	next := s.Live().Wake // when to decide
	if len(l.pending) > 0 {
		next = now
	}
	if next = l.haste.after(now, next); next <= now {
		l.decide(s, now, &in)
		return l.entries, &l.act, now
	}
	l.transitions(s, now)
	if quiet := len(l.entries) == 0 && l.act.empty(); !quiet && (len(l.entries) > l.lit || !l.still(s, now)) {
		return l.entries, &l.act, now
	}
	return l.entries, &l.act, min(s.Boundary(), next, l.mover.Wake(), l.nextRead(), l.nextReading())
}

// still says that a pass leaves nothing for another one at this instant, where it has no entries or only of circuits that have
// come to be usable: these change nothing that is due, and what goes over them has been steered.
func (l *Loop) still(s *state.State, now time.Duration) bool {
	return len(l.pending)+len(l.touched)+len(l.resteer)+len(l.repaths) == 0 && !l.freed && !l.idle.any && !l.astray.any &&
		l.arrived == len(s.Live().Jobs) && l.mover.Wake() > now
}

// unsent is no tag that a row is ever sent with.
const unsent = southbound.AnyTag

// begin takes over from whoever led before: it repeats what stands (hosts know it already and pass it over), reads every
// device, and makes the moves whose outcome is not known once more.
func (l *Loop) begin(s *state.State, now time.Duration) {
	l.begun, l.giveUp = true, now+l.cfg.Patience
	l.astray.fill()
	l.idle.fill() // whoever led before may have died before it skipped what had ended early
	for _, d := range l.base.Devices() {
		l.unread[d] = repair{}
		l.act.Reads = append(l.act.Reads, d)
	}
	d := s.Live()
	for i := range d.Tasks {
		if t := &d.Tasks[i]; t.Started != state.Unset && t.Ended == state.Unset && !s.Held(t.Job, t.Stage) {
			l.run(s, southbound.TaskID(i))
		}
	}
	for _, id := range s.Active() {
		if c := s.Coflow(id); c.Started != state.Unset {
			l.start(s, id)
			// Hosts that know it pass the start over, and whoever led may have died before it steered: say it again.
			l.sent.set(id, slices.Repeat([]southbound.Tag{unsent}, len(c.Tag)))
			l.resteer = append(l.resteer, id)
			l.holdLost(id, c)
		}
	}
	l.holdCancelled(s)
	for in, c := range d.Circuits {
		switch c.Phase {
		case controller.Moving:
			l.mover.Begin(now, southbound.Port(in), c.Out, []southbound.CrossConnect{{In: southbound.Port(in), Out: c.Out}})
		case controller.Usable:
			l.steered[in] = true
		}
	}
	l.note(controller.FabricChanged, now, -1, -1, 0)
}

// note keeps an event if the policy wants its kind.
func (l *Loop) note(k controller.Kind, at time.Duration, job controller.JobID, c southbound.CoflowID, row int32) {
	if l.cfg.Policy.Wants().Has(k) {
		l.pending = append(l.pending, controller.Event{At: at, Kind: k, Job: job, Coflow: c, Row: row})
	}
}

// after draws the consequences of what has been applied since the last pass.
func (l *Loop) after(s *state.State, now time.Duration) {
	d := s.Live()
	for ; l.arrived < len(d.Jobs); l.arrived++ {
		if d.Jobs[l.arrived].Placed == state.Unset {
			l.note(controller.JobArrived, now, controller.JobID(l.arrived), -1, 0)
		}
	}
	for _, id := range l.touched {
		if c := s.Coflow(id); c.Ended != state.Unset {
			l.note(controller.CoflowEnded, now, c.Job, id, 0)
			l.freed = l.freed || d.Jobs[c.Job].Edges[c.Edge].Stream // the last of a stage's ends its tasks
			l.sent.set(id, nil)
		}
	}
	l.touched = l.touched[:0]
	if l.freed {
		l.freed = false
		l.note(controller.SlotsFreed, now, -1, -1, 0)
	}
	for i, id := range l.resteer {
		if slices.Contains(l.resteer[:i], id) {
			continue // many circuits of one coflow change at one instant, and steering looks at all of its rows
		}
		if id == controller.AnyCoflow {
			for _, a := range s.Active() {
				l.steer(s, a)
			}
			continue
		}
		l.steer(s, id)
	}
	l.resteer = l.resteer[:0]
	for i, p := range l.repaths {
		if !slices.Contains(l.repaths[:i], p) {
			l.steerPair(s, p, false)
		}
	}
	l.repaths = l.repaths[:0]
}

// steer sends the tags of a started coflow that are not what its hosts were told last.
func (l *Loop) steer(s *state.State, id southbound.CoflowID) {
	c := s.Coflow(id)
	sent := l.sent.of(id)
	if c.Started == state.Unset || c.Ended != state.Unset || len(sent) != len(c.Tag) {
		return
	}
	l.tags = s.AppendTags(l.tags[:0], id)
	for row, t := range l.tags {
		if t != sent[row] && !c.Done[row] {
			sent[row] = t
			l.act.Steer = append(l.act.Steer, southbound.Steer{BundleKey: southbound.BundleKey{Coflow: id, Row: int32(row)}, Tag: t})
		}
	}
}

func (l *Loop) run(s *state.State, id southbound.TaskID) {
	t := &s.Live().Tasks[id]
	j := s.Job(t.Job)
	i := int(id - j.FirstTask)
	first, _ := j.StageTasks(int(t.Stage))
	l.act.Run = append(l.act.Run, southbound.Task{Task: id, Host: t.Host, Compute: j.Job.Stages[t.Stage].Tasks[i-first].Takes(t.Far), Try: t.Try})
}

// start declares a coflow to its hosts, with the tags that hold now.
func (l *Loop) start(s *state.State, id southbound.CoflowID) {
	c := s.Coflow(id)
	tags := s.AppendTags(nil, id)
	l.sent.set(id, tags)
	if len(tags) > 0 {
		l.act.Start = append(l.act.Start, southbound.Start{Coflow: id, Src: c.Columns.Src, Dst: c.Columns.Dst,
			Size: c.Columns.Size, Tag: slices.Clone(tags), Cap: l.caps(s, c)})
	}
}

func (l *Loop) add(e state.Entry) { *l.put(e.Kind, e.At) = e }

// put adds an entry that is to be filled in where it is: there are millions of some kinds. It is good until the next one.
func (l *Loop) put(k state.Kind, at time.Duration) *state.Entry {
	n := len(l.entries)
	l.entries = slices.Grow(l.entries, 1)[:n+1]
	e := &l.entries[n]
	*e = state.Entry{Kind: k, At: at}
	return e
}
