// Package loop is the controller's one step: from what is known and what came in to what is committed and what is done
// about it. It owns no timer and no goroutine; whoever runs it hands it the time, appends its entries to the log,
// applies them, and then sends its actions.
//
// It decides nothing about jobs (a controller.Policy does) and knows no device (package rollout orders the steps).
package loop

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
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
	Seed      uint64
	Delta     time.Duration // the model's p90 of a circuit's whole outage; corrected by what the moves of the log took
	Elephants pathmap.Bytes
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
	Events  []southbound.Event
	Devices []southbound.DeviceEvent
	Seen    []DeviceSeen
	Done    []SetDone
	// Left tells what is left of a coflow; asked during the call only.
	Left func(southbound.CoflowID) (southbound.Left, bool)
}

// Actions are what to do once the entries have been applied, in the order of the fields. Borrowed until the next Step.
type Actions struct {
	Start []southbound.Start
	Steer []southbound.Steer
	Rates *southbound.Rates
	Run   []southbound.Task
	Sets  []rollout.Set
	Reads []southbound.DeviceID
	Errs  []error // what was refused or found wrong; nothing else suffers from it
}

func (a *Actions) empty() bool {
	return len(a.Start)+len(a.Steer)+len(a.Run)+len(a.Sets)+len(a.Reads)+len(a.Errs) == 0 && a.Rates == nil
}

// Loop runs one leadership over one state. Everything in it is volatile: a new one on the same state goes on.
type Loop struct {
	cfg    Config
	fabric *topo.Fabric
	base   *rollout.Base
	mover  *rollout.Mover
	view   controller.View

	entries []state.Entry
	act     Actions
	pending []controller.Event // worth a decision

	begun   bool
	giveUp  time.Duration                  // when to go on without devices that do not answer
	unread  map[southbound.DeviceID]uint64 // devices not yet in their wanted state: token of the Set that brings them there, 0 before
	steered []bool                         // by OCS input: its ToR may hold the circuit's rule
	sent    map[southbound.CoflowID][]southbound.Tag
	touched []southbound.CoflowID // had bundles end since the last pass
	idle    bool                  // a reservation may have nothing left to carry
	freed   bool
	arrived int // jobs known to the policy
	resteer []southbound.CoflowID
	held    map[southbound.HostID]int32
	tags    []southbound.Tag
	asked   int64
}

// Decisions returns how often the policy has been asked.
func (l *Loop) Decisions() int64 { return l.asked }

// New returns a loop for one leadership.
func New(f *topo.Fabric, cfg Config) *Loop {
	l := &Loop{cfg: cfg, fabric: f, base: rollout.NewBase(f, cfg.Paths), sent: map[southbound.CoflowID][]southbound.Tag{},
		unread: map[southbound.DeviceID]uint64{}, held: map[southbound.HostID]int32{}}
	l.mover = rollout.NewMover(f, l.base, cfg.Rollout)
	l.steered = make([]bool, f.Racks)
	return l
}

// Base returns the tables that the loop keeps on packet switches.
func (l *Loop) Base() *rollout.Base { return l.base }

// Ready says whether every device holds what it should, so that decisions are being made.
func (l *Loop) Ready() bool { return l.begun && len(l.unread) == 0 }

// Step makes one pass. It never writes s. When wakeAt is now, the caller applies the entries, acts, and calls again
// with empty inputs; else the next call is due at wakeAt, or when something comes in.
func (l *Loop) Step(s *state.State, now time.Duration, in Inputs) (entries []state.Entry, act *Actions, wakeAt time.Duration) {
	l.entries = l.entries[:0]
	l.act = Actions{Start: l.act.Start[:0], Steer: l.act.Steer[:0], Run: l.act.Run[:0], Reads: l.act.Reads[:0]}
	if !l.begun {
		l.begin(s, now)
	}
	l.after(s, now)
	l.facts(s, now, &in)
	if len(l.entries) > 0 {
		return l.entries, &l.act, now
	}
	if len(l.unread) > 0 && now < l.giveUp {
		return nil, &l.act, l.giveUp
	}
	clear(l.unread)
	if len(l.pending) > 0 || s.Data().Wake <= now {
		l.decide(s, now, &in)
		return l.entries, &l.act, now
	}
	if l.transitions(s, now) || !l.act.empty() {
		return l.entries, &l.act, now
	}
	return nil, &l.act, min(s.Boundary(), s.Data().Wake, l.mover.Wake())
}

