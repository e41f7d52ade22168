package flowsim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestWideLinksBindNobody plays random coflows on crossbars with links between switches looked at, and
// not: ends are the same to the rounding of a nanosecond.
func TestWideLinksBindNobody(t *testing.T) {
	for seed := range uint64(200) {
		var got [2][]southbound.Event
		for try := range got {
			rng := rand.New(rand.NewPCG(seed, 9))
			s := simulate(t, fabric(t, topo.Spec{Kind: topo.Crossbar, Racks: 3 + rng.IntN(5), EPS: pathmap.Gbps}),
				Options{NoHeaders: true})
			wire(t, s)
			if try == 1 {
				clear(s.fluid.wide)
			} else if !slices.Contains(s.fluid.wide, true) {
				t.Fatal("no link of a crossbar is taken for wide")
			}
			rates(t, s, southbound.Rates{Fair: true})
			for c := range southbound.CoflowID(6) {
				got[try] = append(got[try], advance(t, s, time.Duration(rng.Int64N(int64(20*ms))+int64(s.Now())))...)
				start(t, s, c, crossbarRows(rng, s.fabric.Hosts())...)
			}
			got[try] = append(got[try], advance(t, s, time.Hour)...)
		}
		a, b := ends(got[0]), ends(got[1])
		if len(a) == 0 || len(a) != len(b) {
			t.Fatalf("seed %d: %d ends, %d without wide links", seed, len(a), len(b))
		}
		for k, at := range a {
			if (at - b[k]).Abs() > 5 {
				t.Fatalf("seed %d: %v ends at %v, without wide links at %v", seed, k, at, b[k])
			}
		}
	}
}

func crossbarRows(rng *rand.Rand, hosts int) []row {
	rows := []row{{0, 1, mb, 0}}
	for dst := range hosts {
		for src := range hosts {
			if src != dst && dst > 1 && rng.IntN(3) == 0 {
				rows = append(rows, row{southbound.HostID(src), southbound.HostID(dst),
					pathmap.Bytes(1 + rng.Int64N(int64(mb))),
					0})
			}
		}
	}
	return rows
}
