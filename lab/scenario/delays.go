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

// Delays are the stages of the delay budget that the user set: those of the optical switch, the time in which a packet
// switch detects lost light, and, on the simulator, those of the controller.
type Delays struct {
	switches    device.Delays
	commit, rpc device.Dist
	steer       device.Dist // from a decision to the hosts that it steers
	controls    bool        // one of these three was named
}

// ControlStream is the purpose of the random stream that draws the controller's delays.
const ControlStream = 0x636f6e74726f6c

// ParseDelays reads the text of --delays. Stages that it does not name keep their defaults.
func ParseDelays(text string, spec topo.Spec) (Delays, error) {
	ctl := controlOf(spec)
	out := Delays{commit: device.Fixed(ctl.Commit), rpc: device.Fixed(ctl.RPC)}
	before := [3]device.Dist{out.commit, out.rpc, out.steer}
	var err error
	if out.switches, err = device.ParseBudget(text, map[string]*device.Dist{"commit": &out.commit, "rpc": &out.rpc,
		"steer": &out.steer}); err != nil {
		return out, err
	}
	out.controls = before != [3]device.Dist{out.commit, out.rpc, out.steer}
	if out.switches.Dark.IsZero() {
		out.switches.Dark = device.Fixed(spec.Dark)
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
		spec.Dark = device.Delays{Dark: d.switches.Dark}.Quantile(0.5)
	}
	return d, nil
}

// Optical returns the delays of the optical switch.
func (d Delays) Optical() device.Delays {
	o := d.switches
	o.Detect = device.Dist{}
	return o
}

// Packet returns the delays of every packet switch.
func (d Delays) Packet() device.Delays { return device.Delays{Detect: d.switches.Detect} }

// Control returns the controller's delays, each stage at its p90.
func (d Delays) Control(spec topo.Spec) rollout.Control {
	ctl := controlOf(spec)
	p90 := func(x device.Dist) time.Duration { return device.Delays{Apply: x}.Quantile(0.9) }
	ctl.Commit, ctl.RPC = p90(d.commit), p90(d.rpc)
	return ctl
}

// Draw returns the time from a decision to the arrival of its Set at the device. Half of a move's commits come before
// Sets.
func (d Delays) Draw(r *rand.Rand) time.Duration { return d.commit.Draw(r)/2 + d.rpc.Draw(r) }

// Steer returns the time from a decision to the hosts that it steers between packets and circuits.
func (d Delays) Steer(r *rand.Rand) time.Duration { return d.steer.Draw(r) }

// OnPackets refuses delays that cannot be chosen on real packets.
func (d Delays) OnPackets() error {
	if d.controls {
		return hint.New(fmt.Sprintf("--delays: commit, rpc and steer take what they take on real packets, not %v, %v and %v",
			d.commit, d.rpc, d.steer), "leave them away, or add --on flowsim")
	}
	return nil
}
