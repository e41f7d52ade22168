package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/emulator/fault"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/simulated"
	"lightloom/southbound"
)

// pod is a pod on the simulator whose slices are asked for by hand.
type pod struct {
	testing.TB
	*simulated.Testbed
}

func newPod(t testing.TB, spec string) *pod {
	t.Helper()
	return newPodUnder(t, spec, "crosslayer")
}

func newPodUnder(t testing.TB, spec, policy string) *pod {
	t.Helper()
	p, err := scenario.Prepare(scenario.Options{Fabric: spec, Policies: []string{policy}, Coflows: 1, Replicas: 3,
		On: scenario.OnFlowsim, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Scenario(p.Rows[0])
	s.Jobs = nil
	x, err := simulated.New(s, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &pod{t, x}
}

// settle runs until nothing more happens for a while.
func (p *pod) settle(d time.Duration) {
	p.Helper()
	until := p.Now() + d
	done := false
	p.Sim.At(until, func() { done = true })
	for !done {
		if err := p.Wait(p.Context()); err != nil {
			p.Fatal(err)
		}
	}
	p.checkPorts()
}

// checkPorts: no port has two circuits, and each belongs to a slice.
func (p *pod) checkPorts() {
	p.Helper()
	into := map[southbound.Port]bool{}
	for in, c := range p.State.Data().Circuits {
		if c.Out == southbound.NoPort {
			continue
		}
		if into[c.Out] {
			p.Fatalf("port %d is lit twice", c.Out)
		}
		into[c.Out] = true
		if want := p.State.SliceCircuit(southbound.Port(in)); want != c.Out {
			p.Fatalf("circuit %d→%d is of no slice, which wants %d", in, c.Out, want)
		}
	}
}

func (p *pod) ask(name, shape string, cubes ...int) {
	p.Helper()
	s, err := torus.ParseShape(shape)
	if err != nil {
		p.Fatal(err)
	}
	p.request(loop.SliceRequest{Name: name, Shape: s, Cubes: cubes, Request: name,
		Refused: func(err error) { p.Errorf("%s: %v", name, err) }})
}

// request hands a request in as time goes on.
func (p *pod) request(r loop.SliceRequest) { p.Sim.At(p.Now(), func() { p.AskSlice(r) }) }

func (p *pod) end(name string) {
	p.request(loop.SliceRequest{Name: name, Delete: true, Refused: func(err error) { p.Error(err) }})
}

func (p *pod) is(name string, want torus.State, reason torus.Reason) state.Slice {
	p.Helper()
	s, ok := p.State.Slice(name)
	if !ok || s.State != want || s.Reason != reason {
		p.Errorf("%v: %s is %s, %s, %v: want %s, %s", p.Now(), name, s.State, s.Reason, ok, want, reason)
	}
	return s
}

func (p *pod) apply(c fault.Change) {
	p.Helper()
	p.At(p.Now(), func(ctx context.Context) error { return p.Apply(ctx, c) })
}

// lit counts circuits in service, both ways.
func (p *pod) lit() (n int) {
	for _, c := range p.State.Data().Circuits {
		if c.Phase == controller.InService {
			n++
		}
	}
	return n
}

const smallPod = "pod:cubes=8,side=2,spines=1,eps=100Mbps,ocs=1Gbps,dark=10ms"

// TestSliceOnPod: slices are lit by the ledger's circuits, wait for room, lose and get cubes and switches, and end.
func TestSliceOnPod(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	p.ask("a", "2x2x4")
	p.ask("b", "4x4x4_twisted")
	p.ask("c", "2x4x4")
	p.settle(time.Second)
	if why := p.is("b", torus.Failed, torus.ShapeImpossible).Why; !strings.Contains(why, "nearest: 2x4x4_twisted") {
		t.Error(why)
	}
	a := p.is("a", torus.Ready, torus.CircuitsLit)
	p.is("c", torus.Ready, torus.CircuitsLit)
	// 2 and 4 cubes of 12 circuits each, both ways.
	if n := p.lit(); n != 6*12*2 {
		t.Errorf("%d circuits are lit", n)
	}
	if took := a.Readied - a.Asked; took <= 0 || took > time.Second {
		t.Errorf("a took %v", took)
	}

	p.ask("d", "2x2x6")
	p.ask("e", "2x2x2")
	p.settle(time.Second)
	d := p.is("d", torus.Pending, torus.NoRoom)
	p.is("e", torus.Pending, torus.BehindOthers)
	if why := p.State.WhySlice(&d, nil); !strings.Contains(why, "once these have ended: a") {
		t.Error(why)
	}
	p.end("d")
	p.settle(time.Second)
	p.is("e", torus.Ready, torus.CircuitsLit)

	p.loseCube(a.Place.Pieces[0].Cube)
	p.loseSwitch()

	for _, name := range []string{"a", "b", "c", "e"} {
		p.end(name)
	}
	p.settle(time.Second)
	if n := p.lit(); n != 0 || len(p.State.Slices()) != 0 {
		t.Errorf("%d circuits are left", n)
	}
}

// loseCube: a dead cube of slice a is swapped for a spare by circuits that end at the two alone.
func (p *pod) loseCube(dead int) {
	p.Helper()
	before := append([]state.Circuit(nil), p.State.Data().Circuits...)
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().ToRNode[dead]})
	p.settle(5 * time.Second)
	a := p.is("a", torus.Ready, torus.CircuitsLit)
	if a.Swaps != 1 {
		p.Errorf("%d cubes were swapped", a.Swaps)
	}
	p.is("c", torus.Ready, torus.CircuitsLit)
	for in, was := range before {
		now := p.State.Data().Circuits[in]
		touches := was.Out == southbound.NoPort || int(p.Fabric().OCSRack(int32(in))) == dead ||
			int(p.Fabric().OCSRack(int32(was.Out))) == dead
		if !touches && now != was {
			p.Errorf("circuit %d→%d is touched", in, was.Out)
		}
	}
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().ToRNode[dead], Up: true})
	p.settle(5 * time.Second)
}

