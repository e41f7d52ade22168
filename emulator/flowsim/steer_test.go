package flowsim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/southbound"
)

// TestTurnsTogether: host flows that are steered by one call, some of them twice or over, end as those
// steered one by one.
func TestTurnsTogether(t *testing.T) {
	for seed := range uint64(200) {
		run := func(together bool) (ends []southbound.Event) {
			rng := rand.New(rand.NewPCG(seed, 41))
			s := simulate(t, fabric(t, small), Options{})
			wire(t, s)
			rates(t, s, southbound.Rates{Fair: true})
			start(t, s, 0, row{0, 2, mb, southbound.TagHold}, row{1, 3, 1 + 3*mb/2, 0},
				row{0, 7, mb, southbound.TagHold},
				row{6, 7, 2 * mb, 1})
			for range 12 {
				var steers []southbound.Steer
				for range rng.IntN(6) {
					tag := []southbound.Tag{0, 1, 2, southbound.TagHold}[rng.IntN(4)]
					steers = append(steers, southbound.Steer{HostFlowKey: key(0, rng.Int32N(4)), Tag: tag})
				}
				each := 1
				if together {
					each = max(len(steers), 1)
				}
				for some := range slices.Chunk(steers, each) {
					if err := s.Host().Steer(some); err != nil {
						t.Fatal(err)
					}
				}
				ends = append(ends, advance(t, s, s.Now()+3*ms)...)
			}
			return ends
		}
		if one, two := run(true), run(false); !slices.Equal(one, two) {
			t.Fatalf("seed %d: %v, one by one %v", seed, one, two)
		}
	}
}
