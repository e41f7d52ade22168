package loop_test

import (
	"fmt"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// stubborn reserves a circuit for the first coflow as often as its port has light and nothing is
// reserved.
type stubborn struct{}

func (stubborn) Wants() controller.KindSet { return ^controller.KindSet(0) }

func (stubborn) Capabilities() controller.Capabilities {
	return controller.Capabilities{Circuits: true}
}

func (stubborn) Decide(v *controller.View, _ []controller.Event) *controller.Plan {
	p := &controller.Plan{Wake: southbound.Never}
	for _, j := range v.Waiting {
		p.Place = append(p.Place, controller.Placement{Job: j.ID})
	}
	uplink := v.Fabric.Topology.OutPort(v.Fabric.ToRNode[0], v.Fabric.OCSUplink[0])
	if len(v.Coflows) == 0 || !v.Coflows[0].Started || len(v.Reserved) > 0 || v.Down != nil && v.Down[uplink] {
		return p
	}
	p.Reserve = []controller.CircuitReservation{{In: 0, Out: 1, Coflow: v.Coflows[0].ID, NotBefore: v.Now,
		NotAfter: v.Now + time.Hour}}
	return p
}

// TestRefusingDevice: a policy that wants a circuit again as often as a switch refuses it at once asks for
// it ever less often, down to a bound, and gets it once the switch takes it.
func TestRefusingDevice(t *testing.T) {
	for _, refuses := range []string{"ocs", "tor0"} {
		t.Run(refuses, func(t *testing.T) {
			w, err := newWorld("hybrid:racks=3,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=2")
			if err != nil {
				t.Fatal(err)
			}
			const retry = 5 * time.Millisecond
			w.loop = loop.New(w.fabric, loop.Config{Policy: stubborn{}, Paths: w.paths, Delta: 15 * time.Millisecond,
				ElephantThreshold: 1, Rollout: rollout.Options{Drain: time.Millisecond, Timeout: time.Second,
					Retry: retry}})
			asked, last := 0, time.Duration(0)
			run := func(until time.Duration, refuse bool) (lit bool) {
				for ; w.now < until; w.now += time.Millisecond {
					for again := true; again; {
						if again, err = w.pass(); err != nil {
							t.Fatal(err)
						}
					}
					lit = lit || w.state.Circuit(0).Phase == controller.InService
					for _, s := range w.sets {
						if c := s.Change.Connect; len(c) > 0 && !c[0].Off {
							asked, last = asked+1, w.now
						}
						if asked > 100 {
							t.Fatalf("%d tries by %v", asked, w.now)
						}
					}
					if refuse {
						w.answer(fmt.Errorf("no: %w", southbound.ErrRefused), refuses)
					}
					w.answer(nil)
					for in, out := range w.made { // light comes at once
						if out != southbound.NoPort && w.tables.Circuits[in] != out {
							w.tables.Circuits[in] = out
							w.tell(southbound.Port(in), out, southbound.Connected)
						}
					}
				}
				return lit
			}
			run(30*time.Millisecond, false) // all switches get what they are to hold
			w.in.Jobs = []controller.Offer{{Request: "a", Job: &controller.Job{Name: "a",
				Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 1 << 20}}}}}}}
			if run(2*time.Second, true) || asked < 8 || asked > 2000/(64*5)+12 {
				t.Errorf("%d tries in two seconds", asked)
			}
			if !run(3*time.Second, false) || last > 2*time.Second+65*retry {
				t.Errorf("the last try is at %v, and no circuit is in service", last)
			}
		})
	}
}
