package des

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestLeastOf holds the choice among nodes against comparing them all, ties of instants among them.
func TestLeastOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n := make([]node, 1+rng.IntN(arity))
		for i, seq := range rng.Perm(len(n)) {
			n[i] = node{at: time.Duration(1 + rng.IntN(3)), seq: uint64(seq)}
			if rng.IntN(8) == 0 {
				n[i].at = 1<<63 - 1
			}
		}
		least := leastOf(n)
		for i := range n {
			if i != least && n[i].before(&n[least]) {
				t.Fatalf("%d of %v is said to be first, and %d is", least, n, i)
			}
		}
	}
}
