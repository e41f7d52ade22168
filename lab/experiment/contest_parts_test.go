package experiment

import (
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/southbound"
)

// TestWaited: the circuit of coflow 2 waits for 9 s; over two others, 0 to 1 and 1 to 3, its bytes
// could have gone from 2 to 7 s, and from 5 s on nobody had these.
func TestWaited(t *testing.T) {
	usage := func(in, out southbound.Port, c southbound.CoflowID, made, begun, service, ended int) loop.Usage {
		at := func(s int) time.Duration { return time.Duration(s) * time.Second }
		return loop.Usage{CircuitReservation: controller.CircuitReservation{In: in, Out: out,
			Coflow: c}, Made: at(made),
			Begun: at(begun), InService: at(service), Ended: at(ended)}
	}
	got := waited([]loop.Usage{usage(0, 1, 1, 0, 1, 2, 5), usage(1, 3, 1, 0, 0, 1, 4),
		usage(0, 3, 2, 1, 7, 10, 12),
		usage(0, 3, 2, 1, 13, 14, 15), usage(2, 2, 3, 0, 0, 0, 1)})
	want := waits{All: (2 + 1 + 9) * time.Second, Idle: 2 * time.Second, Lit: 5 * time.Second}
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
