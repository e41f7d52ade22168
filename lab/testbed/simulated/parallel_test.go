package simulated_test

import (
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/emulator/fault"
	"lightloom/southbound"
)

// between counts the circuits in service from one cube to another that have carried bytes, and all of them.
func (p *pod) between(from, to int32) (used, all int) {
	for in, c := range p.State.Data().Circuits {
		if c.Phase != controller.InService || p.Fabric().OCSRack(int32(in)) != from ||
			p.Fabric().OCSRack(int32(c.Out)) != to {
			continue
		}
		all++
		if p.Sim.Into(southbound.Port(in)) > 0 {
			used++
		}
	}
	return used, all
}

// TestParallelCircuits: flows between two cubes of a slice are dealt to all of their circuits that tags can name: with
// one spine the circuit's own and five that paths leave free. One of them that fails carries nothing more, and the job
// ends all the same.
func TestParallelCircuits(t *testing.T) {
	p := newPod(t, "pod:cubes=4,side=2,spines=1,eps=100Mbps,ocs=100Mbps,nic=1Gbps,dark=10ms")
	p.settle(time.Second)
	job := sliceJob("j", "2x2x4", 16, time.Second)
	job.Edges[0].Bytes = 200e6
	p.submit(job)
	p.settle(1500 * time.Millisecond)
	j := p.jobNamed("j")
	x := p.is(state.JobSliceName(j.ID), torus.Ready, torus.CircuitsLit)
	a, b := int32(x.Place.Cubes()[0]), int32(x.Place.Cubes()[1])
	for _, pair := range [][2]int32{{a, b}, {b, a}} {
		if used, all := p.between(pair[0], pair[1]); used != 6 || all != 8 {
			t.Errorf("%d of %d circuits from cube %d to %d have carried something", used, all, pair[0], pair[1])
		}
	}
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().OCSNode + 8}) // of a z face
	p.settle(time.Second)
	p.is(x.Name, torus.Incomplete, torus.SwitchAway)
	dead := [2]southbound.Port{}
	for i := range dead {
		dead[i] = southbound.Port(p.Fabric().OCSPort(p.Fabric().OCSNode+8, 2*a+int32(i)))
	}
	before := p.Sim.Into(dead[0]) + p.Sim.Into(dead[1])
	p.settle(8 * time.Second)
	if after := p.Sim.Into(dead[0]) + p.Sim.Into(dead[1]); after != before {
		t.Errorf("%d bytes went into a switch that is away", after-before)
	}
	if j.Ended == state.Unset {
		t.Fatal("the job has not ended")
	}
}

// TestParallelCircuitsWithRates: a policy that sets the rates of host flows knows of one circuit between two cubes.
// Flows over the others have the same rate, and none is held for ever.
func TestParallelCircuitsWithRates(t *testing.T) {
	for _, policy := range []string{"random+ecmp+maxmin", "random+ecmp+sebf"} {
		p := newPodUnder(t, "pod:cubes=4,side=2,spines=1,eps=100Mbps,ocs=100Mbps,nic=1Gbps,dark=10ms", policy)
		p.settle(time.Second)
		job := sliceJob("j", "2x2x4", 16, time.Second)
		job.Edges[0].Bytes = 50e6
		p.submit(job)
		p.settle(30 * time.Second)
		if j := p.jobNamed("j"); j.Ended == state.Unset {
			t.Errorf("%s: the job has not ended", policy)
		}
	}
}
