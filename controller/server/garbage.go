package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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
	g.follow()
	time.AfterFunc(g.First, g.lift)
}

// lift ends what holds at first.
func (g Garbage) lift() {
	debug.SetGCPercent(g.Percent)
	debug.SetMemoryLimit(math.MaxInt64)
}

// follow looks at the end of each collection, when an object goes that nothing holds, whether so much is live that
// the percentage holds.
func (g Garbage) follow() {
	type sentinel struct{ _ *byte } // with a pointer, so that it shares its place with nothing
	runtime.AddCleanup(new(sentinel), func(g Garbage) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		if metrics.Read(live); g.outgrown(live[0].Value.Uint64()) {
			g.lift()
			return
		}
		g.follow()
	}, g)
}

// outgrown reports whether so many live bytes need more than Memory with their garbage.
func (g Garbage) outgrown(live uint64) bool { return live/100*uint64(100+g.Percent) > uint64(g.Memory) }