// unsent is no tag that a row is ever sent with.
const unsent = southbound.AnyTag

// begin takes over from whoever led before: it repeats what stands (hosts know it already and pass it over), reads every
// device, and makes the moves whose outcome is not known once more.
func (l *Loop) begin(s *state.State, now time.Duration) {
	l.begun, l.giveUp = true, now+l.cfg.Patience
	for _, d := range l.base.Devices() {
		l.unread[d] = 0
		l.act.Reads = append(l.act.Reads, d)
	}
	d := s.Data()
	for i := range d.Tasks {
		if t := &d.Tasks[i]; t.Started != state.Unset && t.Ended == state.Unset {
			l.run(s, southbound.TaskID(i))
		}
	}
	for _, id := range s.Active() {
		if c := s.Coflow(id); c.Started != state.Unset {
			l.start(s, id)
			// Hosts that know it pass the start over, and whoever led may have died before it steered: say it again.
			l.sent[id] = slices.Repeat([]southbound.Tag{unsent}, len(c.Tag))
			l.resteer = append(l.resteer, id)
		}
	}
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
	d := s.Data()
	for ; l.arrived < len(d.Jobs); l.arrived++ {
		if d.Jobs[l.arrived].Placed == state.Unset {
			l.note(controller.JobArrived, now, controller.JobID(l.arrived), -1, 0)
		}
	}
	l.idle = l.idle || len(l.touched) > 0
	for _, id := range l.touched {
		if c := s.Coflow(id); c.Ended != state.Unset {
			l.note(controller.CoflowEnded, now, c.Job, id, 0)
			delete(l.sent, id)
		}
	}
	l.touched = l.touched[:0]
	if l.freed {
		l.freed = false
		l.note(controller.SlotsFreed, now, -1, -1, 0)
	}
	for _, id := range l.resteer {
		if id == controller.AnyCoflow {
			for _, a := range s.Active() {
				l.steer(s, a)
			}
			continue
		}
		l.steer(s, id)
	}
	l.resteer = l.resteer[:0]
}

// steer sends the tags of a started coflow that are not what its hosts were told last.
func (l *Loop) steer(s *state.State, id southbound.CoflowID) {
	c := s.Coflow(id)
	sent := l.sent[id]
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
	t := &s.Data().Tasks[id]
	j := s.Job(t.Job)
	i := int(id - j.FirstTask)
	first, _ := j.StageTasks(int(t.Stage))
	l.act.Run = append(l.act.Run, southbound.Task{Task: id, Host: t.Host, Compute: j.Job.Stages[t.Stage].Tasks[i-first].Compute})
}

// start declares a coflow to its hosts, with the tags that hold now.
func (l *Loop) start(s *state.State, id southbound.CoflowID) {
	c := s.Coflow(id)
	tags := s.AppendTags(nil, id)
	l.sent[id] = tags
	if len(tags) > 0 {
		l.act.Start = append(l.act.Start, southbound.Start{Coflow: id, Src: c.Columns.Src, Dst: c.Columns.Dst,
			Size: c.Columns.Size, Tag: slices.Clone(tags)})
	}
}

func (l *Loop) add(e state.Entry) { l.entries = append(l.entries, e) }

