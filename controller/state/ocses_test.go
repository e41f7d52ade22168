package state_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// fourOCSes is a cluster of four racks under four OCSes: port r + 4k is that of rack r on ocs<k>.
func fourOCSes(t *testing.T) *state.State {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=2,ocses=4")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := state.New(f)
	apply(t, s, state.Entry{Kind: state.ClusterFounded, Cluster: &state.Cluster{Epoch: 1, Level: state.Newest}})
	return s
}

// TestCircuitsOfOneOCS: both ports of a circuit are of one OCS, a rack has one circuit on each, and no two to
// the same rack.
func TestCircuitsOfOneOCS(t *testing.T) {
	for _, tc := range []struct {
		name     string
		stand    [][2]southbound.Port
		in, out  southbound.Port
		conflict bool
		want     string
	}{
		{"a second out of rack 0, on ocs3", [][2]southbound.Port{{0, 1}}, 12, 14, false, ""},
		{"a second into rack 1, on ocs2", [][2]southbound.Port{{0, 1}}, 10, 9, false, ""},
		{"a second to the same rack", [][2]southbound.Port{{0, 1}}, 12, 13, true,
			"another wavelength or OCS joins these racks"},
		{"a port of one named at another", nil, 0, 5, false, "ports of ocs0 and of ocs1: a circuit joins two of one"},
		{"a rack and itself", nil, 0, 4, false, "a circuit joins two racks"},
		{"no such port", nil, 0, 16, false, "ports 0 to 15"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := fourOCSes(t)
			for _, c := range tc.stand {
				apply(t, s, reserved(c[0], c[1]))
			}
			e := reserved(tc.in, tc.out)
			err := s.Apply(&e)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) ||
				errors.Is(err, state.ErrConflict) != tc.conflict {
				t.Errorf("%d→%d: %v, want %q", tc.in, tc.out, err, tc.want)
			}
		})
	}
	s := fourOCSes(t)
	if err := s.Apply(&state.Entry{Kind: state.CircuitIntended, Port: 0, Out: 5}); err == nil {
		t.Error("a move from ocs0 to ocs1 is taken")
	}
}

// TestOneOCSInUse: what is in use or lit on one OCS is in the way of replacing that one, and of no other; errors
// have the OCS's own numbers of ports.
func TestOneOCSInUse(t *testing.T) {
	s := fourOCSes(t)
	apply(t, s, reserved(4, 6), state.Entry{Kind: state.CircuitReservationBegun, Port: 4},
		state.Entry{Kind: state.CircuitIntended, Port: 4, Out: 6})
	record := func(name string) []controller.DeviceRecord {
		return []controller.DeviceRecord{{Node: node(t, s, name), Record: "name: " + name}}
	}
	try := func(c controller.FabricChange, want string) {
		t.Helper()
		c.Generation = s.Change().Generation + 1
		err := s.CheckChange(&c)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	one, two := []pathmap.NodeID{node(t, s, "ocs1")}, []pathmap.NodeID{node(t, s, "ocs2")}
	try(controller.FabricChange{Devices: record("ocs0")}, "")
	try(controller.FabricChange{Devices: record("ocs1")}, "replace ocs1: circuit 0→2 is lit")
	try(controller.FabricChange{Drained: two, Devices: record("ocs2")}, "")
	try(controller.FabricChange{Drained: one}, "")
	try(controller.FabricChange{Drained: one, Devices: record("ocs1")}, "replace ocs1: circuit 0→2 is in use until")
	apply(t, s, state.Entry{Kind: state.CircuitReservationEnded, Port: 4, At: time.Second})
	try(controller.FabricChange{Drained: one, Devices: record("ocs1")}, "")
}

// TestSnapshotOfOCSes: a snapshot of four OCSes is read by a state of the same fabric, and by none with fewer.
func TestSnapshotOfOCSes(t *testing.T) {
	s := fourOCSes(t)
	apply(t, s, reserved(4, 6), reserved(13, 15))
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := fourOCSes(t)
	if err := again.Restore(snap); err != nil || again.Digest() != s.Digest() {
		t.Errorf("restored as %v, %v, want %v", again.Digest(), err, s.Digest())
	}
	if err := state.New(fabric(t)).Restore(snap); err == nil || !strings.Contains(err.Error(), "16 circuits") {
		t.Errorf("restored on one OCS: %v", err)
	}
}
