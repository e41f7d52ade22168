package server

import (
	"math/rand/v2"
	"time"
)

// backoff decides how long a process that has exited waits for its next start: exponentially longer
// while its runs are short, so that a process that cannot start does not take the processor from the
// others. It is pure.
type backoff struct {
	seed  uint64 // of the jitter: replicas that ended together do not begin together
	short uint   // lives in a row that were too short
}

// Bounds of a pause. A killed replica is back long before a second failure is likely; a broken one
// starts twelve times a minute at most.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
	longLife   = 2 * time.Second // a process that lived for so long had started well
)

// next returns the pause after a life of that length. Half of it is drawn from the seed.
func (b *backoff) next(lived time.Duration) time.Duration {
	if lived >= longLife {
		b.short = 0
	}
	most := lastPause
	if b.short < 16 {
		most = min(firstPause<<b.short, lastPause)
	}
	b.short++
	draw := rand.New(rand.NewPCG(b.seed, uint64(b.short)))
	return most/2 + time.Duration(draw.Int64N(int64(most/2)+1))
}
