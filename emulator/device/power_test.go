package device_test

import (
	"errors"
	"testing"

	"lightloom/emulator/device"
	"lightloom/southbound"
)

func TestPowerOfPacketSwitch(t *testing.T) {
	b := newBench(device.Packet, nil)
	b.set(t, &southbound.Change{Rules: []southbound.Rule{rule(3, southbound.AnyTag, 1, 2)}})
	b.until(10 * ms)

	b.Power(b.now, false, 0)
	b.Power(b.now, false, 0) // nothing more
	b.Light(b.now, 4, false)
	b.Restart(b.now, 5*ms) // without power nothing boots
	want(t, "off", b.until(100*ms), []string{"10ms lost"})
	if err := b.Set(b.now, &southbound.Change{Drop: []southbound.Match{{Dst: 3, Tag: southbound.AnyTag,
		Src: southbound.AnyRack}}}); !errors.Is(err, device.ErrDown) {
		t.Errorf("set without power: %v", err)
	}
	if _, ok := b.plane.Lookup(3, 0, 1); ok {
		t.Error("the plane forwards without power")
	}

	b.Power(b.now, true, 20*ms)
	// The boot ends at 120; the port that went dark meanwhile is found dark 3 ms later.
	want(t, "on", b.until(200*ms), []string{"120ms synced", "123ms down 4"})
	want(t, "rules after a cold boot", b.Seen(b.now).Rules, []southbound.Rule(nil))
}

func TestPowerOfOpticalSwitch(t *testing.T) {
	b := newBench(device.Optical, func(c *device.Config) { c.Recovery = device.Restore })
	b.set(t, connect(0, 1))
	b.until(20 * ms)
	b.light = nil
	b.Power(b.now, false, 0)
	b.until(50 * ms)
	want(t, "light without power", b.light, []string{"20ms 0 false"})
	b.Power(b.now, true, 10*ms)
	// booted at 60, applied at 61, lit at 71, locked at 73
	want(t, "on", b.until(100*ms), []string{"60ms 0→1 PENDING_CONNECTION", "60ms synced",
		"73ms 0→1 CONNECTED"})
	if err := device.CheckLit(b.Log()); err != nil {
		t.Error(err)
	}
}
