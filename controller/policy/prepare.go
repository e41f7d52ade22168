package policy

import (
	"errors"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
	"lightloom/southbound"
)

// ErrKeepsOwn means that the policy wants racks to relay bytes for each other, which this fabric's cannot.
var ErrKeepsOwn = errors.New("it wants racks that keep bytes for each other, and hosts here keep only their own")

// Prepare has the racks of a fabric keep bytes for each other, where a policy needs that. The error is
// ErrKeepsOwn where they cannot.
func Prepare(p controller.Policy, h southbound.Hosts, delta time.Duration) error {
	if !p.Capabilities().Relays {
		return nil
	}
	racks, can := h.(southbound.Relayer)
	if !can {
		return ErrKeepsOwn
	}
	return racks.Relay(circuits.RotorRelay(delta))
}
