package loop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// facts turns inputs into entries, and into steps of the moves in progress.
func (l *Loop) facts(s *state.State, now time.Duration, in *Inputs) {
	for _, o := range in.Jobs {
		if !o.Recorded {
			own := *o.Job
			own.Arrival = now
			o.Job = &own
		}
		if err := cmp.Or(o.Job.CheckOn(l.fabric), s.CheckSliceNames(o.Job)); err != nil {
			l.pass.fail(fmt.Errorf("accept %w", err))
			continue
		}
		e := state.Entry{Kind: state.JobAccepted, At: now, Job: o.Job, Request: o.Request}
		if !s.Admits(&e) {
			l.pass.fail(fmt.Errorf("accept job %q: it has loads, reads, places of blocks, a slice or hosts, which some replica "+
				"is too old for: %w", o.Job.Name, state.ErrLevel))
			continue
		}
		l.pass.add(e)
	}
	l.grantBandwidth(s, now, in.BandwidthRequests)
	l.grantAccess(s, now, in.Grants)
	l.changeFabric(s, now, in.Changes)
	l.requestSlices(s, now, in.Slices)
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
	l.devices.readDue(now, &l.pass)
}

// done handles the result of a Set. After a Set that failed in transit the device's contents are
// unknown: it is read after a while. A device is also read after the Set that should bring it into its
// state, since an acceptance proves nothing. A device that refused a Set would refuse it again, and a
// device that knows a later leader is no longer ours.
func (l *Loop) done(now time.Duration, d *SetDone) {
	l.circuits.mover.Done(now, d.Token, d.Err)
	l.multihops.done(d.Token, d.Err)
	rerouted := l.devices.fastReroute.done(d.Token)
	r, awaited := l.devices.answered(d)
	switch {
	case errors.Is(d.Err, southbound.ErrRefused) || errors.Is(d.Err, southbound.ErrNotLeader):
	case d.Err != nil:
		l.devices.readLater(d.Device, now+l.cfg.Rollout.Retry)
	case awaited && r.behind != nil && l.catchUp(now, d.Device, r.behind):
	case awaited && r.tries == 1 && rerouted:
		l.devices.readLater(d.Device, l.devices.fastReroute.until) // other switches are still to hear of it
	case awaited && r.tries == 1:
		l.pass.read(d.Device)
	case awaited: // it did not hold what it had accepted: perhaps it is slow
		l.devices.readLater(d.Device, now+l.cfg.Rollout.Retry<<min(r.tries, 6))
	}
	if awaited && d.Err != nil {
		l.pass.fail(fmt.Errorf("bring %s into its state: %w", l.fabric.Topology.Node(d.Device).Name, d.Err))
	}
}

