package simulated_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
)

// TestMaxMinLikeTCP holds max-min rates that the policy sets against those that hosts come to by
// themselves, on random traces: a rate is a whole number of bits a second in the one and not in the
// other, so that ends differ by what a bit a second in the slowest flow's rate comes to.
func TestMaxMinLikeTCP(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 71))
		var b strings.Builder
		fmt.Fprintf(&b, "8 12\n")
		at := 0
		for id := range 12 {
			at += r.IntN(60)
			mappers, reducers := r.Perm(8)[:1+r.IntN(4)], r.Perm(8)[:1+r.IntN(4)]
			fmt.Fprintf(&b, "%d %d %d", id+1, at, len(mappers))
			for _, m := range mappers {
				fmt.Fprintf(&b, " %d", m)
			}
			fmt.Fprintf(&b, " %d", len(reducers))
			for _, m := range reducers {
				fmt.Fprintf(&b, " %d:%d", m, len(mappers)*(1+r.IntN(20)))
			}
			fmt.Fprintln(&b)
		}
		var took [2][]time.Duration
		for i, policy := range []string{"tcp", "maxmin"} {
			_, _, took[i] = labtest.ReplayText(t, b.String(),
				scenario.Options{Fabric: "crossbar:ports=8,rate=1Gbps", Policies: []string{policy}})
		}
		for i, want := range took[0] {
			if d := (took[1][i] - want).Abs(); d > 10*time.Microsecond {
				t.Errorf("seed %d: coflow %d takes %v under maxmin, %v under tcp", seed, i, took[1][i], want)
			}
		}
	}
}
