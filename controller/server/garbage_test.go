package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestGarbageOutgrown(t *testing.T) {
	t.Parallel()
	g := Garbage{Percent: 50, Memory: 300 << 20}
	for _, tt := range []struct {
		live uint64
		want bool
	}{{0, false}, {199 << 20, false}, {201 << 20, true}, {1 << 40, true}} {
		if got := g.outgrown(tt.live); got != tt.want {
			t.Errorf("outgrown(%d) = %v, want %v", tt.live, got, tt.want)
		}
	}
}

// TestGarbageLimit: a bound on memory holds until so much is live that the percentage needs more.
func TestGarbageLimit(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	set := func() (percent, limit uint64) {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64(), s[1].Value.Uint64()
	}
	Garbage{}.Limit()
	if p, l := set(); p != 100 || l != uint64(limit) {
		t.Errorf("nothing asked: %d %% and %d bytes", p, l)
	}
	Garbage{Percent: 70}.Limit()
	if p, l := set(); p != 70 || l != uint64(limit) {
		t.Errorf("a percentage asked: %d %% and %d bytes", p, l)
	}
	const memory = 64 << 20
	Garbage{Percent: 60, Memory: memory, First: time.Hour}.Limit()
	if p, l := set(); p != math.MaxUint64 || l != memory {
		t.Errorf("little is live: %d %% and %d bytes", p, l)
	}
	lifted := func(when string, percent uint64) {
		for deadline := time.Now().Add(time.Minute); ; runtime.GC() {
			p, l := set()
			if p == percent && l == math.MaxInt64 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d %% and %d bytes", when, p, l)
			}
		}
	}
	held := make([]byte, memory)
	lifted("much is live", 60)
	runtime.KeepAlive(held)
	Garbage{Percent: 55, Memory: 1 << 40, First: time.Millisecond}.Limit()
	lifted("it is not new", 55)
}
