package state

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/southbound"
)

// TestEdgesLikeScan holds the first instant, and the ports that are due, against a look at all ports.
func TestEdgesLikeScan(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 2))
	for _, ports := range []int{0, 1, 15, 16, 17, 150} {
		e := newPortInstants(ports)
		want := slices.Repeat([]time.Duration{southbound.Never}, ports)
		for range 500 * min(ports, 1) {
			port, at := southbound.Port(chance.IntN(ports)), time.Duration(chance.IntN(20))
			if chance.IntN(4) == 0 {
				at = southbound.Never
			}
			e.Set(port, at)
			want[port] = at
			if first := slices.Min(want); e.First() != first {
				t.Fatalf("%d ports: first %v, want %v", ports, e.First(), first)
			}
			now := time.Duration(chance.IntN(20))
			var got, due []southbound.Port
			e.Due(now, func(first southbound.Port, bits uint64) {
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
		if ports == 0 && e.First() != southbound.Never {
			t.Fatal("no port has an edge")
		}
	}
}
