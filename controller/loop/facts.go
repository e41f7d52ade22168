package loop

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

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
	l.wishes(s, now, in.Asks)
	for i := range in.Events {
		l.hostFact(s, now, &in.Events[i])
	}
	for i := range in.Devices {
		l.deviceFact(s, now, &in.Devices[i])
	}
	l.avoid(s, now)
	for i := range in.Seen {
		l.seen(s, now, &in.Seen[i])
	}
	for _, c := range in.Cancels {
		l.cancelled(s, now, c)
	}
	for i := range in.Done {
		l.done(now, &in.Done[i])
	}
	l.readAgain(now)
}

// repair is how far a device is on its way to what it should hold.
type repair struct {
	token uint64 // of the Set that is to bring it there, 0 while there is none
	tries int    // Sets so far
	told  bool   // it held what it should before, and no Set since has failed: what it will hold is known
	// behind is what it will hold once it has answered, where that is not what it should any more; nil: it is.
	behind []southbound.Rule
}

// done notes what came of a Set. After one that did not get through nobody knows what the device holds: it is read in a
// while. After one that was to bring a device into its state it is read as well, since acceptance is only a word. One
// that refuses would refuse again, and one that knows a later leader is not ours any more.
func (l *Loop) done(now time.Duration, d *SetDone) {
	l.mover.Done(now, d.Token, d.Err)
	hurried := l.haste.done(d.Token)
	r, ok := l.unread[d.Device]
	if !ok && d.Err == nil {
		return
	}
	awaited := ok && r.token == d.Token
	if awaited {
		l.unread[d.Device] = repair{tries: r.tries, told: r.told, behind: r.behind}
	}
	if r = l.unread[d.Device]; ok && d.Err != nil {
		r.told, r.behind = false, nil
		l.unread[d.Device] = r
	}
	switch {
	case errors.Is(d.Err, southbound.ErrRefused) || errors.Is(d.Err, southbound.ErrNotLeader):
	case d.Err != nil:
		l.readLater(d.Device, now+l.cfg.Rollout.Retry)
	case awaited && r.behind != nil && l.catchUp(now, d.Device, r.behind):
	case awaited && r.tries == 1 && hurried:
		l.readLater(d.Device, l.haste.until) // other switches are still to hear of it
	case awaited && r.tries == 1:
		l.act.Reads = append(l.act.Reads, d.Device)
	case awaited: // it did not hold what it had accepted: perhaps it is slow
		l.readLater(d.Device, now+l.cfg.Rollout.Retry<<min(r.tries, 6))
	}
	if awaited && d.Err != nil {
		l.act.Errs = append(l.act.Errs, fmt.Errorf("bring %s into its state: %w", l.fabric.Topology.Node(d.Device).Name, d.Err))
	}
}

func (l *Loop) readLater(d southbound.DeviceID, at time.Duration) {
	if !slices.ContainsFunc(l.later, func(r laterRead) bool { return r.device == d }) {
		l.later = append(l.later, laterRead{d, at})
	}
}

// laterRead is a device to be read at an instant.
type laterRead struct {
	device southbound.DeviceID
	at     time.Duration
}

func (l *Loop) readAgain(now time.Duration) {
	if len(l.later) == 0 {
		return
	}
	l.later = slices.DeleteFunc(l.later, func(r laterRead) bool {
		due := now >= r.at
		if due {
			l.act.Reads = append(l.act.Reads, r.device)
		}
		return due
	})
}

func (l *Loop) nextRead() time.Duration {
	at := southbound.Never
	for _, r := range l.later {
		at = min(at, r.at)
	}
	return at
}