// facts turns inputs into entries, and into steps of the moves in progress.
func (l *Loop) facts(s *state.State, now time.Duration, in *Inputs) {
	slots := l.fabric.Hosts() * l.fabric.Spec.Slots
	for _, o := range in.Jobs {
		if err := o.Job.Check(l.fabric.Hosts(), slots); err != nil {
			l.act.Errs = append(l.act.Errs, fmt.Errorf("accept %w", err))
			continue
		}
		l.add(state.Entry{Kind: state.JobAccepted, At: now, Job: o.Job, Request: o.Request})
	}
	for i := range in.Events {
		l.hostFact(s, &in.Events[i])
	}
	for _, e := range in.Devices {
		l.deviceFact(s, now, e)
	}
	for i := range in.Seen {
		l.seen(s, now, &in.Seen[i])
	}
	for _, d := range in.Done {
		l.mover.Done(now, d.Token, d.Err)
		if t, ok := l.unread[d.Device]; ok && t == d.Token && t != 0 {
			if d.Err != nil {
				l.act.Errs = append(l.act.Errs, fmt.Errorf("bring %s into its state: %w", l.fabric.Topology.Node(d.Device).Name, d.Err))
				l.act.Reads = append(l.act.Reads, d.Device)
				l.unread[d.Device] = 0
				continue
			}
			delete(l.unread, d.Device)
		}
	}
}

func (l *Loop) hostFact(s *state.State, e *southbound.Event) {
	d := s.Data()
	switch e.Kind {
	case southbound.BundleEnded:
		if e.Coflow < 0 || int(e.Coflow) >= len(d.Coflows) {
			l.act.Errs = append(l.act.Errs, fmt.Errorf("host reports the end of coflow %d: no such coflow", e.Coflow))
			return
		}
		if c := d.Coflows[e.Coflow]; c.Ended != state.Unset || int(e.Row) >= len(c.Done) || e.Row < 0 || c.Done[e.Row] {
			return
		}
		l.add(state.Entry{Kind: state.BundleEnded, At: e.At, Coflow: e.Coflow, Row: e.Row})
		l.note(controller.BundleEnded, e.At, d.Coflows[e.Coflow].Job, e.Coflow, e.Row)
		if n := len(l.touched); n == 0 || l.touched[n-1] != e.Coflow {
			l.touched = append(l.touched, e.Coflow)
		}
	case southbound.TaskEnded:
		if e.Task < 0 || int(e.Task) >= len(d.Tasks) {
			l.act.Errs = append(l.act.Errs, fmt.Errorf("host reports the end of task %d: no such task", e.Task))
			return
		}
		if d.Tasks[e.Task].Ended == state.Unset {
			l.add(state.Entry{Kind: state.TaskEnded, At: e.At, Task: e.Task})
			l.freed = true
		}
	}
}

func (l *Loop) deviceFact(s *state.State, now time.Duration, e southbound.DeviceEvent) {
	switch e.Kind {
	case southbound.ConnectionStatus:
		l.mover.Event(now, e)
		l.lost(s, now, e)
	case southbound.PortUp, southbound.PortDown:
		ref := state.PortRef{Device: e.Device, Port: e.In}
		if up := e.Kind == southbound.PortUp; slices.Contains(s.Data().Down, ref) == up && !l.darkened(e) {
			l.add(state.Entry{Kind: state.PortSeen, At: now, Device: e.Device, Port: e.In, OK: up})
			l.note(controller.FabricChanged, now, -1, -1, 0)
		}
	case southbound.Synced:
		// The stream is back after a break: nothing that was known of the device can be relied on.
		if l.begun && l.unread[e.Device] == 0 {
			l.act.Reads = append(l.act.Reads, e.Device)
		}
	}
}

// darkened says whether a port of a ToR faces the OCS: that it is dark follows from the circuits, and is no failure.
func (l *Loop) darkened(e southbound.DeviceEvent) bool {
	n := l.fabric.Topology.Node(e.Device)
	return n.Role == pathmap.ToR && l.fabric.HasOCS() && int32(e.In) == l.fabric.OCSUplink[n.Rack]
}

