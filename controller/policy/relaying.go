package policy

import (
	"errors"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/light"
	"lightloom/southbound"
)

// Relaying is a policy whose circuits are of use only where racks keep bytes for each other.
type Relaying interface {
	// Relay returns the rotation that racks have to know, where a circuit's outage is delta.
	Relay(delta time.Duration) southbound.Relay
}

// ErrKeepsOwn: the policy wants racks to keep bytes for each other, and those of this fabric cannot.
var ErrKeepsOwn = errors.New("it wants racks that keep bytes for each other, and hosts here keep only their own")

// Probe says whether a policy can do with the hosts behind a door: ErrKeepsOwn, or nil. It calls neither.
func Probe(p controller.Policy, h southbound.Host) error {
	_, wants := p.(Relaying)
	if _, can := h.(southbound.Relayer); wants && !can {
		return ErrKeepsOwn
	}
	return nil
}

// Prepare has the racks of a fabric keep bytes for each other, where a policy wants that. What Probe refuses, it does.
func Prepare(p controller.Policy, h southbound.Host, delta time.Duration) error {
	if err := Probe(p, h); err != nil {
		return err
	}
	if r, wants := p.(Relaying); wants {
		return h.(southbound.Relayer).Relay(r.Relay(delta))
	}
	return nil
}

type relaying struct{ controller.Policy }

// Relay implements Relaying.
func (relaying) Relay(delta time.Duration) southbound.Relay { return light.RotorRelay(delta) }

// Blind implements what package loop asks for.
func (r relaying) Blind() bool {
	b, ok := r.Policy.(interface{ Blind() bool })
	return ok && b.Blind()
}