func (l *Loop) hostFact(s *state.State, now time.Duration, e *southbound.Event) {
	d := s.Live()
	switch e.Kind {
	case southbound.BundleEnded:
		if e.Coflow < 0 || int(e.Coflow) >= len(d.Coflows) {
			l.act.Errs = append(l.act.Errs, fmt.Errorf("host reports the end of coflow %d: no such coflow", e.Coflow))
			return
		}
		c := d.Coflows[e.Coflow]
		if c.Ended != state.Unset {
			return
		}
		if c.Started == state.Unset || int(e.Row) >= len(c.Done) || e.Row < 0 {
			l.act.Errs = append(l.act.Errs, fmt.Errorf("host reports the end of bundle %d of coflow %d: it was not started", e.Row, e.Coflow))
			return
		}
		if c.Done[e.Row] {
			return
		}
		at := within(e.At, c.Started, now)
		x := l.put(state.BundleEnded, at)
		x.Coflow, x.Row = e.Coflow, e.Row
		l.note(controller.BundleEnded, at, c.Job, e.Coflow, e.Row)
		for in := int(s.RackOf(c.Columns.Src[e.Row])); in < max(l.fabric.OCSPorts(), l.fabric.Racks); in += l.fabric.Racks {
			l.idle.add(southbound.Port(in))
		}
		if n := len(l.touched); n == 0 || l.touched[n-1] != e.Coflow {
			l.touched = append(l.touched, e.Coflow)
		}
	case southbound.HostLost, southbound.HostFound:
		l.host(s, now, e)
	case southbound.TaskEnded:
		if e.Task < 0 || int(e.Task) >= len(d.Tasks) {
			l.act.Errs = append(l.act.Errs, fmt.Errorf("host reports the end of task %d: no such task", e.Task))
			return
		}
		switch t := &d.Tasks[e.Task]; {
		case t.Try != e.Try:
			return // it ended on a host that was lost before anybody heard
		case t.Ended == state.Unset && s.Held(t.Job, t.Stage):
			l.act.Errs = append(l.act.Errs, fmt.Errorf("host reports the end of task %d: streams hold it", e.Task))
		case t.Started == state.Unset:
			l.act.Errs = append(l.act.Errs, fmt.Errorf("host reports the end of task %d: it was not started", e.Task))
		case t.Ended == state.Unset:
			l.add(state.Entry{Kind: state.TaskEnded, At: within(e.At, t.Started, now), Task: e.Task})
			l.freed = true
		}
	}
}

// within is when a host's clock says that something ended, as far as that can be: not before its start nor after now.
func within(at, start, now time.Duration) time.Duration { return min(max(at, start), now) }

func (l *Loop) deviceFact(s *state.State, now time.Duration, e *southbound.DeviceEvent) {
	switch e.Kind {
	case southbound.ConnectionStatus:
		l.mover.Event(now, *e)
		if e.Status != southbound.Connected {
			l.lost(s, now, *e)
		}
	case southbound.PortUp, southbound.PortDown:
		if !l.darkened(e) && l.fabric.Topology.OutPort(e.Device, int32(e.In)) != pathmap.None {
			l.port(s, now, state.PortRef{Device: e.Device, Port: e.In}, e.Kind == southbound.PortUp)
		}
	case southbound.Lost:
		l.away[e.Device] = true
		maps.DeleteFunc(l.dark, func(p state.PortRef, _ bool) bool { return p.Device == e.Device })
	case southbound.Synced:
		delete(l.away, e.Device)
		l.synced(s, now, e.Device)
	}
}

// port notes that a port has light, or none.
func (l *Loop) port(s *state.State, now time.Duration, p state.PortRef, up bool) {
	if up {
		delete(l.dark, p)
	} else {
		l.dark[p] = true
	}
	if l.portUp(s, p) != up {
		l.add(state.Entry{Kind: state.PortSeen, At: now, Device: p.Device, Port: p.Port, OK: up})
		if !up && p.Device == l.fabric.OCSNode {
			l.darkPort(s, now, p.Port)
		}
		l.note(controller.FabricChanged, now, -1, -1, 0)
	}
}

// synced takes up a device whose stream has begun or is back after a break: nothing that was known of it can be relied
// on, and a port that it has not just told to be down is up.
func (l *Loop) synced(s *state.State, now time.Duration, d southbound.DeviceID) {
	for _, p := range s.Live().Down {
		if p.Device == d && !l.dark[p] {
			l.port(s, now, p, true)
		}
	}
	l.act.Reads = append(l.act.Reads, d)
}

// darkened says whether a port of a ToR faces the OCS: that it is dark follows from the circuits, and is no failure.
func (l *Loop) darkened(e *southbound.DeviceEvent) bool {
	return slices.Contains(l.uplinks[e.Device], int32(e.In))
}

