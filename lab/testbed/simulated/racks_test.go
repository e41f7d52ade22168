package simulated_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/emulator/fault"
	"lightloom/southbound"
)

const rackSwitches = "hybrid:racks=8,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,ocses=4"

// ringLit checks that the circuits of a slice are lit, and no port twice, and returns them.
func (p *pod) ringLit(x state.Slice) []torus.RackCircuit {
	p.Helper()
	into := map[southbound.Port]bool{}
	for _, c := range p.State.Data().Circuits {
		if c.Out != southbound.NoPort && into[c.Out] {
			p.Errorf("port %d is lit twice", c.Out)
		}
		into[c.Out] = true
	}
	n := int32(p.Fabric().Racks)
	for _, c := range x.RackCircuits() {
		if !p.leads(southbound.Port(c.From+n*c.Plane), southbound.Port(c.To+n*c.Plane)) {
			p.Errorf("%v: no circuit from rack %d to rack %d at plane %d", p.Now(), c.From, c.To, c.Plane)
		}
	}
	return x.RackCircuits()
}

// changed counts the circuits of one list that another lacks.
func changed(before, after []torus.RackCircuit) (n int) {
	for _, c := range before {
		if !slices.Contains(after, c) {
			n++
		}
	}
	return n
}

// TestRacksOverSwitches: slices of racks with several circuits each are lit beside a policy, wait for room and are told
// for what, and lose a rack, a port and a switch by circuits of these alone.
func TestRacksOverSwitches(t *testing.T) {
	for _, policy := range []string{"crosslayer", "joint"} {
		t.Run(policy, func(t *testing.T) {
			p := newRacksOf(t, rackSwitches, policy, 0)
			p.wait(time.Second)
			p.ask("a", "racks=3,circuits=2")
			p.ask("b", "racks=4,circuits=3")
			p.ask("c", "racks=2,circuits=1")
			p.ask("d", "racks=8,circuits=5")
			p.wait(time.Second)
			a, b := p.is("a", torus.Ready, torus.CircuitsLit), p.is("b", torus.Ready, torus.CircuitsLit)
			if len(p.ringLit(a)) != 6 || len(p.ringLit(b)) != 12 {
				t.Errorf("a has %v, b has %v", a.RackCircuits(), b.RackCircuits())
			}
			c := p.is("c", torus.Pending, torus.NoRoom)
			if why := p.State.WhySlice(&c, nil); why != "it fits once these have ended: a" {
				t.Error(why)
			}
			if why := p.is("d", torus.Failed, torus.ShapeImpossible).Why; !strings.Contains(why, "racks=8,circuits=4") {
				t.Error(why)
			}
			p.end("c")
			p.loseRackPort(a)
			p.loseRackSwitch()
			p.loseRack()
			for _, name := range []string{"a", "b", "d"} {
				p.end(name)
			}
			p.wait(time.Second)
			if p.State.Reserved() != 0 || len(p.State.Slices()) != 0 {
				t.Errorf("%d reservations and %d slices are left", p.State.Reserved(), len(p.State.Slices()))
			}
		})
	}
}

// loseRackPort: a cable to a switch goes dark, and the two circuits over it take another switch.
func (p *pod) loseRackPort(a state.Slice) {
	p.Helper()
	before, b, _ := a.RackCircuits(), p.State.Data().Circuits, 0
	standing := slices.Clone(b)
	f, first := p.Fabric(), before[0]
	at := first.From + int32(f.Racks)*first.Plane
	cable := f.Topology.OutPort(f.ToRNode[first.From], f.OCSUplink[at])
	p.apply(fault.Change{Kind: fault.Link, Cable: cable &^ 1})
	p.wait(time.Second)
	now := p.is("a", torus.Ready, torus.CircuitsLit)
	if n := changed(before, p.ringLit(now)); n != 2 {
		p.Errorf("%d circuits changed for one port: %v to %v", n, before, now.RackCircuits())
	}
	other, _ := p.State.Slice("b")
	p.stand(standing, other)
	p.apply(fault.Change{Kind: fault.Link, Cable: cable &^ 1, Up: true})
	p.wait(time.Second)
}

// stand fails where a circuit of a slice is another than it was.
func (p *pod) stand(before []state.Circuit, x state.Slice) {
	p.Helper()
	for _, c := range x.RackCircuits() {
		in := c.From + int32(p.Fabric().Racks)*c.Plane
		if p.State.Data().Circuits[in] != before[in] {
			p.Errorf("circuit %+v of %s is touched", c, x.Name)
		}
	}
}

// loseRackSwitch: a switch dies, and takes nothing for long that another switch has ports for.
func (p *pod) loseRackSwitch() {
	p.Helper()
	b, _ := p.State.Slice("b")
	plane := b.Planes[0][0]
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().OCSNode + southbound.DeviceID(plane)})
	p.wait(3 * time.Second)
	for _, name := range []string{"a", "b"} {
		x := p.is(name, torus.Ready, torus.CircuitsLit)
		for _, c := range p.ringLit(x) {
			if c.Plane == plane {
				p.Errorf("%s has a circuit at the dead switch", name)
			}
		}
	}
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().OCSNode + southbound.DeviceID(plane), Up: true})
	p.wait(20 * time.Second)
}

