package maxmin

import (
	"math/rand/v2"
	"testing"

	"lightloom/pathmap"
)

// TestRoughly: what a rate counts for is no less, at most a 32nd more, and never falls where the rate rises.
func TestRoughly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 51))
	for range 100_000 {
		rate := r.Int64N(1<<61) >> r.IntN(62)
		got := roughly(rate)
		if got < rate || got > rate+rate>>5 || roughly(got) != got || roughly(rate+1) < got {
			t.Fatalf("%d counts for %d", rate, got)
		}
	}
}

// TestQueue: links come by their keys, but for an eighth or a unit, and each of them once.
func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 52))
	s := newLevels(make([]float64, 200))
	keys := map[int32]int64{}
	for step := range 20_000 {
		if l := r.Int32N(200); !s.links[l].queued && step%400 < 200 {
			keys[l] = r.Int64N(1<<62) >> r.IntN(63)
			s.push(l, keys[l])
		}
		if s.queue.len != len(keys) {
			t.Fatalf("step %d: %d links in the queue, want %d", step, s.queue.len, len(keys))
		}
		if len(keys) == 0 || r.IntN(2) > 0 {
			continue
		}
		l := s.pop()
		key, ok := keys[l]
		if delete(keys, l); !ok || s.links[l].queued {
			t.Fatalf("step %d: link %d is not in the queue, or still", step, l)
		}
		for p, other := range keys {
			if other < key-key/8-1 {
				t.Fatalf("step %d: link %d with key %d comes before %d with %d", step, l, key, p, other)
			}
		}
	}
}

// TestTold: a link that holds back nothing and has much left is told of large changes of a rate only, one that has
// little left of each.
func TestTold(t *testing.T) {
	for _, tt := range []struct {
		wide float64 // capacity of the link that holds back nothing
		want bool    // it is exact
	}{{4e9, false}, {1.005e9, true}} {
		s := newLevels([]float64{1e9, tt.wide, 1e9, 1e9})
		s.Set(0, []pathmap.LinkID{0, 1, 2}, 1)
		s.Set(1, []pathmap.LinkID{0, 3}, 1000)
		s.Solve(func(_, _, _ int32) {})
		s.Set(1, []pathmap.LinkID{0, 3}, 1)
		s.Solve(func(_, _, _ int32) {}) // 1 Mb/s is now 500
		s.Set(1, []pathmap.LinkID{0, 3}, 0)
		s.Solve(func(_, _, _ int32) {})
		if got := s.links[1].exact; got != tt.want {
			t.Errorf("of %v bits a second, 1e9 of them in use: exact is %v, want %v", tt.wide, got, tt.want)
		}
		if err := s.books(); err != nil {
			t.Error(err)
		}
	}
}
