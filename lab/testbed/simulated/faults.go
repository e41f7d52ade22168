package simulated

import (
	"context"
	"errors"
	"slices"
	"time"

	"lightloom/controller/loop"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/testbed"
	"lightloom/southbound"
)

// simulatedReplicas are the controller's replicas on the simulator. They share one state, since all would apply the
// same log, and the leader is a number.
type simulatedReplicas struct {
	dead    []bool
	leader  int
	vacant  bool // there is no leader
	changes int64
	outage  time.Duration // the longest
	since   time.Duration // vacant since then
	Lives   int           // leaderships so far: results of an earlier one's calls are not passed to a later one
}

// electing is how long a cluster takes to elect a leader and program a first change: the time of three
// replicas on two cores with raft's timeouts of 400 ms, measured on packets.
const electing = 600 * time.Millisecond

// Apply implements Testbed.
func (x *Testbed) Apply(_ context.Context, c fault.Change) error {
	switch c.Kind {
	case fault.Link:
		x.Sim.Cable(c.Cable, c.Up)
	case fault.Switch:
		x.Sim.Power(c.Device, c.Up, testbed.ColdBoot)
	case fault.Host:
		return x.Sim.Fail(c.Host, c.Up)
	case fault.Fibre:
		return x.Sim.Plug(c.In, c.Out)
	case fault.Controller:
		x.setReplica(c.Controller, c.Up)
	}
	return nil
}

// setReplica kills a replica or starts it again. The cluster has no leader once the leader or the majority
// is gone; with a majority it elects one after a while.
func (x *Testbed) setReplica(i int, up bool) {
	s := &x.Seats
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
		s.vacant, s.since = true, x.Sim.Now()
		s.Lives++ // results of its pending calls are lost
	case !s.vacant || !most:
		return
	}
	if most {
		x.Sim.At(x.Sim.Now()+electing, x.chooseLeader)
	}
}

// chooseLeader makes a live replica the leader, if there is none and a majority is alive.
func (x *Testbed) chooseLeader() {
	s := &x.Seats
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
	s.outage = max(s.outage, x.Sim.Now()-s.since)
	x.in = loop.Inputs{Jobs: x.in.Jobs, Events: x.in.Events} // hosts keep events until they are acknowledged
	for _, id := range x.Sim.Devices() {
		x.in.Devices = append(x.in.Devices, x.watch(id)...)
	}
	x.err = errors.Join(x.err, x.elect())
}

// watch returns the events that a new watch of a device begins with.
func (x *Testbed) watch(id southbound.DeviceID) (out []southbound.DeviceEvent) {
	seen, err := x.Sim.Device(id).Read(context.Background())
	e := southbound.DeviceEvent{At: x.Sim.Now(), Device: id, Kind: southbound.Lost, In: southbound.NoPort,
		Out: southbound.NoPort}
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

// realErrors returns the controller's errors that are not consequences of a fault.
func (x *Testbed) realErrors(errs []error) error {
	if len(x.s.Faults) > 0 {
		errs = slices.DeleteFunc(slices.Clone(errs),
			func(err error) bool { return errors.Is(err, device.ErrDown) })
	}
	return errors.Join(errs...)
}
