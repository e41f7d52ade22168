package device_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/devicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// openDoor opens a device that runs in real time.
func openDoor(t *testing.T, kind device.Kind) *device.Door {
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	dev := device.New(device.Config{Name: "sw", ID: 3, Kind: kind, Ports: 8, Racks: 8,
		Plane: mem.New(8, clock),
		Clock: clock,
		Delays: device.Delays{Apply: device.Fixed(ms / 2), Dark: device.Fixed(ms), Lock: device.Fixed(ms),
			Detect: device.Fixed(ms)}})
	door := device.NewDoor(dev, clock, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- door.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		door.Do(func(_ time.Duration, dev *device.Device) {
			if err := device.CheckLit(dev.Log()); err != nil {
				t.Error(err)
			}
		})
	})
	return door
}

func TestConformance(t *testing.T) {
	for _, kind := range []device.Kind{device.Packet, device.Optical} {
		t.Run(kind.String(), func(t *testing.T) {
			devicetest.Run(t, func(t *testing.T) *devicetest.Bench {
				door := openDoor(t, kind)
				return &devicetest.Bench{Device: door, Optical: kind == device.Optical, Ports: 8, Racks: 8,
					Light: func(p southbound.Port, lit bool) { door.Light(p, lit) }}
			})
		})
	}
}