// uplinks lists by device the ports of ToRs that face the OCS.
func uplinks(f *topo.Fabric) [][]int32 {
	out := make([][]int32, len(f.Topology.Nodes()))
	for p := range f.OCSPorts() {
		tor := f.ToRNode[f.OCSRack(int32(p))]
		out[tor] = append(out[tor], f.OCSUplink[p])
	}
	return out
}

// lost notes that a circuit in use is not what the device says, which is not that it stands.
func (l *Loop) lost(s *state.State, now time.Duration, e southbound.DeviceEvent) {
	if e.Device != l.fabric.OCSNode || e.In < 0 || int(e.In) >= l.fabric.OCSPorts() {
		return
	}
	c := s.Circuit(e.In)
	if c.Phase != controller.Usable || c.Out != e.Out || !l.steered[e.In] {
		return // another, or lost already in this very pass
	}
	l.astray.add(e.In)
	l.add(state.Entry{Kind: state.CircuitSettled, At: now, Port: e.In, Out: e.Out})
	if r, ok := s.Holding(e.In); ok {
		l.endReservation(now, &r, state.Broken)
	}
	l.steered[e.In] = false
	if gone := l.base.CircuitMatches(e.In, e.Out); len(gone) > 0 {
		l.act.Sets = append(l.act.Sets, rollout.Set{Device: l.fabric.ToRNode[l.fabric.OCSRack(int32(e.In))], Token: l.mover.Token(),
			Change: southbound.Change{Drop: gone}})
	}
}

// seen brings a device that has been read into its wanted state.
func (l *Loop) seen(s *state.State, now time.Duration, r *DeviceSeen) {
	if r.Err != nil {
		l.act.Errs = append(l.act.Errs, fmt.Errorf("read %s: %w", l.fabric.Topology.Node(r.Device).Name, r.Err))
		if !errors.Is(r.Err, southbound.ErrNotLeader) && !l.away[r.Device] { // else it is read when it is back
			l.readLater(r.Device, now+l.cfg.Rollout.Retry)
		}
		return
	}
	var c southbound.Change
	if r.Device == l.fabric.OCSNode {
		c = l.seenCircuits(s, now, &r.Seen)
	} else {
		// A move in progress tells the switch of its circuit before that is usable: this is not for us to take away.
		rules := slices.DeleteFunc(slices.Clone(r.Seen.Rules), func(x southbound.Rule) bool { return l.mover.Telling(r.Device, x.Match) })
		c = rollout.Diff(l.base.Rules(r.Device, l.wantedCircuits(s)), rules)
	}
	if c.Empty() {
		delete(l.unread, r.Device)
	}
	l.bring(r.Device, c)
}

// wantedCircuits are the circuits that ToRs should steer to, by input.
func (l *Loop) wantedCircuits(s *state.State) []southbound.Port {
	out := make([]southbound.Port, l.fabric.OCSPorts())
	for in := range out {
		out[in] = southbound.NoPort
		if s.Circuit(southbound.Port(in)).Phase == controller.Usable {
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
		if x.In < 0 || int(x.In) >= l.fabric.OCSPorts() {
			continue
		}
		if x.Status == southbound.Connected {
			found[x.In] = x.Out
		}
		l.mover.Event(now, southbound.DeviceEvent{Device: l.fabric.OCSNode, Kind: southbound.ConnectionStatus, In: x.In, Out: x.Out, Status: x.Status})
		// Where the input is wanted for another circuit, the move displaces this one; to take it away by itself could
		// come after the move and take that away.
		if want := s.Circuit(x.In); want.Out == southbound.NoPort && x.Status != southbound.PendingDeletion && !l.mover.Moving(x.In, x.Out) {
			c.Connect = append(c.Connect, southbound.CrossConnect{In: x.In, Out: x.Out, Off: true})
		}
	}
	for in := range l.fabric.OCSPorts() {
		want := s.Circuit(southbound.Port(in))
		if out, ok := found[southbound.Port(in)]; want.Phase == controller.Usable && (!ok || out != want.Out) {
			l.lost(s, now, southbound.DeviceEvent{Device: l.fabric.OCSNode, In: southbound.Port(in), Out: want.Out, Status: southbound.Disconnected})
		}
	}
	return c
}
