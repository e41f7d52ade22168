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

// Delays are the stages of the delay budget as a user asked for them: what the optical switch takes, what every packet
// switch takes to know of lost light, and, on the simulator, what the controller takes before.
type Delays struct {
	switches    device.Delays
	commit, rpc device.Dist
	controls    bool // commit or rpc were named
}

// ControlStream is the purpose of the random stream that what the controller takes is drawn from.
const ControlStream = 0x636f6e74726f6c

// ParseDelays reads the text of --delays. Stages that it does not name are what they are without it.
func ParseDelays(text string, spec topo.Spec) (Delays, error) {
	ctl := controlOf(spec)
	out := Delays{commit: device.Fixed(ctl.Commit), rpc: device.Fixed(ctl.RPC)}
	before := [2]device.Dist{out.commit, out.rpc}
	var err error
	if out.switches, err = device.ParseBudget(text,
		map[string]*device.Dist{"commit": &out.commit, "rpc": &out.rpc}); err != nil {
		return out, err
	}
	out.controls = before != [2]device.Dist{out.commit, out.rpc}
	if out.switches.Dark.IsZero() {
		out.switches.Dark = device.Fixed(spec.Dark)
	}
	return out, nil
}

// CheckDelays says what is wrong with the text of --delays, or nil.
func CheckDelays(text string) error {
	_, err := ParseDelays(text, topo.Spec{})
	return err
}

// budgetOf reads what was asked for, and has the spec's dark time be the median of what mirrors take.
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

// Optical is what the optical switch takes, packet what every other does.
func (d Delays) Optical() device.Delays {
	o := d.switches
	o.Detect = device.Dist{}
	return o
}

// Packet is what every packet switch takes.
func (d Delays) Packet() device.Delays { return device.Delays{Detect: d.switches.Detect} }

// Control is what the controller takes at the p90 of its stages.
func (d Delays) Control(spec topo.Spec) rollout.Control {
	ctl := controlOf(spec)
	p90 := func(x device.Dist) time.Duration { return device.Delays{Apply: x}.Quantile(0.9) }
	ctl.Commit, ctl.RPC = p90(d.commit), p90(d.rpc)
	return ctl
}

// Draw returns how long after a decision its Set reaches its device: half of the commits of a move come before Sets.
func (d Delays) Draw(r *rand.Rand) time.Duration { return d.commit.Draw(r)/2 + d.rpc.Draw(r) }

// OnPackets refuses what real packets do not let one choose.
func (d Delays) OnPackets() error {
	if d.controls {
		return hint.New(fmt.Sprintf("--delays: commit and rpc take what they take on real packets, not %v and %v",
			d.commit, d.rpc), "leave them away, or add --on flowsim")
	}
	return nil
}
