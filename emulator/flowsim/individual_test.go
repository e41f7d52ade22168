package flowsim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/emulator/des"
	"lightloom/southbound"
)

// TestIndividualFirstEnds changes few or many individual rates at once, removes some and adds others,
// and compares the first end, and the rows that end then, with sorting all rows.
func TestIndividualFirstEnds(t *testing.T) {
	t.Parallel()
	loose := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 27))
		n := 2 + rng.IntN(60)
		ir := &individualRates{state: &state{clock: &des.Clock[event]{}, perBit: 1.0 / 8e9,
			hostFlows: make([]hostFlow, n),
			parts:     make([]float64, n), routeTable: routeTable{routes: make([]route, 1)},
			coflowTable: coflowTable{coflows: []coflow{{live: 1 << 20, underWay: &underWay{}}}}}}
		ir.routes[0].fate, ir.routes[0].live = arrives, 1<<20
		for b := range ir.hostFlows {
			ir.add(int32(b), float64(1+rng.IntN(50)), 0)
		}
		for step := range 40 {
			ir.shuffle(rng)
			if ir.loose {
				loose++
			}
			all := slices.Clone(ir.rows)
			slices.SortFunc(all, func(a, b individualRate) int {
				return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.hostFlow, b.hostFlow))
			})
			if len(all) == 0 {
				break
			}
			if got := ir.soonest(); got != all[0].end {
				t.Fatalf("seed %d step %d: first ends at %v, want %v", seed, step, got, all[0].end)
			}
			if all[0].end == southbound.Never || rng.IntN(3) > 0 {
				continue
			}
			ir.clock.Set(all[0].end)
			var want []int32
			for _, r := range all {
				if r.end == all[0].end {
					want = append(want, r.hostFlow)
				}
			}
			if got := ir.takeEnded(); !slices.Equal(got, want) {
				t.Fatalf("seed %d step %d: host flows %v end, want %v", seed, step, got, want)
			}
		}
	}
	if loose < 1000 {
		t.Errorf("the heap was loose %d times only", loose)
	}
}

// shuffle gives some rows another wish and what all wish for, and takes one out or puts one back in.
func (ir *individualRates) shuffle(rng *rand.Rand) {
	if some := rng.IntN(4); some > 0 {
		for b := range ir.hostFlows {
			if ir.hostFlows[b].class == onIndividual && rng.IntN(1+30*(some-1)) == 0 {
				ir.ask(int32(b), float64(rng.IntN(5))*1e9)
			}
		}
		ir.grant()
	}
	switch b := int32(rng.IntN(len(ir.hostFlows))); {
	case rng.IntN(2) == 0:
	case ir.hostFlows[b].class == onIndividual:
		ir.remove(b)
		ir.hostFlows[b].class = gone
	default:
		ir.add(b, float64(1+rng.IntN(50)), 1e9)
	}
	if len(ir.rows) > 0 && rng.IntN(3) == 0 {
		ir.set(int32(rng.IntN(len(ir.rows))), float64(rng.IntN(5))*1e9)
	}
}

// takeEnded ends the rows that have nothing left, and returns them.
func (ir *individualRates) takeEnded() (who []int32) {
	ir.events = ir.events[:0]
	ir.end()
	for _, e := range ir.events {
		who = append(who, e.Row)
	}
	return who
}
