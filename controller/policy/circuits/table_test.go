package circuits

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/southbound"
)

// slow is a table that remembers what was taken and looks at all of it every time.
type slow []struct {
	in, out  southbound.Port
	from, to time.Duration
}

func (s slow) fits(in, out southbound.Port, from, to time.Duration) bool {
	for _, x := range s {
		if (x.in == in || x.out == out) && x.from < to && from < x.to {
			return false
		}
	}
	return true
}

func (s slow) free(in, out southbound.Port, t time.Duration) time.Duration {
	long := southbound.Never - t
	for _, x := range s {
		if (x.in == in || x.out == out) && x.to > t {
			long = min(long, max(x.from-t, 0))
		}
	}
	return long
}

func (s slow) earliest(in, out southbound.Port, t, long time.Duration) time.Duration {
	for !s.fits(in, out, t, t+long) {
		t++
	}
	return t
}

func TestTableAgainstReference(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		b, reference := newTable(4), slow{}
		for range 25 {
			in, out := southbound.Port(rng.IntN(4)), southbound.Port(rng.IntN(4))
			from, long := time.Duration(rng.IntN(60)), time.Duration(1+rng.IntN(8))
			if got, want := b.free(in, out, from), reference.free(in, out, from); got != want {
				t.Fatalf("seed %d: %d→%d free for %d from %d on, want %d", seed, in, out, got, from, want)
			}
			if got, want := earliest(b.in(in), b.out(out), from, long), reference.earliest(in, out, from,
				long); got != want {
				t.Fatalf("seed %d: %d→%d free for %d first at %d, want %d", seed, in, out, long, got, want)
			}
			if b.fits(in, out, from, from+long) != reference.fits(in, out, from, from+long) {
				t.Fatalf("seed %d: %d→%d fits in [%d, %d)? reference differs", seed, in, out, from, from+long)
			}
			if b.fits(in, out, from, from+long) {
				b.take(in, out, from, from+long)
				if !b.continues(in, out, from+long) || b.fits(in, out, from, from+1) {
					t.Fatalf("seed %d: what was taken is not there", seed)
				}
				if rng.IntN(3) == 0 {
					b.drop(in, out, from)
				} else {
					reference = append(reference, struct {
						in, out  southbound.Port
						from, to time.Duration
					}{in, out, from, from + long})
				}
			}
		}
	}
}

func TestEarliestBehindEndlessReservation(t *testing.T) {
	b := newTable(2)
	b.take(0, 1, 5, southbound.Never)
	if at := earliest(b.in(0), b.out(1), 3, 4); at != southbound.Never {
		t.Errorf("free at %v, want never", at)
	}
}

// TestReleases: what is due first, and of which ports, against a look at all of them.
func TestReleases(t *testing.T) {
	var r releases
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 6))
		sides := 1 + rng.IntN(100)
		now, horizon := time.Duration(rng.IntN(1000)), time.Duration(1000+rng.IntN(9000))
		if seed%4 == 0 {
			horizon = southbound.Never // all in one stretch
		}
		r.open(2*sides, now, horizon)
		at := slices.Repeat([]time.Duration{southbound.Never}, 2*sides)
		for range 100 {
			for range rng.IntN(5) {
				port := rng.IntN(len(at))
				if at[port] = now + time.Duration(rng.IntN(100)); at[port] >= horizon || rng.IntN(4) == 0 {
					at[port] = southbound.Never
				}
				r.set(port, at[port])
			}
			first := slices.Min(at)
			var want []int32
			for port, x := range at {
				if x == first && first < southbound.Never {
					want = append(want, int32(port))
				}
			}
			due, got := r.due(nil)
			if slices.Sort(got); due != first || !slices.Equal(got, want) {
				t.Fatalf("seed %d: at %v %v are due, want %v at %v", seed, due, got, want, first)
			}
			if first < southbound.Never {
				now = first
			}
		}
	}
}
