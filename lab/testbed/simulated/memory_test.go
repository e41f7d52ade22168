package simulated

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestThrift: a simulation's memory is bounded until too much is live, then no more; it is not bounded
// at all if the environment sets GOGC or GOMEMLIMIT.
func TestThrift(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	x := LimitMemory(true)
	if got := debug.SetMemoryLimit(-1); got != boundedMemory {
		t.Errorf("a bound of %d, want %d", got, boundedMemory)
	}
	lives := make([]byte, boundedLive+1)
	debug.FreeOSMemory() // collects, so that it is known to live
	x.sample()
	runtime.KeepAlive(lives)
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("with %d bytes that live, a bound of %d still", len(lives), got)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	if x = LimitMemory(false); x != nil {
		t.Error("bounded, though GOMEMLIMIT is set")
	}
	x.sample()
}