// loseRack: the switch of a rack dies, and a spare rack takes its place.
func (p *pod) loseRack() {
	p.Helper()
	a, _ := p.State.Slice("a")
	before, standing, dead := a.RackCircuits(), slices.Clone(p.State.Data().Circuits), a.Ring[0]
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().ToRNode[dead]})
	p.wait(5 * time.Second)
	now := p.is("a", torus.Ready, torus.CircuitsLit)
	if slices.Contains(now.Ring, dead) || now.Swaps != 1 || changed(before, p.ringLit(now)) != 4 {
		p.Errorf("%d swaps, racks %v, circuits %v", now.Swaps, now.Ring, now.RackCircuits())
	}
	b, _ := p.State.Slice("b")
	p.stand(standing, b)
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().ToRNode[dead], Up: true})
	p.wait(5 * time.Second)
}

// TestRacksBesidePolicies: circuits of slices stand beside any policy over all switches, all jobs end, and no pair of
// racks is joined twice.
func TestRacksBesidePolicies(t *testing.T) {
	for _, policy := range []string{"random+ecmp+sunflow", "joint", "random+ecmp+rotor", "random+ecmp+static"} {
		t.Run(policy, func(t *testing.T) {
			p := newRacksOf(t, rackSwitches, policy, 12)
			p.wait(20 * time.Millisecond)
			p.ask("a", "racks=3,circuits=2")
			p.wait(500 * time.Millisecond)
			a := p.is("a", torus.Ready, torus.CircuitsLit)
			for range 20 {
				p.wait(250 * time.Millisecond)
				p.ringLit(a)
			}
			p.end("a")
			p.wait(60 * time.Second)
			for _, j := range p.State.Data().Jobs {
				if j.Ended == state.Unset {
					t.Errorf("job %d has not ended", j.ID)
				}
			}
		})
	}
}

// TestHostsOverSwitches: a slice of hosts shares racks with another, at other switches, and keeps its racks.
func TestHostsOverSwitches(t *testing.T) {
	p := newRacksOf(t, rackSwitches, "crosslayer", 0)
	p.wait(time.Second)
	p.askHosts("a", 0, 2, 4)
	p.askHosts("b", 1, 3)
	p.request(loop.SliceRequest{Name: "c", Hosts: []int32{0, 2, 4}, Shape: torus.RackShape(3, 2), Request: "c",
		Refused: func(err error) { t.Error(err) }})
	p.request(loop.SliceRequest{Name: "d", Hosts: []int32{0, 2}, Shape: torus.RackShape(3, 2), Request: "d",
		Refused: func(err error) { t.Error(err) }})
	p.wait(time.Second)
	a, c := p.is("a", torus.Ready, torus.CircuitsLit), p.is("c", torus.Pending, torus.NoRoom)
	p.is("b", torus.Pending, torus.NoRoom)
	p.is("d", torus.Failed, torus.RacksImpossible)
	p.ringLit(a)
	if why := p.State.WhySlice(&c, nil); !strings.Contains(why, "b") {
		t.Error(why)
	}
	var said error
	p.request(loop.SliceRequest{Name: "e", Shape: torus.Box(2, 2, 2), Request: "e",
		Refused: func(err error) { said = err }})
	p.wait(time.Second)
	if !errors.Is(said, loop.ErrSliceShape) {
		t.Errorf("a box on racks: %v", said)
	}
}

// TestJobOnRacks: a job that asks for racks begins once they are joined, on their hosts alone, and a rack that dies
// under it is swapped.
func TestJobOnRacks(t *testing.T) {
	p := newRacksOf(t, rackSwitches, "crosslayer", 0)
	p.wait(time.Second)
	p.submit(sliceJob("j", "racks=3,circuits=2", 6, 3*time.Second))
	p.submit(sliceJob("plain", "", 4, time.Second))
	p.wait(500 * time.Millisecond)
	j := p.jobNamed("j")
	x := p.is(state.JobSliceName(j.ID), torus.Ready, torus.CircuitsLit)
	on := func(x state.Slice) {
		t.Helper()
		for _, h := range p.jobNamed("j").Hosts {
			if h < 0 || !slices.Contains(x.Ring, p.Fabric().RackOf(int32(h))) {
				t.Errorf("host %d is not of racks %v", h, x.Ring)
			}
		}
	}
	on(x)
	dead := x.Ring[1]
	for i := range int32(2) {
		p.apply(fault.Change{Kind: fault.Host, Host: southbound.HostID(p.Fabric().FirstHost[dead] + i)})
	}
	p.wait(2 * time.Second)
	x = p.is(state.JobSliceName(j.ID), torus.Ready, torus.CircuitsLit)
	if x.Swaps != 1 || slices.Contains(x.Ring, dead) {
		t.Errorf("racks %v after rack %d has died", x.Ring, dead)
	}
	on(x)
	p.wait(20 * time.Second)
	if p.jobNamed("j").Ended == state.Unset || len(p.State.Slices()) != 0 {
		t.Error("the job has not ended, or its slice has not")
	}
}

// TestRacksSurviveLeader: a new leader takes over slices of racks halfway, and snapshots hold them.
func TestRacksSurviveLeader(t *testing.T) {
	p := newRacksOf(t, rackSwitches, "joint", 0)
	p.wait(time.Second)
	p.ask("a", "racks=4,circuits=3")
	p.wait(3 * time.Millisecond)
	p.is("a", torus.Activating, torus.SettingCircuits)
	p.apply(fault.Change{Kind: fault.Controller, Controller: 0})
	p.wait(5 * time.Second)
	p.ringLit(p.is("a", torus.Ready, torus.CircuitsLit))
	snap, err := p.State.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := state.New(p.Fabric())
	if err := again.Restore(snap); err != nil || again.Digest() != p.State.Digest() {
		t.Errorf("read back: %v", err)
	}
}
