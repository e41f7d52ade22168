package simulated_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"lightloom/controller/torus"
	"lightloom/emulator/fault"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/simulated"
)

// TestSliceFigures: from 16 to 256 slices that fill a pod of 64 cubes of 4×4×4, asked for at once, and a cube that
// fails, for three sets of device delays. Times are the simulator's.
func TestSliceFigures(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "kube" {
		t.Skip("takes minutes: set LIGHTLOOM_MEASURE=kube")
	}
	t.Log("delays,what,count,p50 ms,p99 ms,most ms")
	for _, delays := range []string{"", "apply=10ms,dark=25ms,lock=100ms", "apply=100ms,dark=1s,lock=10s"} {
		for _, c := range []struct {
			count int
			shape string
		}{{16, "4x8x8"}, {32, "4x4x8"}, {64, "4x4x4"}, {128, "2x4x4"}, {256, "2x2x4"}} {
			p := delayedPod(t, delays)
			for i := range c.count {
				p.ask(fmt.Sprint("s", i), c.shape)
			}
			p.settle(time.Minute)
			var took []time.Duration
			for i := range c.count {
				s := p.is(fmt.Sprint("s", i), torus.Ready, torus.CircuitsLit)
				took = append(took, s.Readied-s.Asked)
			}
			slices.Sort(took)
			t.Logf("%q,%d of %s,%d,%d,%d,%d", delays, c.count, c.shape, c.count, took[len(took)/2].Milliseconds(),
				took[(len(took)-1)*99/100].Milliseconds(), took[len(took)-1].Milliseconds())
		}
		p := delayedPod(t, delays)
		p.ask("a", "4x4x8")
		p.settle(time.Minute)
		s := p.is("a", torus.Ready, torus.CircuitsLit)
		failed := p.Now()
		p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().ToRNode[s.Place.Pieces[0].Cube]})
		p.settle(time.Minute)
		s = p.is("a", torus.Ready, torus.CircuitsLit)
		if s.Swaps != 1 {
			t.Errorf("%d cubes were swapped", s.Swaps)
		}
		t.Logf("%q,a cube of 4x4x8 fails until Ready again,1,%d,,", delays, (s.Since - failed).Milliseconds())
	}
}

// delayedPod is a pod of 64 cubes whose devices take their time.
func delayedPod(t *testing.T, delays string) *pod {
	t.Helper()
	p, err := scenario.Prepare(scenario.Options{Fabric: "pod:cubes=64,side=4,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms",
		Policies: []string{"crosslayer"}, Coflows: 1, Replicas: 3, On: scenario.OnFlowsim, Seed: 1, Delays: delays}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Scenario(p.Rows[0])
	s.Jobs = nil
	x, err := simulated.New(s, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := &pod{t, x}
	out.settle(time.Second)
	return out
}