// lost notes that a circuit in use is not what the device says.
func (l *Loop) lost(s *state.State, now time.Duration, e southbound.DeviceEvent) {
	if e.Device != l.fabric.OCSNode || e.Status == southbound.Connected || e.In < 0 || int(e.In) >= l.fabric.Racks {
		return
	}
	c := s.Circuit(e.In)
	if c.Phase != controller.Usable || c.Out != e.Out {
		return
	}
	l.add(state.Entry{Kind: state.CircuitSettled, At: now, Port: e.In, Out: e.Out})
	if r, ok := s.Holding(e.In); ok {
		l.endReservation(now, r, state.Broken)
	}
	l.steered[e.In] = false
	l.act.Sets = append(l.act.Sets, rollout.Set{Device: l.fabric.ToRNode[e.In], Token: l.mover.Token(),
		Change: southbound.Change{Drop: []southbound.Match{l.base.CircuitRule(e.In, e.Out).Match}}})
}

// seen brings a device that has been read into its wanted state.
func (l *Loop) seen(s *state.State, now time.Duration, r *DeviceSeen) {
	if r.Err != nil {
		l.act.Errs = append(l.act.Errs, fmt.Errorf("read %s: %w", l.fabric.Topology.Node(r.Device).Name, r.Err))
		if !errors.Is(r.Err, southbound.ErrNotLeader) {
			l.act.Reads = append(l.act.Reads, r.Device)
		}
		return
	}
	var c southbound.Change
	if r.Device == l.fabric.OCSNode {
		c = l.seenCircuits(s, now, &r.Seen)
	} else {
		c = rollout.Diff(l.base.Rules(r.Device, l.wantedCircuits(s)), r.Seen.Rules)
	}
	if c.Empty() {
		delete(l.unread, r.Device)
		return
	}
	token := l.mover.Token()
	l.unread[r.Device] = token
	l.act.Sets = append(l.act.Sets, rollout.Set{Device: r.Device, Token: token, Change: c})
}

// wantedCircuits are the circuits that ToRs should steer to, by input.
func (l *Loop) wantedCircuits(s *state.State) []southbound.Port {
	out := make([]southbound.Port, l.fabric.Racks)
	for in := range out {
		out[in] = southbound.NoPort
		if l.fabric.HasOCS() && s.Circuit(southbound.Port(in)).Phase == controller.Usable {
			out[in] = s.Circuit(southbound.Port(in)).Out
		}
	}
	return out
}

// seenCircuits tells the mover what stands, gives up circuits that should stand and do not, and returns the change that
// removes those that nobody wants.
func (l *Loop) seenCircuits(s *state.State, now time.Duration, seen *southbound.Seen) (c southbound.Change) {
	found := make(map[southbound.Port]southbound.Port, len(seen.Connections))
	for _, x := range seen.Connections {
		if x.In < 0 || int(x.In) >= l.fabric.Racks {
			continue
		}
		if x.Status == southbound.Connected {
			found[x.In] = x.Out
		}
		l.mover.Event(now, southbound.DeviceEvent{Device: l.fabric.OCSNode, Kind: southbound.ConnectionStatus, In: x.In, Out: x.Out, Status: x.Status})
		if want := s.Circuit(x.In); want.Out != x.Out && !l.mover.Moving(x.In, x.Out) {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: x.In, Out: x.Out, Off: true})
		}
	}
	for in := range l.fabric.Racks {
		want := s.Circuit(southbound.Port(in))
		if out, ok := found[southbound.Port(in)]; want.Phase == controller.Usable && (!ok || out != want.Out) {
			l.lost(s, now, southbound.DeviceEvent{Device: l.fabric.OCSNode, In: southbound.Port(in), Out: want.Out, Status: southbound.Disconnected})
		}
	}
	return c
}
