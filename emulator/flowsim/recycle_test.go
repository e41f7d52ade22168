package flowsim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/emulator/hashtable"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// TestRecycle: routes and classes that are used again for other pairs of hosts change nothing, and there
// are no more of them than host flows were live at once.
func TestRecycle(t *testing.T) {
	f := fabric(t, topo.Spec{Kind: topo.Crossbar, Racks: 50})
	for seed := range uint64(20) {
		var seen [2]string
		for i := range seen {
			s := simulate(t, f, Options{NoHeaders: true})
			if i > 0 { // as on a switch of many ports
				s.fluid.recycles, s.fluid.byPair.sparse = true, new(hashtable.Map[int32])
			}
			wire(t, s)
			seen[i] = scatter(t, s, rand.New(rand.NewPCG(seed, 43)))
			if n := len(s.fluid.routes); i > 0 && n > 100 {
				t.Errorf("seed %d: %d routes", seed, n)
			}
		}
		if seen[0] != seen[1] {
			t.Fatalf("seed %d: with routes used again\n%s\nwithout\n%s", seed, seen[1], seen[0])
		}
	}
}

// scatter starts many flows between a few hosts, holds some of them for a while, and returns what came of it.
func scatter(t testing.TB, s *Sim, rng *rand.Rand) string {
	rates(t, s, southbound.Rates{Fair: true})
	var all []southbound.Event
	at := time.Duration(0)
	held := southbound.CoflowID(-1)
	for c := range southbound.CoflowID(400) {
		at += time.Duration(rng.IntN(3000)) * time.Microsecond
		all = append(all, advance(t, s, at)...)
		src, dst := southbound.HostID(rng.IntN(25)), southbound.HostID(25+rng.IntN(25))
		start(t, s, c, row{src, dst, 1 + pathmap.Bytes(rng.Int64N(int64(mb))), southbound.Tag(rng.IntN(2))})
		tag := southbound.Tag(0)
		if rng.IntN(4) == 0 && held < 0 {
			held, tag = c, southbound.TagHold
		} else if rng.IntN(4) > 0 || held < 0 {
			continue
		}
		if err := s.Host().Steer([]southbound.Steer{{HostFlowKey: key(held, 0), Tag: tag}}); err != nil {
			t.Fatal(err)
		}
		if tag == 0 {
			held = -1
		}
	}
	all = append(all, advance(t, s, at+time.Hour)...)
	c := s.Counters()
	return fmt.Sprint(all, c.Delivered, c.EPS, c.RackLocal, c.Ends, c.Stalls)
}
