package device_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/southbound"
)

// TestDoor: the direct way to a device reads what it holds, tells a watch of all that stands, and ends
// both where the device is down or the caller has gone.
func TestDoor(t *testing.T) {
	now := time.Duration(0)
	clock := func() time.Duration { return now }
	dev := device.New(device.Config{Name: "ocs", ID: 3, Kind: device.Optical, Ports: 8, Racks: 8,
		Plane: mem.New(8, clock),
		Clock: clock, Delays: device.Delays{Apply: device.Fixed(ms), Dark: device.Fixed(10 * ms),
			Lock:   device.Fixed(ms),
			Detect: device.Fixed(ms)}})
	var seen []string
	d := device.NewDoor(dev, clock, func(e southbound.DeviceEvent) { seen = append(seen, eventText(e)) })
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := d.Set(gone, connect(0, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("set by a caller who has gone: %v", err)
	}
	if _, err := d.Read(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("read by a caller who has gone: %v", err)
	}
	if err := d.Set(t.Context(), connect(0, 1)); err != nil {
		t.Fatal(err)
	}
	until := func(to time.Duration) {
		for ; now < to; d.Advance(now) {
			now += ms
		}
	}
	until(20 * ms)
	d.Do(func(now time.Duration, dev *device.Device) { dev.Light(now, 5, false) })
	until(30 * ms)
	got, err := d.Read(t.Context())
	if err != nil || len(got.Connections) != 1 || got.Connections[0].Out != 1 || len(got.Down) != 1 ||
		got.Down[0] != 5 {
		t.Errorf("read %+v, %v", got, err)
	}

	var told []string
	ends := make(chan error)
	synced := make(chan struct{})
	go func() {
		ends <- d.Watch(t.Context(), func(e southbound.DeviceEvent) {
			told = append(told, eventText(e))
			if e.Kind == southbound.Synced {
				close(synced)
			}
		})
	}()
	<-synced
	d.Do(func(now time.Duration, dev *device.Device) { dev.Power(now, false, 0) })
	if err := <-ends; !errors.Is(err, device.ErrDown) {
		t.Errorf("a watch of a device that goes down ends with %v", err)
	}
	want(t, "told", told, []string{"30ms 0→1 CONNECTED", "30ms down 5", "30ms synced", "30ms lost"})
	want(t, "seen", seen, []string{"0s 0→1 PENDING_CONNECTION", "12ms 0→1 CONNECTED",
		"21ms down 5", "30ms lost"})
	if _, err := d.Read(t.Context()); !errors.Is(err, device.ErrDown) {
		t.Errorf("read a device that is down: %v", err)
	}
	if err := d.Watch(t.Context(), func(southbound.DeviceEvent) { t.Error("told") }); !errors.Is(err,
		device.ErrDown) {
		t.Errorf("watch a device that is down: %v", err)
	}
}
