package device

import (
	"fmt"
	"time"

	"lightloom/southbound"
)

// Kind is what a device switches: packets or circuits.
type Kind uint8

// The kinds.
const (
	Packet  Kind = iota + 1 // rules by destination rack and tag
	Optical                 // cross-connects from inputs to outputs
)

func (k Kind) String() string {
	switch k {
	case Packet:
		return "packet"
	case Optical:
		return "optical"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Recovery is what a restart does to the existing circuits, in the terms of the Open Compute model.
type Recovery uint8

// The cold-boot modes.
const (
	Remove   Recovery = iota // everything goes: the controller sets it again
	Restore                  // everything goes dark, and the accepted state is made again after the boot
	Maintain                 // light and packets go on during the boot
	Saved                    // of an optical switch: Restore of the state that was saved last (Device.Save)
)

var recoveryNames = [...]string{"REMOVE", "RESTORE", "MAINTAIN", "RESTORE"} // the model knows no other

func (r Recovery) String() string {
	if int(r) < len(recoveryNames) {
		return recoveryNames[r]
	}
	return fmt.Sprintf("recovery(%d)", uint8(r))
}

// Config configures a device.
type Config struct {
	Name     string // in errors, certificates and reports
	ID       southbound.DeviceID
	Kind     Kind
	Ports    int32  // ports are 0 to Ports-1; on an OCS that many inputs and as many outputs
	Racks    int32  // racks that rules can name; unused on an OCS
	Delays   Delays // the zero value: everything at once
	AllStop  bool   // an OCS whose every circuit goes dark when one moves
	Seed     uint64 // of the draws from Delays
	Plane    Plane
	Recovery Recovery

	// Tags is one more than the highest tag that rules can name; 0: than the highest on the wire.
	Tags southbound.Tag

	// OnLight is called when the circuit of an OCS input carries light to a locked receiver, or no longer
	// does. The fabric reports it to the switch that sends into that input, as far-end fault signalling
	// does on a real link. It is called from within Set, Advance and Restart, and must not call the
	// device.
	OnLight func(now time.Duration, input southbound.Port, lit bool)

	// OnLit is called with each interval of light as it ends, also those that the log drops later; nil
	// disables it. It must not call the device.
	OnLit func(LitInterval)

	// OnStage is called with the duration drawn for a stage (apply, dark or lock) when it begins. It must
	// not call the device.
	OnStage func(stage string, took time.Duration)

	// Clock is nil in virtual time, where a transition happens at its exact instant. In real time
	// transitions run a little late: then Clock returns when the plane was really called, so that nothing
	// is reported lit before it is.
	Clock func() time.Duration

	// LogSize is how many ended intervals of light Log keeps; 0 means 65,536.
	LogSize int
}

const defaultLogSize = 1 << 16

// check panics: an invalid Config is an error of the program, not of its input.
func (c *Config) check() {
	switch {
	case c.Kind != Packet && c.Kind != Optical:
		panic(fmt.Sprintf("device: %q: %v is unknown", c.Name, c.Kind))
	case c.Ports <= 0:
		panic(fmt.Sprintf("device: %q: %d ports", c.Name, c.Ports))
	case c.Plane == nil:
		panic(fmt.Sprintf("device: %q: no plane", c.Name))
	}
}
