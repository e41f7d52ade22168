package simulated_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/emulator/fault"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/simulated"
	"lightloom/southbound"
)

// newRacks is a fabric of racks on the simulator with jobs under a policy, whose slices are asked for by hand.
func newRacks(t testing.TB, policy string, jobs int) *pod {
	t.Helper()
	return newRacksOf(t, "hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms", policy, jobs)
}

func newRacksOf(t testing.TB, spec, policy string, jobs int) *pod {
	t.Helper()
	p, err := scenario.Prepare(scenario.Options{Fabric: spec,
		Policies: []string{policy}, Coflows: max(jobs, 1), Replicas: 3, On: scenario.OnFlowsim, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Scenario(p.Rows[0])
	// A run that says that something fails takes calls to switches that are down as part of it.
	s.Faults = []fault.Event{{At: time.Hour, Fault: fault.Fault{Kind: fault.Link, Name: "tor0-spine0"}}}
	x, err := simulated.New(s, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		j := &s.Jobs[i]
		x.At(j.Arrival, func(ctx context.Context) error { return x.Submit(ctx, i, j) })
	}
	return &pod{t, x}
}

// wait is settle where ports are not those of slices alone.
func (p *pod) wait(d time.Duration) {
	p.Helper()
	until, done := p.Now()+d, false
	p.Sim.At(until, func() { done = true })
	for !done {
		if err := p.Wait(p.Context()); err != nil {
			p.Fatal(err)
		}
	}
}

func (p *pod) askHosts(name string, hosts ...int32) {
	p.request(loop.SliceRequest{Name: name, Hosts: hosts, Request: name,
		Refused: func(err error) { p.Errorf("%s: %v", name, err) }})
}

func (p *pod) leads(in, out southbound.Port) bool {
	c := p.State.Circuit(in)
	return c.Out == out
}

// TestRings: slices of hosts are rings of their racks. They wait for ports in their order, one that shares none with
// those that wait goes ahead, and ports are free once they end.
func TestRings(t *testing.T) {
	p := newRacks(t, "crosslayer+sunflow", 0)
	p.askHosts("a", 0, 3, 4) // racks 0, 1, 2
	p.wait(time.Second)
	p.is("a", torus.Ready, torus.CircuitsLit)
	if !p.leads(0, 1) || !p.leads(1, 2) || !p.leads(2, 0) || p.lit() != 3 {
		t.Errorf("circuits: %+v", p.State.Data().Circuits)
	}
	p.askHosts("b", 5, 6) // racks 2, 3
	p.wait(time.Second)
	b := p.is("b", torus.Pending, torus.NoRoom)
	if why := p.State.WhySlice(&b, nil); !strings.Contains(why, "once these have ended: a") {
		t.Errorf("b waits: %s", why)
	}
	p.askHosts("c", 7, 6) // one rack, which needs no circuit
	p.askHosts("d", 6, 0) // behind b for rack 3
	p.wait(time.Second)
	p.is("c", torus.Ready, torus.CircuitsLit)
	p.is("d", torus.Pending, torus.NoRoom)
	p.end("a")
	p.wait(time.Second)
	p.is("b", torus.Ready, torus.CircuitsLit)
	p.is("d", torus.Pending, torus.NoRoom)
	p.end("b")
	p.end("c")
	p.wait(time.Second)
	p.is("d", torus.Ready, torus.CircuitsLit)
	p.end("d")
	p.wait(time.Second)
	if p.State.Reserved() != 0 || len(p.State.Slices()) != 0 {
		t.Errorf("%d reservations and %d slices are left", p.State.Reserved(), len(p.State.Slices()))
	}
}

// TestRingsBesidePolicies: whatever a policy does with the other ports, those of a slice are its own, all jobs end, and
// the policy has them again after it.
func TestRingsBesidePolicies(t *testing.T) {
	for _, policy := range []string{"random+ecmp+sunflow", "joint", "random+ecmp+solstice", "random+ecmp+static"} {
		t.Run(policy, func(t *testing.T) {
			p := newRacks(t, policy, 12)
			p.wait(20 * time.Millisecond)
			p.askHosts("a", 0, 2)
			p.wait(500 * time.Millisecond)
			p.is("a", torus.Ready, torus.CircuitsLit)
			for range 40 {
				p.wait(250 * time.Millisecond)
				if !p.leads(0, 1) || !p.leads(1, 0) {
					t.Fatalf("%v: %+v", p.Now(), p.State.Data().Circuits)
				}
			}
			p.end("a")
			p.wait(60 * time.Second)
			for _, j := range p.State.Data().Jobs {
				if j.Ended == state.Unset {
					t.Errorf("job %d has not ended", j.ID)
				}
			}
			if n := len(p.State.Data().Jobs); n != 12 {
				t.Errorf("%d jobs of 12", n)
			}
		})
	}
}
