package circuits

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// steady is a view of four racks beside packets, whose traffic is estimated: from each rack to the one that is so many
// after it. more is of the fabric.
func steady(t *testing.T, by int, more string) *controller.View {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=1,spines=1,eps=50Mbps,ocs=500Mbps,dark=10ms,nic=500Mbps" + more)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Fabric: f, Now: time.Second, Delta: 10 * time.Millisecond,
		Circuits: slices.Repeat([]controller.CircuitView{{Out: southbound.NoPort}}, f.OCSPorts()),
		Traffic:  &controller.Traffic{At: time.Second, Next: time.Minute, Ahead: time.Minute}}
	for i := range 4 {
		row := make([]pathmap.Bytes, 4)
		row[(i+by)%4] = 1e9
		v.Traffic.Bytes = append(v.Traffic.Bytes, row)
	}
	return v
}

// carryOut has a plan's reservations stand, and all of them begin.
func carryOut(v *controller.View, p *controller.Plan) {
	v.Reserved = append(v.Reserved, p.Reserve...)
	for _, r := range v.Reserved {
		v.Circuits[r.In] = controller.CircuitView{Out: r.Out, Phase: controller.InService, Held: true, Coflow: r.Coflow,
			Until: r.NotAfter}
	}
}

// TestPhasesRenew: the circuits of an estimate are asked for again when the first run out, whether the estimate is of
// rates, or of bytes that waited then.
func TestPhasesRenew(t *testing.T) {
	for _, x := range []*Phases{{}, {Once: true}} {
		for _, ahead := range []time.Duration{0, time.Minute} {
			v := steady(t, 1, "")
			v.Traffic.Ahead = ahead
			p := ask(x, v)
			const want = "0>1 0-3600000, 1>2 0-3600000, 2>3 0-3600000, 3>0 0-3600000"
			if got := circuits(v, p); got != want {
				t.Fatalf("reserves %s\nwant %s", got, want)
			}
			carryOut(v, p)
			v.Now += time.Minute
			if p = ask(x, v); len(p.Reserve)+len(p.Preempt)+len(p.Withdraw) > 0 || p.Wake != time.Second+staticFor {
				t.Errorf("nothing has changed: %+v", p)
			}
			v.Now = p.Wake
			if p = ask(x, v); circuits(v, p) != want || len(p.Preempt) > 0 {
				t.Errorf("an hour is over: %+v, want %s", p, want)
			}
		}
	}
}

// TestPhasesOnceDecided: circuits that are set once stay what they are, though all have gone and traffic is another
// one; so do those that the leader before has set.
func TestPhasesOnceDecided(t *testing.T) {
	x, v := &Phases{Once: true}, steady(t, 1, "")
	first := ask(x, v)
	v.Traffic.Bytes = steady(t, 2, "").Traffic.Bytes
	for i, row := range v.Traffic.Bytes {
		row[(i+1)%4] = 1 // others run out
	}
	if got, want := circuits(v, ask(x, v)), circuits(v, first); got != want {
		t.Errorf("after a fault of all: %s, want %s", got, want)
	}
	carryOut(v, first)
	next := &Phases{Once: true}
	if p := ask(next, v); len(p.Reserve) > 0 {
		t.Errorf("the next leader reserves %s", circuits(v, p))
	}
	v.Reserved, v.Circuits = nil, steady(t, 1, "").Circuits
	if got, want := circuits(v, ask(next, v)), circuits(v, first); got != want {
		t.Errorf("the next leader after a fault: %s, want %s", got, want)
	}
	if got := ask(&Phases{}, v).Reserve; got[0].Out != southbound.Port(2) {
		t.Errorf("phases follow traffic: %+v", got)
	}
}

// TestPhasesOnRails: an estimate's circuits join racks of one rail, by its OCS, and stand while nothing changes.
func TestPhasesOnRails(t *testing.T) {
	for by, want := range map[int]string{1: "", 2: "0>2 0-3600000, 2>0 0-3600000, 5>7 0-3600000, 7>5 0-3600000"} {
		x, v := &Phases{}, steady(t, by, ",rails=2")
		p := ask(x, v)
		if got := circuits(v, p); got != want {
			t.Errorf("by %d: reserves %s\nwant %s", by, got, want)
		}
		carryOut(v, p)
		v.Now += time.Minute
		if p := ask(x, v); len(p.Reserve)+len(p.Preempt)+len(p.Withdraw) > 0 {
			t.Errorf("by %d: nothing has changed: %+v", by, p)
		}
	}
}
