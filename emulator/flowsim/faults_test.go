package flowsim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
)

// hostFault is a host that fails, or comes back.
type hostFault struct {
	host southbound.HostID
	up   bool
}

// fail is what the reference implementation makes of it: the flows of a host that fails are no more.
func (w *reference) fail(f *hostFault) {
	if w.lost == nil {
		w.lost = map[southbound.HostID]bool{}
	}
	w.lost[f.host] = !f.up
	w.flows = slices.DeleteFunc(w.flows, func(fl *referenceFlow) bool {
		return w.lost[fl.pair.src] || w.lost[fl.pair.dst]
	})
}

// TestLikeReferenceWithLostHosts is TestLikeTwin while hosts fail and come back: the others' ends and
// bytes are the reference implementation's, and void transfers have no events.
func TestLikeReferenceWithLostHosts(t *testing.T) {
	void := 0
	for seed := range uint64(seeds() / 2) {
		sc := newScript(rand.New(rand.NewPCG(seed, 7)))
		rng := rand.New(rand.NewPCG(seed, 31))
		last := sc.actions[len(sc.actions)-1].at
		for range 1 + rng.IntN(4) {
			sc.actions = append(sc.actions, action{at: time.Duration(rng.Int64N(int64(last))),
				host: &hostFault{southbound.HostID(rng.IntN(sc.spec.Racks * sc.spec.Hosts)), rng.IntN(3) == 0}})
		}
		slices.SortStableFunc(sc.actions, func(a, b action) int { return int(a.at - b.at) })
		s, ev, _ := sc.onSim(t, nil)
		w, _ := sc.onReference(t)
		got := ends(slices.DeleteFunc(ev, func(e southbound.Event) bool { return e.Kind != southbound.HostFlowEnded }))
		if len(got) != len(w.ended) {
			t.Fatalf("seed %d: %d ends, reference %d", seed, len(got), len(w.ended))
		}
		void += len(sc.rows) - len(got)
		for k, at := range w.ended {
			if d := (got[k] - at).Abs(); float64(d) > w.doubts[k] {
				t.Fatalf("seed %d: row %d of coflow %d ended at %v, reference %v", seed, k.Row, k.Coflow, got[k], at)
			}
		}
		for l, n := range s.Counters().Payload {
			if math.Abs(float64(n)-w.bytes[l]) > float64(len(sc.actions)*8) {
				t.Fatalf("seed %d: link %d carried %d bytes, reference %.0f", seed, l, n, w.bytes[l])
			}
		}
	}
	if void < 100 {
		t.Errorf("only %d host flows were void", void)
	}
}

// TestLostHostRunsNothing: tasks of a host that fails never end, a later try elsewhere does, and calls
// to the host while it is away have no effect.
func TestLostHostRunsNothing(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{})
	run := func(tasks ...southbound.Task) {
		if err := s.Host().Run(tasks); err != nil {
			t.Fatal(err)
		}
	}
	fail := func(h southbound.HostID, up bool) {
		if err := s.Fail(h, up); err != nil {
			t.Fatal(err)
		}
	}
	run(southbound.Task{Task: 1, Host: 0, Compute: 5 * ms}, southbound.Task{Task: 2, Host: 1, Compute: 5 * ms})
	advance(t, s, 2*ms)
	fail(0, false)
	fail(0, false)
	run(southbound.Task{Task: 3, Host: 0, Compute: ms},
		southbound.Task{Task: 1, Host: 2, Compute: 5 * ms, Try: 1})
	want := []southbound.Event{
		{At: 2 * ms, Kind: southbound.HostLost, Host: 0},
		{At: 5 * ms, Kind: southbound.TaskEnded, Task: 2, Host: 1},
		{At: 7 * ms, Kind: southbound.TaskEnded, Task: 1, Try: 1, Host: 2},
	}
	if got := advance(t, s, 50*ms); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	fail(0, true)
	run(southbound.Task{Task: 3, Host: 0, Compute: ms}, southbound.Task{Task: 3, Host: 0, Compute: ms, Try: 1},
		southbound.Task{Task: 1, Host: 0, Compute: ms}, southbound.Task{Task: 1, Host: 0, Compute: ms, Try: 1})
	want = []southbound.Event{{At: 50 * ms, Kind: southbound.HostFound, Host: 0},
		{At: 51 * ms, Kind: southbound.TaskEnded, Task: 3, Try: 1, Host: 0}}
	if got := advance(t, s, 100*ms); !slices.Equal(got, want) {
		t.Errorf("after it is back: %+v", got)
	}
	if err := s.Fail(99, false); err == nil {
		t.Error("host 99 failed")
	}
}

// TestPowerOfSwitch: a spine without power forwards nothing and refuses Sets; it comes back with an
// empty table.
func TestPowerOfSwitch(t *testing.T) {
	s := simulate(t, fabric(t, small), Options{NoHeaders: true})
	wire(t, s)
	spine, _ := s.fabric.Topology.Named("spine0")
	for _, l := range s.fabric.Topology.Out(spine) {
		s.Cable(l, false)
	}
	s.Power(spine, false, 0)
	advance(t, s, ms)
	if err := s.Device(spine).Set(t.Context(),
		&southbound.Change{Drop: []southbound.Match{{Dst: 1}}}); err == nil {
		t.Error("a switch without power took a change")
	}
	s.Power(spine, true, 5*ms)
	for _, l := range s.fabric.Topology.Out(spine) {
		s.Cable(l, true)
	}
	_, dev, err := s.Advance(20*ms, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(dev, func(e southbound.DeviceEvent) bool {
		return e.Device == spine && e.Kind == southbound.Synced && e.At == 6*ms
	}) {
		t.Errorf("no word of the boot's end: %+v", dev)
	}
	seen, err := s.Device(spine).Read(t.Context())
	if err != nil || len(seen.Rules) != 0 {
		t.Errorf("after the boot: %+v, %v", seen, err)
	}
	s.Do(spine, func(now time.Duration, d *device.Device) {
		if d.Down(now) {
			t.Error("still down")
		}
	})
}
