package state_test

import (
	"errors"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func twoWaves(t *testing.T) *state.State {
	t.Helper()
	spec, err := topo.ParseSpec("hybrid:racks=4,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=2,wavelengths=2")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return state.New(f)
}

func reserved(in, out southbound.Port) state.Entry {
	return state.Entry{Kind: state.CircuitReserved,
		CircuitReservation: &controller.CircuitReservation{In: in, Out: out,
			NotAfter: 50,
			Coflow:   controller.AnyCoflow}}
}

// TestMoreThanWavelengths: of two wavelengths a rack has two circuits at once, out of it and into it,
// and no third, no two to the same rack, and none whose light would change its wavelength. Port r + 4
// is the second of rack r.
func TestMoreThanWavelengths(t *testing.T) {
	for _, tc := range []struct {
		name     string
		stand    [][2]southbound.Port
		in, out  southbound.Port
		conflict bool
		refused  bool
	}{
		{"a second out of rack 0", [][2]southbound.Port{{0, 1}}, 4, 6, false, false},
		{"a second into rack 1", [][2]southbound.Port{{0, 1}}, 6, 5, false, false},
		{"a third out of rack 0", [][2]southbound.Port{{0, 1}, {4, 6}}, 0, 3, true, true},
		{"a third out of rack 0, the other wavelength", [][2]southbound.Port{{0, 1}, {4, 6}}, 4, 7, true, true},
		{"a third into rack 3", [][2]southbound.Port{{0, 3}, {5, 7}}, 2, 3, true, true},
		{"a second to the same rack", [][2]southbound.Port{{0, 1}}, 4, 5, true, true},
		{"light of another wavelength", nil, 0, 5, false, true},
		{"a rack and itself", nil, 0, 4, false, true},
		{"no such port", nil, 0, 8, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := twoWaves(t)
			for _, c := range tc.stand {
				apply(t, s, reserved(c[0], c[1]))
			}
			e := reserved(tc.in, tc.out)
			err := s.Apply(&e)
			if (err != nil) != tc.refused || errors.Is(err, state.ErrConflict) != tc.conflict {
				t.Errorf("%d→%d: %v", tc.in, tc.out, err)
			}
		})
	}
	s := twoWaves(t) // circuits without a reservation count, too
	apply(t, s, state.Entry{Kind: state.CircuitIntended, Port: 0, Out: 1})
	if e := reserved(4, 5); !errors.Is(s.Apply(&e), state.ErrConflict) {
		t.Error("two wavelengths join racks 0 and 1")
	}
}

// TestTagsOfWavelengths: the circuit's tag goes to the rows of the racks that it joins, whichever the
// wavelength.
func TestTagsOfWavelengths(t *testing.T) {
	s := twoWaves(t)
	flows := []controller.Flow{{Src: 0, Dst: 2, Bytes: 5}, {Src: 0, Dst: 4, Bytes: 5},
		{Src: 0, Dst: 6, Bytes: 5}}
	apply(t, s, state.Entry{Kind: state.JobAccepted,
		Job: &controller.Job{Name: "bare", Edges: []controller.Edge{{Kind: controller.Fixed, Flows: flows}}}},
		state.Entry{Kind: state.Placed, Placement: &controller.Placement{Job: 0}},
		state.Entry{Kind: state.Routed, Routing: &controller.Routing{Coflow: 0,
			Tags: []southbound.Tag{2, 2, 2}}},
		reserved(0, 2), reserved(4, 5))
	for _, c := range [][2]southbound.Port{{0, 2}, {4, 5}} {
		apply(t, s, state.Entry{Kind: state.CircuitReservationBegun, Port: c[0]},
			state.Entry{Kind: state.CircuitIntended, Port: c[0], Out: c[1]},
			state.Entry{Kind: state.CircuitSettled, Port: c[0], Out: c[1], OK: true})
	}
	want := []southbound.Tag{southbound.TagCircuit, southbound.TagCircuit, 2}
	if got := s.AppendTags(nil, 0); !slices.Equal(got, want) {
		t.Errorf("tags %v, want %v", got, want)
	}
	c := s.Coflow(0)
	for row, tag := range want {
		if got := s.TagOf(0, c, int32(row)); got != tag {
			t.Errorf("row %d: tag %v, want %v", row, got, tag)
		}
	}
	rows := []int32{}
	s.Rows(c, 4, 5, func(row int32) { rows = append(rows, row) })
	if !slices.Equal(rows, []int32{0}) {
		t.Errorf("rows %v between ports 4 and 5, want that of racks 0 and 1", rows)
	}
}
