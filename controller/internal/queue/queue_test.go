package queue_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/controller/internal/queue"
)

// TestQueueLikeSlice holds a queue against a slice over random changes.
func TestQueueLikeSlice(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var q queue.Queue[int]
		var want []int
		for step := range 200 {
			switch n := len(want); {
			case n == 0 || chance.IntN(5) < 2:
				i := chance.IntN(n + 1)
				q.Insert(i, step)
				want = slices.Insert(want, i, step)
			case chance.IntN(10) == 0:
				k := chance.IntN(7)
				goes := func(x *int) bool { return *x%7 == k }
				some := slices.ContainsFunc(want, func(x int) bool { return goes(&x) })
				if q.Drop(goes) != some {
					t.Fatalf("drop says %v, want %v", !some, some)
				}
				want = slices.DeleteFunc(want, func(x int) bool { return goes(&x) })
			default:
				i := chance.IntN(n) * chance.IntN(2) // mostly the first
				q.Remove(i)
				want = slices.Delete(want, i, i+1)
			}
			if !slices.Equal(q.Live(), want) {
				t.Fatalf("holds %v, want %v", q.Live(), want)
			}
		}
	}
}
