package loop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/southbound"
)

// TestRingsPortsAfterTakeover: a leader dies right after the last ring is deleted. The next one gives its ports back to
// the policy, and takes no more that the policy reserves for good afterwards.
func TestRingsPortsAfterTakeover(t *testing.T) {
	w, err := newWorld("hybrid:racks=4,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms")
	if err != nil {
		t.Fatal(err)
	}
	s := scenario{w}
	entries := []state.Entry{{Kind: state.SliceSet, Planning: state.Planning{Slice: &state.Slice{
		Slice: torus.Slice{Name: "a", Shape: torus.Box(2, 1, 1), State: torus.Ready, Reason: torus.CircuitsLit,
			Ring: []int32{0, 2}}, Readied: state.Unset, Hosts: []int32{0, 2}}}}}
	for _, c := range [][2]southbound.Port{{0, 2}, {2, 0}} {
		entries = append(entries, state.Entry{Kind: state.CircuitReserved,
			CircuitReservation: &controller.CircuitReservation{In: c[0], Out: c[1], NotAfter: southbound.Never,
				Coflow: controller.AnyCoflow}})
	}
	entries = append(entries, state.Entry{Kind: state.SliceDeleted, Request: "a"})
	if err := s.state.ApplyAll(entries); err != nil {
		t.Fatal(err)
	}
	if err := s.lead([]string{"patience=1s"}); err != nil {
		t.Fatal(err)
	}
	lead := func(at time.Duration) {
		t.Helper()
		s.now = at
		if err := s.step(); err != nil {
			t.Fatal(err)
		}
	}
	lead(0)
	lead(2 * time.Second) // devices do not answer
	if n := s.state.Reserved(); n != 0 {
		t.Errorf("%d reservations are left:\n%s", n, s.out.String())
	}
	if n := strings.Count(s.out.String(), "asks the policy: FabricChanged"); n != 2 {
		t.Errorf("the policy hears %d times of ports:\n%s", n, s.out.String())
	}
	s.policy.plans = append(s.policy.plans, &controller.Plan{Wake: southbound.Never,
		Reserve: []controller.CircuitReservation{{In: 1, Out: 3, NotBefore: 3 * time.Second, NotAfter: southbound.Never,
			Coflow: controller.AnyCoflow}}})
	s.offer(&controller.Job{Name: "j", Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0, Dst: 1, Bytes: 1}}}}})
	lead(3 * time.Second)
	if s.state.Reserved() != 1 {
		t.Errorf("the policy's own does not stand:\n%s", s.out.String())
	}
}

// TestAwaySwitches: a slice that waits for an optical switch that is silent is told so.
func TestAwaySwitches(t *testing.T) {
	w, err := newWorld("hybrid:racks=3,hosts=1,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,ocses=2")
	if err != nil {
		t.Fatal(err)
	}
	s := scenario{w}
	if err := s.lead([]string{"patience=1s"}); err != nil {
		t.Fatal(err)
	}
	ocs := s.fabric.OCSNode + 1
	s.in.Devices = append(s.in.Devices, southbound.DeviceEvent{Device: ocs, Kind: southbound.Lost})
	if err := s.step(); err != nil {
		t.Fatal(err)
	}
	s.in.Slices = append(s.in.Slices, loop.SliceRequest{Name: "a", Shape: torus.RackShape(3, 2), Request: "a",
		Refused: func(err error) { t.Error(err) }})
	for i := range time.Duration(2) {
		s.now += i * time.Second
		if err := s.step(); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := s.state.Slice("a")
	gone := s.loop.AwaySwitches()
	why := s.state.WhySlice(&x, s.loop.AwayCubes(), gone...)
	if x.State != torus.Pending || !slices.Equal(gone, []southbound.DeviceID{ocs}) || !strings.Contains(why, "away") {
		t.Errorf("%s, %v are away: %s", x.State, gone, why)
	}
}
