package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/southbound"
)

// seats are the replicas of the controller as the simulator has them: they share one state, for a log that has been
// applied everywhere is nothing but that, and the one that leads is a number.
type seats struct {
	dead    []bool
	leader  int
	vacant  bool // nobody leads
	changes int64
	outage  time.Duration // the longest
	since   time.Duration // vacant since then
}

// electing is how long a cluster takes to find a leader again and to program a first change: what three replicas on two
// cores with raft's timeouts of 400 ms take on packets.
const electing = 600 * time.Millisecond

// plan puts the faults on the simulator's clock.
func (x *simulation) plan() error {
	x.seats.dead = make([]bool, max(1, x.setup.opt.Replicas))
	if len(x.setup.faults) == 0 {
		return nil
	}
	x.broken = newBreakdown(fault.NewNames(x.state.Fabric(), len(x.seats.dead)))
	if slices.ContainsFunc(x.setup.faults, func(e fault.Event) bool { return e.Kind == fault.Fibre }) && x.state.Fabric().HasOCS() {
		x.sim.Patch()
	}
	for _, e := range x.setup.faults {
		if x.broken.names.Check(e.Fault) != nil {
			continue // this row's fabric has no such thing: tell says so
		}
		x.sim.At(e.At, func() { x.err = errors.Join(x.err, x.strike(e)) })
	}
	for _, id := range x.sim.Devices() {
		x.sim.Do(id, func(_ time.Duration, d *device.Device) {
			d.OnApplied(func(a device.Applied) { x.broken.applied(a.At, a) })
		})
	}
	x.sample(x.setup.every())
	return nil
}

// every is how often the simulator reads what has been received, where something fails: some 200 times until the last
// arrival or fault.
func (s *setup) every() time.Duration {
	return max((s.last()+s.faults[len(s.faults)-1].At)/200, 10*time.Millisecond)
}

// sample notes what has been received, now and every so often while jobs run.
func (x *simulation) sample(every time.Duration) {
	x.broken.levels = append(x.broken.levels, level{x.sim.Now(), x.sim.Counters().Delivered})
	if x.state.Finished() < len(x.setup.jobs) && len(x.broken.levels) < 1<<16 && !x.still() {
		x.sim.At(x.sim.Now()+every, func() { x.sample(every) })
	}
}

// still says whether nothing has been received for a while and no fault is to come or go: the sampling must not keep a
// run alive that stands still.
func (x *simulation) still() bool {
	n := len(x.broken.levels)
	last := x.setup.faults[len(x.setup.faults)-1].At
	const idle = 400
	return n > idle && x.sim.Now() > last && x.sim.Now() > x.setup.last() && x.broken.levels[n-1].Bytes == x.broken.levels[n-idle].Bytes
}

// strike has something fail, or come back, now.
func (x *simulation) strike(e fault.Event) error {
	changes, _, err := x.broken.strike(e, x.sim.Now())
	for _, c := range changes {
		switch c.Kind {
		case fault.Link:
			x.sim.Cable(c.Cable, c.Up)
		case fault.Switch:
			x.sim.Power(c.Device, c.Up, coldBoot)
		case fault.Host:
			err = errors.Join(err, x.sim.Fail(c.Host, c.Up))
		case fault.Fibre:
			err = errors.Join(err, x.sim.Plug(c.In, c.Out))
		case fault.Controller:
			x.reseat(c.Controller, c.Up)
		}
	}
	return err
}

// reseat kills a replica or starts it again. Without its leader or without a majority the cluster has no leader; with a
// majority it finds one after a while.
func (x *simulation) reseat(i int, up bool) {
	s := &x.seats
	s.dead[i] = !up
	alive := 0
	for _, dead := range s.dead {
		if !dead {
			alive++
		}
	}
	most := 2*alive > len(s.dead)
	switch {
	case !s.vacant && (s.dead[s.leader] || !most):
		s.vacant, s.since = true, x.sim.Now()
		x.lives++ // what it has asked for and not heard of is lost
	case !s.vacant || !most:
		return
	}
	if most {
		x.sim.At(x.sim.Now()+electing, x.seat)
	}
}

// seat makes a replica that is alive the leader, if there is none and a majority is alive still.
func (x *simulation) seat() {
	s := &x.seats
	alive, first := 0, -1
	for i, dead := range s.dead {
		if !dead {
			if alive++; first < 0 {
				first = i
			}
		}
	}
	if !s.vacant || 2*alive <= len(s.dead) {
		return
	}
	s.vacant, s.leader = false, first
	s.changes++
	s.outage = max(s.outage, x.sim.Now()-s.since)
	x.in = loop.Inputs{Jobs: x.in.Jobs, Events: x.in.Events} // hosts keep their events until somebody has heard
	for _, id := range x.sim.Devices() {
		x.in.Devices = append(x.in.Devices, x.watch(id)...)
	}
	x.err = errors.Join(x.err, x.elect())
}

// watch is what a new watch of a device begins with.
func (x *simulation) watch(id southbound.DeviceID) (out []southbound.DeviceEvent) {
	seen, err := x.sim.Device(id).Read(context.Background())
	e := southbound.DeviceEvent{At: x.sim.Now(), Device: id, Kind: southbound.Lost, In: southbound.NoPort, Out: southbound.NoPort}
	if err != nil {
		return append(out, e)
	}
	for _, p := range seen.Down {
		e.Kind, e.In = southbound.PortDown, p
		out = append(out, e)
	}
	e.Kind, e.In = southbound.Synced, southbound.NoPort
	return append(out, e)
}

// grave returns those errors of the controller that are no consequence of a fault.
func (x *simulation) grave(errs []error) error {
	if x.broken == nil {
		return errors.Join(errs...)
	}
	var out []error
	for _, err := range errs {
		if !errors.Is(err, device.ErrDown) {
			out = append(out, err)
		}
	}
	return errors.Join(out...)
}

// tell adds to an outcome what failed.
func (x *simulation) tell(o *outcome) {
	if x.broken == nil {
		return
	}
	o.Faults, o.Levels = x.broken.settle(), append(x.broken.levels, level{x.sim.Now(), x.sim.Counters().Delivered})
	o.LeaderChanges, o.LeaderOutage = x.seats.changes, x.seats.outage
	o.Reasons = reasons(x.state)
	for _, e := range x.setup.faults {
		if !e.Heal && x.broken.names.Check(e.Fault) != nil {
			o.Notes = append(o.Notes, fmt.Sprintf("this row's fabric has no %v: it did not fail.", e.Fault))
		}
	}
}

// reasons says of the jobs that have not ended what they wait for, as far as it has failed.
func reasons(s *state.State) map[controller.JobID]string {
	f := s.Fabric()
	out := map[controller.JobID]string{}
	for _, j := range s.Data().Jobs {
		if j.Ended != state.Unset {
			continue
		}
		why := s.Reason(j, func(h southbound.HostID) string { return f.Topology.Node(f.HostNode[h]).Name })
		switch {
		case why != "":
		case j.Placed == state.Unset:
			why = "it waits for slots"
		case len(s.Data().Down) > 0:
			why = "no path is whole that its bundles could take"
		}
		if why != "" {
			out[j.ID] = why
		}
	}
	return out
}