func (l *Loop) hostFact(s *state.State, now time.Duration, e *southbound.Event) {
	switch e.Kind {
	case southbound.HostFlowEnded:
		c := s.Coflow(e.Coflow)
		if c == nil && !s.Knew(e.Coflow) {
			l.pass.fail(fmt.Errorf("host reports the end of coflow %d: no such coflow", e.Coflow))
			return
		}
		if c == nil || c.Ended != state.Unset {
			return
		}
		if c.Started == state.Unset || int(e.Row) >= len(c.Done) || e.Row < 0 {
			l.pass.fail(fmt.Errorf("host reports the end of host flow %d of coflow %d: it was not started", e.Row, e.Coflow))
			return
		}
		if c.Done[e.Row] {
			return
		}
		if dst := c.Columns.Dst[e.Row]; e.Host != dst {
			l.pass.fail(fmt.Errorf("host %d reports the end of host flow %d of coflow %d: host %d receives it", e.Host, e.Row,
				e.Coflow, dst))
			return
		}
		at := within(e.At, c.Started, now)
		x := l.pass.put(state.HostFlowEnded, at)
		x.Coflow, x.Row = e.Coflow, e.Row
		l.pending.note(controller.HostFlowEnded, at, c.Job, e.Coflow, e.Row)
		for in := int(s.RackOf(c.Columns.Src[e.Row])); in < max(l.fabric.OCSPorts(),
			l.fabric.Racks); in += l.fabric.Racks {
			l.reservations.idle.add(southbound.Port(in))
		}
		if n := len(l.pending.touched); n == 0 || l.pending.touched[n-1] != e.Coflow {
			l.pending.touch(e.Coflow)
		}
	case southbound.HostLost, southbound.HostFound:
		l.host(s, now, e)
	case southbound.TaskEnded:
		_, t := s.Task(e.Task)
		switch {
		case t == nil && e.Task >= 0 && e.Task < s.Live().Next.Task:
			return // it has left the state
		case t == nil:
			l.pass.fail(fmt.Errorf("host reports the end of task %d: no such task", e.Task))
		case t.Try != e.Try:
			return // it ended on a host that was lost before anybody heard
		case t.Ended == state.Unset && l.pass.hostLost(t.Host):
			return // this pass gives it another try
		case t.Ended == state.Unset && t.Host != e.Host:
			l.pass.fail(fmt.Errorf("host %d reports the end of task %d: it is on host %d", e.Host, e.Task, t.Host))
		case t.Ended == state.Unset && s.Held(t.Job, t.Stage):
			l.pass.fail(fmt.Errorf("host reports the end of task %d: streams hold it", e.Task))
		case t.Started == state.Unset:
			l.pass.fail(fmt.Errorf("host reports the end of task %d: it was not started", e.Task))
		case t.Ended == state.Unset:
			l.pass.add(state.Entry{Kind: state.TaskEnded, At: within(e.At, t.Started, now), Task: e.Task})
			l.pending.freed = true
		}
	}
}

// within is the end of something by a host's clock, limited to the possible: not before its start nor
// after now.
func within(at, start, now time.Duration) time.Duration { return min(max(at, start), now) }

func (l *Loop) deviceFact(s *state.State, now time.Duration, e *southbound.DeviceEvent) {
	switch e.Kind {
	case southbound.ConnectionStatus:
		l.circuits.mover.Event(now, *e)
		if e.Status != southbound.Connected {
			l.reportedLost(s, now, e)
		}
	case southbound.PortUp, southbound.PortDown:
		if l.cables.followsCircuits(e) {
			l.uplink(s, now, e)
		} else if l.fabric.Topology.OutPort(e.Device, int32(e.In)) != pathmap.None {
			l.port(s, now, state.PortRef{Device: e.Device, Port: e.In}, e.Kind == southbound.PortUp)
		}
	case southbound.Lost:
		l.devices.away[e.Device] = true
		l.cables.forget(e.Device)
		l.switchGone(s, now, e.Device)
		l.hear(now, e.Device, false)
	case southbound.Synced:
		delete(l.devices.away, e.Device)
		l.hear(now, e.Device, true)
		l.synced(s, now, e.Device)
	}
}

// seen brings a device that has been read into its wanted state.
func (l *Loop) seen(s *state.State, now time.Duration, r *DeviceSeen) {
	if r.Err != nil {
		l.pass.fail(fmt.Errorf("read %s: %w", l.fabric.Topology.Node(r.Device).Name, r.Err))
		if !errors.Is(r.Err, southbound.ErrNotLeader) && !l.devices.away[r.Device] { // else it is read when it is back
			l.devices.readLater(r.Device, now+l.cfg.Rollout.Retry)
		}
		return
	}
	var c southbound.Change
	if l.fabric.IsOCS(r.Device) {
		c = l.seenCircuits(s, now, r.Device, &r.Seen)
	} else {
		// A move in progress steers the switch before its circuit is in service: do not take that rule away.
		rules := slices.DeleteFunc(slices.Clone(r.Seen.Rules), func(x southbound.Rule) bool {
			return l.circuits.mover.Announced(r.Device, x.Match)
		})
		c = rollout.Diff(l.base.Rules(r.Device, l.wantedCircuits(s)), rules)
	}
	if c.Empty() {
		delete(l.devices.unread, r.Device)
	}
	l.bring(r.Device, c)
}
