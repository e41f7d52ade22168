package scenario

import (
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller/rollout"
	"lightloom/emulator/device"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// Delays are the stages of the delay budget that the user set: those of the optical switch, the time in
// which a packet switch detects lost light, and, on the simulator, those of the controller.
type Delays struct {
	Switches device.Delays
	Commit   device.Dist
	RPC      device.Dist
	Steer    device.Dist // from a decision to the hosts that it steers
	Controls bool        // one of these three was named
}

// ControlStream is the purpose of the random stream that draws the controller's delays.
const ControlStream = 0x636f6e74726f6c

// ParseDelays reads the text of --delays. Stages that it does not name keep their defaults.
func ParseDelays(text string, spec topo.Spec) (Delays, error) {
	ctl := controlOf(spec)
	out := Delays{Commit: device.Fixed(ctl.Commit), RPC: device.Fixed(ctl.RPC)}
	before := [3]device.Dist{out.Commit, out.RPC, out.Steer}
	var err error
	if out.Switches, err = device.ParseBudget(text,
		map[string]*device.Dist{"commit": &out.Commit, "rpc": &out.RPC,
			"steer": &out.Steer}); err != nil {
		return out, err
	}
	out.Controls = before != [3]device.Dist{out.Commit, out.RPC, out.Steer}
	if out.Switches.Dark.IsZero() {
		out.Switches.Dark = device.Fixed(spec.Dark)
	}
	return out, nil
}

// CheckDelays returns what is wrong with the text of --delays, or nil.
func CheckDelays(text string) error {
	_, err := ParseDelays(text, topo.Spec{})
	return err
}

// budgetOf reads the text and sets the spec's dark time to the median of the mirrors' time.
func budgetOf(text string, spec *topo.Spec) (Delays, error) {
	if text != "" && !spec.HasOCS() {
		return Delays{}, hint.New("--delays: this fabric has no optical switch",
			"leave it away, or take a fabric with ocs=")
	}
	d, err := ParseDelays(text, *spec)
	if err != nil {
		return d, err
	}
	if text != "" {
		spec.Dark = device.Delays{Dark: d.Switches.Dark}.Quantile(0.5)
	}
	return d, nil
}

// Optical returns the delays of the optical switch.
func (d Delays) Optical() device.Delays {
	o := d.Switches
	o.Detect = device.Dist{}
	return o
}

// Packet returns the delays of every packet switch.
func (d Delays) Packet() device.Delays { return device.Delays{Detect: d.Switches.Detect} }

// Control returns the controller's delays, each stage at its p90.
func (d Delays) Control(spec topo.Spec) rollout.Control {
	ctl := controlOf(spec)
	p90 := func(x device.Dist) time.Duration { return device.Delays{Apply: x}.Quantile(0.9) }
	ctl.Commit, ctl.RPC = p90(d.Commit), p90(d.RPC)
	return ctl
}

// Draw returns the time from a decision to the arrival of its Set at the device. Half of a move's
// commits come before Sets.
func (d Delays) Draw(r *rand.Rand) time.Duration { return d.Commit.Draw(r)/2 + d.RPC.Draw(r) }

// DrawSteer returns the time from a decision to the hosts that it steers between packets and circuits.
func (d Delays) DrawSteer(r *rand.Rand) time.Duration { return d.Steer.Draw(r) }

// OnPackets refuses delays that cannot be chosen on real packets.
func (d Delays) OnPackets() error {
	if d.Controls {
		return hint.New(fmt.Sprintf("--delays: commit, rpc and steer take what they take on real packets, not %v, %v and %v",
			d.Commit, d.RPC, d.Steer), "leave them away, or add --on flowsim")
	}
	return nil
}
