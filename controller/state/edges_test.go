package state

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestEdgesLikeScan holds the first instant, and the ports that are due, against a look at all ports.
func TestEdgesLikeScan(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 2))
	for _, ports := range []int{0, 1, 15, 16, 17, 150} {
		e := newEdges(ports)
		want := slices.Repeat([]time.Duration{southbound.Never}, ports)
		for range 500 * min(ports, 1) {
			port, at := southbound.Port(chance.IntN(ports)), time.Duration(chance.IntN(20))
			if chance.IntN(4) == 0 {
				at = southbound.Never
			}
			e.set(port, at)
			want[port] = at
			if first := slices.Min(want); e.first() != first {
				t.Fatalf("%d ports: first %v, want %v", ports, e.first(), first)
			}
			now := time.Duration(chance.IntN(20))
			var got, due []southbound.Port
			e.due(now, func(first southbound.Port, bits uint64) {
				for i := range southbound.Port(64) {
					if bits>>i&1 == 1 {
						got = append(got, first+i)
					}
				}
			})
			for p, at := range want {
				if at <= now {
					due = append(due, southbound.Port(p))
				}
			}
			if !slices.Equal(got, due) {
				t.Fatalf("%d ports: due at %v are %v, want %v", ports, now, got, due)
			}
		}
		if ports == 0 && e.first() != southbound.Never {
			t.Fatal("no port has an edge")
		}
	}
}

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
