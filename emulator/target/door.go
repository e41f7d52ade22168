package target

import (
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
)

// Switch is what a target shows: an emulated device, or one elsewhere that remote.Switch stands for.
type Switch interface {
	// Config returns its configuration: Name, Kind, Ports, Racks and Recovery count.
	Config() device.Config
	// Accepted returns what it has accepted, as one change that replaces everything, and Seen what it says
	// of itself.
	Accepted() *southbound.Change
	Seen(now time.Duration) southbound.Seen
	// Set takes a change whole, or refuses it, as device.Device.Set does.
	Set(now time.Duration, c *southbound.Change) error
	// Down reports whether it cannot be spoken to.
	Down(now time.Duration) bool
	// Losses returns by how much more than usual circuits are weakened, by input, and Dropped how many
	// packets were lost.
	Losses() map[southbound.Port]device.CentiBel
	Dropped() (uint64, error)
}

// Backend is the way to a Switch. Its laws are those of device.Door: f is called alone, and must not
// call the backend.
type Backend interface {
	Do(f func(now time.Duration, s Switch))
	Attach(t device.Tap, first func(now time.Duration, s Switch)) (detach func())
}

// emulated is the backend of a device's door.
type emulated struct{ door *device.Door }

func (e emulated) Do(f func(time.Duration, Switch)) {
	e.door.Do(func(now time.Duration, d *device.Device) { f(now, local{d}) })
}

func (e emulated) Attach(t device.Tap, first func(time.Duration, Switch)) func() {
	return e.door.Attach(t, func(now time.Duration, d *device.Device) { first(now, local{d}) })
}

// local is a device as a Switch.
type local struct{ *device.Device }

func (l local) Dropped() (uint64, error) { return l.Config().Plane.Dropped() }
