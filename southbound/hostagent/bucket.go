package hostagent

import (
	"sync"
	"time"
)

// bucket meters a shared allowance by a virtual clock (GCRA, ITU-T I.371 annex A): free is when all
// that was spent is paid for. It is nil where nothing is bounded.
type bucket struct {
	each  float64       // nanoseconds that one unit costs
	saved time.Duration // an idle bucket saves so much at most

	mu   sync.Mutex
	free time.Time
}

// newBucket allows rate units a second, and at once what saved pays for; nil for a rate of 0.
func newBucket(rate float64, saved time.Duration) *bucket {
	if rate <= 0 {
		return nil
	}
	return &bucket{each: 1e9 / rate, saved: saved}
}

// spend takes n units, even if the bucket is empty, and returns the time at which they are paid for:
// the caller waits until then before taking more. The zero time means at once.
func (b *bucket) spend(n float64, now time.Time) time.Time {
	if b == nil {
		return time.Time{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = b.after(n, now)
	return b.free
}

// paid returns when all units taken are paid for; a new caller can begin then.
func (b *bucket) paid() time.Time {
	if b == nil {
		return time.Time{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free
}

// admit takes one unit if it is paid for within patience, and returns the wait until then. Otherwise it
// takes nothing, and wait is how long it would have been.
func (b *bucket) admit(now time.Time, patience time.Duration) (wait time.Duration, ok bool) {
	if b == nil {
		return 0, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	free := b.after(1, now)
	wait = max(free.Sub(now), 0)
	if wait > patience {
		return wait, false
	}
	b.free = free
	return wait, true
}

func (b *bucket) after(n float64, now time.Time) time.Time {
	return laterOf(b.free, now.Add(-b.saved)).Add(time.Duration(n * b.each))
}
