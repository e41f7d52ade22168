package fair_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller/internal/fair"
	"lightloom/pathmap/tries"
)

// TestTurns: who gets the slots that come free, one after the other. Each caller asks in the order of
// the letters.
func TestTurns(t *testing.T) {
	for _, tt := range []struct {
		name        string
		slots, each int
		asks, given string // a slot is left as soon as nobody else has news
	}{
		{"alone", 2, 1, "aaa", "aaa"},
		{"as they come", 3, 3, "abc", "abc"},
		{"one beside many", 2, 2, "aaaaaab", "aabaaaa"},
		{"who holds fewest", 2, 1, "aaaabb", "ababaa"},
		{"in turn", 1, 1, "aaabbbccc", "abcabcabc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := fair.NewSlots(tt.slots, tt.each)
				var mu sync.Mutex
				var given []byte
				var holds []func()
				for _, who := range tt.asks {
					go func() {
						leave, err := g.Enter(t.Context(), string(who))
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						defer mu.Unlock()
						given, holds = append(given, byte(who)), append(holds, leave)
					}()
					synctest.Wait()
				}
				for range tt.asks {
					mu.Lock()
					leave := holds[0]
					holds = holds[1:]
					mu.Unlock()
					leave()
					synctest.Wait()
				}
				slices.Sort(given[:min(tt.slots, len(given))]) // those that did not wait
				t.Logf("given %s", given)
				if string(given) != tt.given {
					t.Errorf("given %s, want %s", given, tt.given)
				}
			})
		})
	}
}

// TestGateIsKept: however callers come, wait and give up, no more slots are held than there are, none
// by one caller above its bound, nobody waits where one is free, and all slots come back.
func TestGateIsKept(t *testing.T) {
	for seed := range uint64(tries.Of(20, 500)) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			slots := 1 + r.IntN(5)
			each := 1 + r.IntN(slots)
			g := fair.NewSlots(slots, each)
			var all atomic.Int32
			var of [4]atomic.Int32
			var wg sync.WaitGroup
			for range 200 {
				i, after := r.IntN(len(of)), time.Duration(r.IntN(1000))
				patience, work := time.Duration(r.IntN(300)), time.Duration(1+r.IntN(20))
				wg.Go(func() {
					<-time.After(after)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					leave, err := g.Enter(ctx, fmt.Sprint(i))
					if err != nil {
						return
					}
					if n, m := all.Add(1), of[i].Add(1); int(n) > slots || int(m) > each {
						t.Errorf("seed %d: %d of %d slots are held, %d of %d by one", seed, n, slots, m, each)
					}
					<-time.After(work)
					all.Add(-1)
					of[i].Add(-1)
					leave()
				})
			}
			wg.Wait()
			for i := range slots {
				leave, ok := g.Try(fmt.Sprint("last", i))
				if !ok {
					t.Fatalf("seed %d: slot %d of %d has not come back", seed, i, slots)
				}
				defer leave()
			}
			if _, ok := g.Try("one too many"); ok {
				t.Errorf("seed %d: more slots have come back than there were", seed)
			}
		})
	}
}

// TestBudget: what each caller can hold, and whose share ends for whom.
func TestBudget(t *testing.T) {
	ended := map[string]int{}
	b := fair.NewBudget(10, 60, 100)
	open := func(who string) *fair.Share { return b.Open(who, func() { ended[who]++ }) }
	grow := func(s *fair.Share, n int, want error) {
		t.Helper()
		if err := s.Grow(n); !errors.Is(err, want) {
			t.Errorf("grow by %d: %v, want %v", n, err, want)
		}
	}
	greedy, more, other := open("greedy"), open("greedy"), open("other")
	grow(greedy, 40, nil)
	grow(more, 20, nil)
	grow(more, 1, fair.ErrFull) // 61 by one caller
	grow(other, 40, nil)
	grow(other, 1, nil) // the largest share of who holds most ends: 20+41 are held
	if ended["greedy"] != 1 || ended["other"] != 0 {
		t.Errorf("ended %v, want one of the greedy", ended)
	}
	grow(greedy, 1, fair.ErrFull) // it has ended
	greedy.Close()

	third := open("third")
	grow(third, 39, nil)
	other.Keep()
	third.Keep()
	more.Keep()
	small := open("small")
	grow(small, 10, nil) // surely
	grow(small, 1, fair.ErrFull)
	other.Close()
	other.Close()
	grow(small, 31, nil) // 20+39+41
	if len(ended) != 1 || ended["greedy"] != 1 {
		t.Errorf("ended %v, and those that are kept are not", ended)
	}
	for _, s := range []*fair.Share{more, third, small} {
		s.Close()
	}
	last := open("last")
	grow(last, 60, nil)
	grow(open("last but one"), 40, nil)
}
