package des

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// reference is the obviously right clock: a slice that is searched.
type reference struct {
	now     time.Duration
	pending []referenceEvent
}

type referenceEvent struct {
	at    time.Duration
	seq   int
	value int
}

func (w *reference) least() int {
	best := -1
	for i, e := range w.pending {
		if best < 0 || e.at < w.pending[best].at || e.at == w.pending[best].at && e.seq < w.pending[best].seq {
			best = i
		}
	}
	return best
}

func (w *reference) find(value int) int {
	return slices.IndexFunc(w.pending, func(e referenceEvent) bool { return e.value == value })
}

func TestClockLikeReference(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var c Clock[int]
		var w reference
		var names []Event
		for seq := range 200 {
			switch op := rng.IntN(10); {
			case op < 4:
				at := w.now + time.Duration(rng.IntN(20)-3) // a few in the past
				names = append(names, c.At(at, len(names)))
				w.pending = append(w.pending, referenceEvent{max(at, w.now), seq, len(names) - 1})
			case op < 6 && len(names) > 0:
				v := rng.IntN(len(names))
				i := w.find(v)
				if got := c.Cancel(names[v]); got != (i >= 0) {
					t.Fatalf("seed %d: cancel %d: got %v", seed, v, got)
				}
				if i >= 0 {
					w.pending = slices.Delete(w.pending, i, i+1)
				}
			case op < 8 && len(names) > 0:
				v := rng.IntN(len(names))
				at := w.now + time.Duration(rng.IntN(20))
				i := w.find(v)
				if got := c.Move(names[v], at); got != (i >= 0) {
					t.Fatalf("seed %d: move %d: got %v", seed, v, got)
				}
				if i >= 0 {
					w.pending[i].at, w.pending[i].seq = at, seq
				}
			default:
				to := w.now + time.Duration(rng.IntN(10))
				i := w.least()
				v, ok := c.Take(to)
				if want := i >= 0 && w.pending[i].at <= to; ok != want {
					t.Fatalf("seed %d: take: got %v, want %v", seed, ok, want)
				} else if !ok {
					c.Set(to)
					w.now = to
					break
				}
				if v != w.pending[i].value || c.Now() != w.pending[i].at {
					t.Fatalf("seed %d: took %d at %v, want %+v", seed, v, c.Now(), w.pending[i])
				}
				w.now = w.pending[i].at
				w.pending = slices.Delete(w.pending, i, i+1)
			}
			if c.Len() != len(w.pending) {
				t.Fatalf("seed %d: %d pending, want %d", seed, c.Len(), len(w.pending))
			}
			if at, ok := c.Next(); ok && at != w.pending[w.least()].at {
				t.Fatalf("seed %d: next at %v, want %v", seed, at, w.pending[w.least()].at)
			}
		}
	}
}

func TestStaleNameIsNothing(t *testing.T) {
	var c Clock[string]
	first := c.At(5, "first")
	if _, ok := c.Take(5); !ok {
		t.Fatal("nothing to take")
	}
	second := c.At(7, "second") // holds the same slot
	if c.Cancel(first) || c.Move(first, 9) || c.Pending(first) || c.Cancel(Event{}) {
		t.Error("a stale name still names an event")
	}
	if !c.Cancel(second) {
		t.Error("the new event is gone")
	}
}

func TestSetNeverSkips(t *testing.T) {
	for name, to := range map[string]time.Duration{"back": 1, "over an event": 9} {
		t.Run(name, func(t *testing.T) {
			var c Clock[int]
			c.Set(3)
			c.At(8, 0)
			defer func() {
				if recover() == nil {
					t.Errorf("set to %v did not panic", to)
				}
			}()
			c.Set(to)
		})
	}
}

func TestNoAllocationInSteadyState(t *testing.T) {
	var c Clock[int]
	names := make([]Event, 64)
	for i := range names {
		names[i] = c.At(time.Duration(i), i)
	}
	c.Cancel(names[3])
	names[3] = c.At(1, 3)
	got := testing.AllocsPerRun(1000, func() {
		c.Move(names[7], c.Now()+500)
		c.Cancel(names[9])
		names[9] = c.At(c.Now()+90, 9)
		v, _ := c.Take(1 << 40)
		names[v] = c.At(c.Now()+70, v)
	})
	if got != 0 {
		t.Errorf("%v allocations a round", got)
	}
}

// BenchmarkHold is the usual measure of an event queue: take the earliest of n, add one a random while
// later.
func BenchmarkHold(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("pending_%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var c Clock[int32]
			for i := range n {
				c.At(time.Duration(rng.IntN(1000)), int32(i))
			}
			for b.Loop() {
				v, _ := c.Take(1 << 60)
				c.At(c.Now()+time.Duration(rng.IntN(1000)), v)
			}
		})
	}
}
