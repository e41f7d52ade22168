package hostagent

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// TestEventLog compares the log with a slice that forgets nothing.
func TestEventLog(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		l, acked := newEventLog(), uint64(0)
		var all []southbound.Event
		for range 60 {
			n := uint64(len(all))
			switch rng.IntN(3) {
			case 0:
				changed := l.changed
				l.add(southbound.Event{At: time.Duration(rng.IntN(20)), Kind: southbound.TaskEnded,
					Task: southbound.TaskID(n)})
				<-changed
				all = append(all, l.kept[len(l.kept)-1])
			case 1:
				through := uint64(rng.IntN(int(n) + 3))
				if err := l.ack(through); (err != nil) != (through > n) {
					t.Fatalf("seed %d: ack %d of %d: %v", seed, through, n, err)
				} else if err == nil {
					acked = max(acked, through)
				}
			case 2:
				from, most := uint64(rng.IntN(int(n)+3)), rng.IntN(5)
				first, got, err := l.from(from, most)
				if from == 0 {
					from = acked + 1
				}
				if from <= acked || from > n+1 {
					if !errors.Is(err, wire.ErrRestarted) {
						t.Fatalf("seed %d: from %d (%d to %d): %v", seed, from, acked+1, n, err)
					}
					continue
				}
				want := all[from-1 : min(from-1+uint64(most), n)]
				if err != nil || first != from || len(got) != len(want) {
					t.Fatalf("seed %d: from %d: first %d, %d events, %v; want %d", seed, from, first,
						len(got), err, len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("seed %d: event %d: %+v, want %+v", seed, from, got[i], want[i])
					}
				}
			}
		}
		for i := 1; i < len(all); i++ {
			if all[i].At <= all[i-1].At {
				t.Fatalf("seed %d: event %d at %v after %v", seed, i, all[i].At, all[i-1].At)
			}
		}
	}
}

func TestFence(t *testing.T) {
	f, _ := newFence("")
	for i, step := range []struct {
		e       wire.Election
		ok, new bool
	}{
		{wire.Election{}, false, false},
		{wire.Election{Low: 1}, true, false},
		{wire.Election{High: 2, Low: 5}, true, true},
		{wire.Election{High: 2, Low: 4}, false, false},
		{wire.Election{High: 2, Low: 6}, true, false},
		{wire.Election{High: 1, Low: 9}, false, false},
		{wire.Election{High: 3}, true, true},
		{wire.Election{}, false, false},
	} {
		changed := f.changed
		err := f.admit(step.e)
		if (err == nil) != step.ok || err != nil && !errors.Is(err, southbound.ErrNotLeader) {
			t.Errorf("step %d: %v", i, err)
		}
		if (f.changed != changed) != step.new {
			t.Errorf("step %d: new leader is %v", i, !step.new)
		}
	}
	if err := f.holds(wire.Election{High: 2, Low: 9}); !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("a stream of an old leader goes on: %v", err)
	}
	if err := f.holds(wire.Election{High: 3}); err != nil {
		t.Error(err)
	}
}
