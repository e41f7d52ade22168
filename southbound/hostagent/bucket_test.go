package hostagent

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestBucketReference: over thousands of random seconds the virtual clock admits exactly what a bucket
// of counted tokens does, and the wait that it returns ends when the tokens are there.
func TestBucketReference(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		// A token takes a whole number of microseconds, so that both count alike.
		each := time.Duration(1+rng.IntN(5000)) * time.Microsecond
		saved := time.Duration(rng.IntN(20)) * each
		patience := time.Duration(rng.IntN(10)) * each
		b := newBucket(1e9/float64(each), saved)
		b.each = float64(each) // without the rounding of two divisions
		began := time.Unix(1, 0)
		now, tokens := began, saved // tokens are counted in the time they take; below zero is owed
		b.free = began.Add(-saved)
		for range 100 {
			step := time.Duration(rng.Int64N(int64(3 * each)))
			now, tokens = now.Add(step), min(tokens+step, saved)
			want := max(each-tokens, 0)
			wait, ok := b.admit(now, patience)
			if wait != want || ok != (want <= patience) {
				t.Fatalf("seed %d at %v: wait %v, %v; %v is in the bucket of %v, a token takes %v, patience %v", seed,
					now.Sub(began), wait, ok, tokens, saved, each, patience)
			}
			if ok {
				tokens -= each
			}
		}
	}
}

func TestNoBucket(t *testing.T) {
	b := newBucket(0, time.Second)
	if wait, ok := b.admit(time.Now(), 0); wait != 0 || !ok || !b.spend(1e9, time.Now()).IsZero() ||
		!b.paid().IsZero() {
		t.Error("nothing bounds, and something waits")
	}
}

// TestBucketSpend: what is spent by many is paid for one after the other.
func TestBucketSpend(t *testing.T) {
	b, now := newBucket(1000, 10*time.Millisecond), time.Unix(5, 0)
	for i, tc := range []struct {
		n    float64
		at   time.Duration // since now
		want time.Duration
	}{
		{10, 0, 0},                   // saved before
		{5, 0, 5 * time.Millisecond}, //
		{100, time.Millisecond, 105 * time.Millisecond},                                // behind the five
		{1, 100 * time.Millisecond, 106 * time.Millisecond},                            // still owed
		{1, time.Second, time.Second - 9*time.Millisecond},                             // idle: ten were saved
		{10, time.Second, time.Second + time.Millisecond},                              // nine were left
		{0, 2 * time.Second, 2*time.Second - 10*time.Millisecond},                      // and no more than ten are ever saved
		{20, 2 * time.Second, 2*time.Second + 10*time.Millisecond},                     //
		{20, 2*time.Second + 30*time.Millisecond, 2*time.Second + 40*time.Millisecond}, //
	} {
		if got := b.spend(tc.n, now.Add(tc.at)).Sub(now); got != tc.want || b.paid().Sub(now) != tc.want {
			t.Errorf("%d: paid for after %v, want %v", i, got, tc.want)
		}
	}
}
