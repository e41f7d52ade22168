package simulated

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// MemoryLimit keeps the memory of a simulation small. While little memory is live, the collector runs
// before the total exceeds a bound; once more is live, it runs when garbage reaches half of it. GOGC
// and GOMEMLIMIT overrule it.
type MemoryLimit struct{ lift sync.Once }

const (
	// boundedMemory is the bound on the Go runtime's memory. With it the whole Facebook trace stays below
	// 200 MB under every policy.
	boundedMemory = 154 << 20
	// boundedLive is the most live memory for which the limit holds: above it a collection frees too little.
	boundedLive = 112 << 20
)

// LimitMemory is called before simulations. It returns nil if the environment overrules it. Simulations
// of circuits keep little memory live and make much garbage.
func LimitMemory(circuits bool) *MemoryLimit {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	debug.SetMemoryLimit(boundedMemory)
	if circuits {
		debug.SetGCPercent(50)
	}
	return new(MemoryLimit)
}

// sample removes the limit once too much memory is live. It is called now and then.
func (t *MemoryLimit) sample() {
	if t == nil {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(live); live[0].Value.Kind() == metrics.KindUint64 && live[0].Value.Uint64() > boundedLive {
		t.lift.Do(func() {
			debug.SetGCPercent(50)
			debug.SetMemoryLimit(math.MaxInt64)
		})
	}
}
