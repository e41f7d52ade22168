package state

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestRestoreRefusesOverlap: reservations that could not have been made are no state.
func TestRestoreRefusesOverlap(t *testing.T) {
	spec, err := topo.FromArgument("crossbar:ports=4,rate=1Gbps,dark=10ms")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	at := func(in, out southbound.Port, from, to time.Duration) CircuitReservation {
		return CircuitReservation{CircuitReservation: controller.CircuitReservation{In: in, Out: out, NotBefore: from,
			NotAfter: to,
			Coflow:   controller.AnyCoflow}}
	}
	for _, x := range []struct {
		name   string
		ledger []CircuitReservation
		want   string
	}{
		{"none", []CircuitReservation{at(0, 1, 0, 5), at(0, 2, 5, 9), at(3, 1, 5, 9)}, ""},
		{"input", []CircuitReservation{at(0, 1, 0, 5), at(0, 2, 4, 9)}, "0→1 and 0→2 overlap"},
		{"output", []CircuitReservation{at(0, 1, 0, 5), at(3, 1, 4, 9)}, "0→1 and 3→1 overlap"},
	} {
		s := New(f)
		s.d.Ledger = x.ledger
		snap, err := json.Marshal(&s.d)
		if err != nil {
			t.Fatal(err)
		}
		err = New(f).Restore(snap)
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: error %v, want %q", x.name, err, x.want)
		}
	}
}
