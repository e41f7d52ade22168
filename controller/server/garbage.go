package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Garbage says how much garbage a process gathers before it is collected. The zero value is Go's default.
type Garbage struct {
	Percent int   `json:"percent,omitempty"` // of what is live; 0: as Go does
	Memory  int64 `json:"memory,omitempty"`  // bytes that it may take at first before it is collected
	// for how long that holds at most: later so much garbage would only take room
	First time.Duration `json:"first,omitempty"`
}

// Limit has the collector keep to it from now on. While a process grows it would be collected each time that it has
// grown by so many percent: with memory that it will need anyway it is spared most of that.
func (g Garbage) Limit() {
	if g.Percent == 0 {
		return
	}
	if g.Memory == 0 {
		debug.SetGCPercent(g.Percent)
		return
	}
	debug.SetMemoryLimit(g.Memory)
	debug.SetGCPercent(-1)
	l := &bound{percent: g.Percent}
	follow(l.holds)
	time.AfterFunc(g.First, l.lift)
}

// bound is Memory while it holds.
type bound struct {
	percent int
	mu      sync.Mutex
	lifted  bool
}

// lift has the percentage hold from now on.
func (l *bound) lift() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lifted {
		return
	}
	l.lifted = true
	debug.SetGCPercent(l.percent)
	debug.SetMemoryLimit(math.MaxInt64)
}

// holds looks after a collection whether the bound still spares collections, and lifts it if it does not.
func (l *bound) holds() bool {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
		{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	of := func(i int) uint64 { return s[i].Value.Uint64() }
	if outgrown(l.percent, of(0), of(1)+of(2), of(3)) {
		l.lift()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.lifted
}

// follow calls holds at the end of each collection, when an object goes that nothing holds, until it returns false.
func follow(holds func() bool) {
	type sentinel struct{ _ *byte } // with a pointer, so that it shares its place with nothing
	runtime.AddCleanup(new(sentinel), func(holds func() bool) {
		if holds() {
			follow(holds)
		}
	}, holds)
}

// outgrown reports whether the heap could grow further by the percentage than to the goal that a bound on all memory
// leaves it, which counts stacks and the runtime's own memory. By the percentage the heap grows by a part of what the
// collector goes through: live objects, and roots, which are stacks and globals. All are in bytes.
func outgrown(percent int, live, roots, goal uint64) bool {
	return live+(live+roots)/100*uint64(percent) > goal
}
