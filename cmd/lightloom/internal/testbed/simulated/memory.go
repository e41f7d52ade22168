package simulated

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// MemoryLimit keeps the memory of a simulation small: as long as little lives, garbage is collected before all of it
// together takes more than a bound, and once more lives, when there is half as much garbage. GOGC and GOMEMLIMIT
// overrule it.
type MemoryLimit struct{ lift sync.Once }

const (
	// boundedMemory is what the Go runtime may take, with which the whole Facebook trace stays below 200 MB under every
	// policy.
	boundedMemory = 154 << 20
	// boundedLive is up to how much may live for that: collecting must free enough to be worth its while.
	boundedLive = 112 << 20
)

// LimitMemory is called before simulations; nil: it is overruled. Those of circuits leave little behind that lives, and
// much that does not.
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

// look lifts the bound where too much lives for it. It is called now and then.
func (t *MemoryLimit) look() {
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