// loseSwitch: a switch that dies takes its own circuits, and its slices are whole once it is back.
func (p *pod) loseSwitch() {
	p.Helper()
	before := p.lit()
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().OCSNode + 5})
	p.settle(5 * time.Second)
	p.is("c", torus.Incomplete, torus.SwitchAway)
	if n := p.lit(); n != before-before/12 {
		p.Errorf("%d circuits of %d are lit without a switch of twelve", n, before)
	}
	p.apply(fault.Change{Kind: fault.Switch, Device: p.Fabric().OCSNode + 5, Up: true})
	p.settle(20 * time.Second)
	p.is("a", torus.Ready, torus.CircuitsLit)
	p.is("c", torus.Ready, torus.CircuitsLit)
	p.is("e", torus.Ready, torus.CircuitsLit)
}

// TestSliceSurvivesLeader: a new leader takes over slices as they stand, halfway too.
func TestSliceSurvivesLeader(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	p.ask("a", "4x4x2")
	p.settle(3 * time.Millisecond)
	p.is("a", torus.Activating, torus.SettingCircuits)
	p.apply(fault.Change{Kind: fault.Controller, Controller: 0})
	p.settle(5 * time.Second)
	p.is("a", torus.Ready, torus.CircuitsLit)
	snap, err := p.State.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := state.New(p.Fabric())
	if err := again.Restore(snap); err != nil || again.Digest() != p.State.Digest() {
		t.Errorf("read back: %v", err)
	}
}

// TestSliceRefused: what cannot be asked for is said at once.
func TestSliceRefused(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	p.ask("a", "2x2x2")
	p.settle(time.Second)
	var said []error
	refused := func(err error) { said = append(said, err) }
	p.request(loop.SliceRequest{Name: "a", Shape: torus.Box(2, 2, 2), Request: "other", Refused: refused})
	p.request(loop.SliceRequest{Name: "x", Delete: true, Refused: refused})
	p.request(loop.SliceRequest{Name: "A b", Shape: torus.Box(2, 2, 2), Request: "b", Refused: refused})
	p.request(loop.SliceRequest{Name: "a", Shape: torus.Box(2, 2, 2), Request: "a",
		Refused: func(err error) { t.Errorf("the same request again: %v", err) }})
	p.settle(time.Second)
	if len(said) != 3 || !errors.Is(said[0], loop.ErrSliceTaken) || !errors.Is(said[1], loop.ErrNoSlice) {
		t.Errorf("%v", said)
	}
}

// TestPacketsCrossSlice: packets without a tag between cubes of a slice take its circuits, and others do not.
func TestPacketsCrossSlice(t *testing.T) {
	p := newPod(t, smallPod)
	p.settle(time.Second)
	p.ask("a", "2x2x4", 2, 5)
	p.settle(time.Second)
	f := p.Fabric()
	over := func(from, to int) string {
		seen, err := p.Sim.Device(f.ToRNode[from]).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range seen.Rules {
			if r.Dst == southbound.RackID(to) && r.Tag == southbound.TagDefault {
				l := f.Topology.OutPort(f.ToRNode[from], int32(r.Primary))
				return f.Topology.Node(f.Topology.Link(l).To).Name
			}
		}
		return "spine"
	}
	if got := over(2, 5); !strings.HasPrefix(got, "ocs") {
		t.Errorf("from cube 2 to cube 5 over %s", got)
	}
	if got := over(2, 6); strings.HasPrefix(got, "ocs") {
		t.Errorf("from cube 2 to cube 6 over %s", got)
	}
	p.end("a")
	p.settle(time.Second)
	if got := over(2, 5); strings.HasPrefix(got, "ocs") {
		t.Errorf("after the slice has ended over %s", got)
	}
}

// BenchmarkSlices asks for slices that fill a pod of 64 cubes of 4×4×4, all at once. Instants are the simulator's, with
// the delays of devices and control that it has.
func BenchmarkSlices(b *testing.B) {
	for _, bb := range []struct {
		shape  string
		slices int
	}{{"2x2x4", 256}, {"4x4x8", 32}, {"8x8x4", 16}} {
		b.Run(fmt.Sprintf("%d of %s", bb.slices, bb.shape), func(b *testing.B) {
			for b.Loop() {
				p := newPod(b, "pod:cubes=64,side=4,spines=1,eps=1Gbps,ocs=10Gbps,dark=10ms")
				p.settle(time.Second)
				for i := range bb.slices {
					p.ask(fmt.Sprint("s", i), bb.shape)
				}
				p.settle(5 * time.Second)
				var took []time.Duration
				for i := range bb.slices {
					s := p.is(fmt.Sprint("s", i), torus.Ready, torus.CircuitsLit)
					took = append(took, s.Readied-s.Asked)
				}
				slices.Sort(took)
				b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
				b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
				b.ReportMetric(float64(p.lit()/2), "circuits")
			}
		})
	}
}
