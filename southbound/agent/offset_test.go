package agent

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestClockOffset: whatever a call takes and however unevenly, an agent's clock is known to within half
// of the shortest call and the drift since; a jump is noticed where it is larger than that, and nothing
// else is.
func TestClockOffset(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 5))
		truth := time.Duration(r.Int64N(int64(24*time.Hour))) - 12*time.Hour
		ppm := (r.Float64()*2 - 1) * 100e-6
		var c clockOffset
		run, base := time.Duration(0), time.Duration(0)
		jumps := 0
		there := func(at time.Duration) time.Duration { return at + truth + time.Duration(float64(at-base)*ppm) }
		for range 100 {
			run += time.Duration(r.Int64N(int64(2 * time.Second)))
			if c.known && r.IntN(40) == 0 {
				truth += []time.Duration{-1, 1}[r.IntN(2)] * (2*time.Second + time.Duration(r.Int64N(int64(time.Hour))))
				jumps++
			}
			forth, back := time.Duration(r.Int64N(int64(20*time.Millisecond))),
				time.Duration(r.Int64N(int64(20*time.Millisecond)))
			jumped := c.take(run, run+forth+back, there(run+forth))
			run += forth + back
			if off := c.toRun(there(run)) - run; off > 21*time.Millisecond || off < -21*time.Millisecond {
				t.Fatalf("seed %d: %v off (jumped: %v)", seed, off, jumped)
			}
			if got := c.toAgent(c.toRun(12345)); got != 12345 {
				t.Fatalf("there and back is %v", got)
			}
		}
		if c.jumps != jumps {
			t.Fatalf("seed %d: %d jumps were noticed, there were %d", seed, c.jumps, jumps)
		}
	}
}
