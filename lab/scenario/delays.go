package scenario

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
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

	Own []device.Delays `json:",omitempty"` // of each optical switch, where they differ
}

// ControlStream is the purpose of the random stream that draws the controller's delays.
const ControlStream = 0x636f6e74726f6c

// ParseDelays reads the text of --delays. Stages that it does not name keep their defaults.
func ParseDelays(text string, spec topo.Spec) (Delays, error) {
	ctl := controlOf(spec)
	out := Delays{Commit: device.Fixed(ctl.Commit), RPC: device.Fixed(ctl.RPC)}
	before := [3]device.Dist{out.Commit, out.RPC, out.Steer}
	text, own := device.SplitOwn(text)
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
	return out, out.setOwn(own, spec)
}

// setOwn gives optical switches what the fabric's spec and then the text have for single ones.
func (d *Delays) setOwn(own [][2]string, spec topo.Spec) error {
	n := spec.ParallelOCSes()
	if len(own) == 0 && !spec.OwnDelays() {
		return nil
	}
	d.Own = slices.Repeat([]device.Delays{d.Optical()}, n)
	for i := range d.Own {
		d.Own[i] = d.Own[i].OfOCS(spec, i)
	}
	for _, x := range own {
		stage, first, last, ok := topo.OwnKey(x[0])
		switch {
		case !ok:
			return fmt.Errorf("parse delays: %q is no stage of a switch: write dark@1=50ms or dark@0-2=50ms", x[0])
		case !slices.Contains([]string{"apply", "dark", "lock"}, stage):
			return fmt.Errorf("parse delays: %q: optical switches have their own apply, dark and lock alone", x[0])
		case last >= n && spec.HasOCS():
			return fmt.Errorf("parse delays: %q: there is no OCS %d: OCSes are 0 to %d", x[0], last, n-1)
		}
		for i := first; i <= min(last, n-1); i++ {
			var err error
			if d.Own[i], err = d.Own[i].With(stage+"="+x[1], nil); err != nil {
				return err
			}
		}
	}
	return nil
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

// OpticalOf returns the delays of one of the optical switches.
func (d Delays) OpticalOf(ocs int) device.Delays {
	if d.Own != nil {
		return d.Own[ocs]
	}
	return d.Optical()
}

// Slowest returns the delays of the optical switch that takes longest.
func (d Delays) Slowest() device.Delays {
	if d.Own == nil {
		return d.Optical()
	}
	return slices.MaxFunc(d.Own, func(a, b device.Delays) int { return cmp.Compare(a.Quantile(0.9), b.Quantile(0.9)) })
}

// Deltas returns the reconfiguration delays that moves of each optical switch should take; nil where all
// take as long.
func (d Delays) Deltas(ctl rollout.Control) []time.Duration {
	var all []time.Duration
	for i := range d.Own {
		all = append(all, ctl.Delta(d.Own[i].Quantile(0.9)))
	}
	return all
}

// Optical returns the delays of an optical switch that has none of its own.
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
