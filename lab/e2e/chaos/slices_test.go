package chaos

import (
	"fmt"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/southbound"
)

// TestSeedsOfSlices is TestSeeds on a pod, and on racks under four OCSes, whose slices are asked for and deleted all
// the while: meanwhile OCSes die, lie or are cut off, and so do leaders. No port is lit twice, at no entry two circuits
// of slices lead to one port, and in the end each slice has its circuits and each circuit that stands for good its
// slice.
func TestSeedsOfSlices(t *testing.T) {
	t.Parallel()
	for _, on := range []struct {
		name, fabric string
		shapes       []torus.Shape
		policies     []string
	}{
		{"pod", "pod:cubes=5,side=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms,nic=500Mbps,slots=8",
			[]torus.Shape{torus.Box(2, 2, 4), torus.Box(2, 2, 2), torus.Box(1, 2, 2), torus.Box(2, 4, 4), torus.Box(2, 2, 6)},
			[]string{"random+ecmp", "crosslayer"}},
		{"racks", "hybrid:racks=6,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms,nic=500Mbps,slots=8,ocses=4",
			[]torus.Shape{torus.RackShape(2, 1), torus.RackShape(3, 2), torus.RackShape(4, 3), torus.RackShape(3, 1)},
			[]string{"random+ecmp+sunflow", "joint", "random+ecmp+topology"}},
	} {
		for _, seed := range fewSeedsOf(100) {
			t.Run(fmt.Sprintf("%s/seed_%d", on.name, seed), func(t *testing.T) {
				faults := storm(seed)
				faults.Kinds = append(faults.Kinds, "part", "part", "ocs", "ocs", "ocs")
				w, err := newWorld(on.fabric, seed, on.policies[seed/4%uint64(len(on.policies))], 1, faults)
				if err != nil {
					t.Fatal(err)
				}
				s := &slicer{w: w, shapes: on.shapes}
				w.slicer = s
				w.run(time.Minute)
				w.check(t)
				s.check(t)
				t.Logf("%d slices were asked for, %d became Ready, %d cubes or racks were swapped; %s", s.asked, len(s.ready),
					s.swaps, w.described())
			})
		}
	}
}

// slicer asks for slices and deletes them.
type slicer struct {
	w      *world
	shapes []torus.Shape
	asked  int
	ready  map[string]bool
	swaps  int
}

// begin asks for and deletes slices until the faults are over.
func (s *slicer) begin(faulty time.Duration) {
	s.ready = map[string]bool{}
	var tick func()
	tick = func() {
		if s.w.now() >= faulty {
			return
		}
		if r := s.w.log.chosen; r != nil && !r.over {
			s.ask(r)
		}
		s.w.after(50*time.Millisecond+s.w.upTo(900*time.Millisecond), tick)
	}
	tick()
}

func (s *slicer) ask(r *reign) {
	there := r.seat.state.Slices()
	for i := range there {
		if there[i].Readied != state.Unset {
			s.ready[there[i].Name] = true
		}
		s.swaps = max(s.swaps, there[i].Swaps)
	}
	x := loop.SliceRequest{Shape: s.shapes[s.w.r.IntN(len(s.shapes))], Name: fmt.Sprint("s", s.asked)}
	x.Request = x.Name
	if len(there) > 5 || len(there) > 0 && s.w.chance(0.45) {
		x = loop.SliceRequest{Name: there[s.w.r.IntN(len(there))].Name, Delete: true}
	} else {
		s.asked++
	}
	s.w.note("slice %s of %s, deleted: %v", x.Name, x.Shape, x.Delete)
	r.put(func(in *loop.Inputs) { in.Slices = append(in.Slices, x) })
}

// unsettled names a slice that lacks something though nothing fails any more; empty for none.
func (s *slicer) unsettled() string {
	for _, x := range s.w.seats[0].state.Slices() {
		switch x.State {
		case torus.Ready, torus.Failed, torus.Pending:
		default:
			return fmt.Sprintf("; slice %s is %s, %s", x.Name, x.State, x.Reason)
		}
	}
	if x := admitted(s.w.seats[0].state); x != nil {
		return fmt.Sprintf("; slice %s waits, and there is room", x.Name)
	}
	return ""
}

// admitted returns the first slice that waits though it would not if nothing were away; nil for none.
func admitted(st *state.State) *torus.Slice {
	gone := func(southbound.DeviceID) bool { return false }
	var changed []torus.Slice
	if pod := state.PodOf(st.Fabric()); pod != nil {
		changed = torus.Settle(pod, state.SliceRule(), st.BareSlices(), st.SliceLacks(gone))
	} else {
		changed = torus.SettleRacks(st.RacksNow(nil, gone), state.RackRule(), st.BareSlices(), st.SliceLacks(gone))
	}
	for i := range changed {
		if was, _ := st.Slice(changed[i].Name); was.State == torus.Pending && changed[i].State == torus.Activating {
			return &changed[i]
		}
	}
	return nil
}

// owned fails where the ledger of a replica holds a circuit for good that no slice wants, or the other way round two
// slices one port.
func (s *slicer) owned(st *state.State) {
	for in := range southbound.Port(s.w.fabric.OCSPorts()) {
		r := st.First(in)
		if r == nil || r.NotAfter != southbound.Never || r.Coflow != controller.AnyCoflow {
			continue
		}
		if other := st.Reserver(in, r.Out); other != southbound.NoPort && st.First(other).NotAfter == southbound.Never {
			s.w.fail("outputs: %d and %d both lead to %d for good", in, other, r.Out)
		}
	}
}

// check fails where a slice in the end has not its circuits, or a circuit that stands for good no slice.
func (s *slicer) check(t *testing.T) {
	t.Helper()
	st := s.w.seats[0].state
	for _, x := range st.Slices() {
		if x.Readied != state.Unset {
			s.ready[x.Name] = true
		}
		if dark, _ := st.SliceDark(&x); x.State == torus.Ready && dark > 0 {
			t.Errorf("%s is Ready, and %d circuits are dark", x.Name, dark)
		}
	}
	for in := range southbound.Port(s.w.fabric.OCSPorts()) {
		want := st.SliceCircuit(in)
		if r := st.First(in); r != nil && r.NotAfter == southbound.Never && r.Out != want {
			t.Errorf("port %d leads to %d for good, and slices want %d", in, r.Out, want)
		}
		if c := st.Circuit(in); s.w.fabric.Spec.Pod() && c.Out != southbound.NoPort && c.Out != want {
			t.Errorf("port %d leads to %d, and slices want %d", in, c.Out, want)
		}
	}
	if x := admitted(st); x != nil {
		t.Errorf("%s waits, and there is room", x.Name)
	}
	if s.asked < 20 || len(s.ready) == 0 {
		t.Errorf("%d slices were asked for, %d became Ready", s.asked, len(s.ready))
	}
}
