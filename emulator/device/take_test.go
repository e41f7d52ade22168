package device_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
)

// TestTake: Take appends the events that Advance would have emitted to the given list.
func TestTake(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 29))
		a, b := newBench(device.Optical, nil), newBench(device.Optical, nil)
		var told, taken []southbound.DeviceEvent
		at := time.Duration(0)
		for range 30 {
			c := randomConnects(r, 8)
			at += time.Duration(r.Int64N(int64(20 * ms)))
			a.now, b.now = at, at
			a.Advance(at, func(e southbound.DeviceEvent) { told = append(told, e) })
			taken = b.Take(at, taken)
			if x, y := a.Set(at, c), b.Set(at, c); (x == nil) != (y == nil) {
				t.Fatalf("seed %d: %v and %v", seed, x, y)
			}
		}
		if !slices.Equal(told, taken) || len(told) == 0 {
			t.Fatalf("seed %d: taken %v, told %v", seed, taken, told)
		}
	}
}
