package server

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestGarbageOutgrown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		live, roots, goal uint64
		want              bool
	}{
		{0, 0, 300 << 20, false}, {199 << 20, 0, 300 << 20, false}, {201 << 20, 0, 300 << 20, true},
		{1 << 40, 0, 300 << 20, true}, {150 << 20, 0, 224 << 20, true}, {150 << 20, 0, 226 << 20, false},
		{150 << 20, 4 << 20, 226 << 20, true},
	} {
		if got := outgrown(50, tt.live, tt.roots, tt.goal); got != tt.want {
			t.Errorf("outgrown(50, %d, %d, %d) = %v, want %v", tt.live, tt.roots, tt.goal, got, tt.want)
		}
	}
}

// TestGarbageFollow: each collection is looked at until a look says that no more are.
func TestGarbageFollow(t *testing.T) {
	var looks atomic.Int64
	follow(func() bool { return looks.Add(1) < 3 })
	for deadline := time.Now().Add(time.Minute); looks.Load() < 3; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatalf("%d looks, want 3", looks.Load())
		}
	}
	ended := make(chan bool)
	runtime.AddCleanup(new([2]*byte), func(c chan bool) { close(c) }, ended)
	for range 3 { // of objects that went in one collection, the last to be looked at need not be the last that went
		runtime.GC()
	}
	<-ended
	if n := looks.Load(); n != 3 {
		t.Errorf("%d looks, want 3", n)
	}
	if l := (&bound{lifted: true}); l.holds() {
		t.Error("a bound that is lifted is looked after")
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
	t.Run("stacks", func(t *testing.T) {
		defer deep(1500)()
		held := make([]byte, memory/4)
		Garbage{Percent: 65, Memory: memory, First: time.Hour}.Limit()
		lifted("stacks leave little", 65)
		runtime.KeepAlive(held)
	})
	Garbage{Percent: 55, Memory: 1 << 40, First: time.Millisecond}.Limit()
	lifted("it is not new", 55)
}

// deep starts so many goroutines with stacks of 32 kB, and returns what ends them.
func deep(n int) (end func()) {
	var down, done sync.WaitGroup
	stop := make(chan struct{})
	var dive func(n int) byte
	dive = func(n int) byte {
		var frame [1 << 10]byte
		if n == 0 {
			down.Done()
			<-stop
			return frame[0]
		}
		frame[n] = byte(n)
		return dive(n-1) + frame[n/2]
	}
	for range n {
		down.Add(1)
		done.Go(func() { dive(20) })
	}
	down.Wait()
	return func() {
		close(stop)
		done.Wait()
	}
}
