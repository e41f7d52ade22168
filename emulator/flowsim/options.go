package flowsim

import (
	"errors"
	"fmt"
	"time"

	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// What a frame carries at MTU 1500: TCP over IPv4 with timestamps. Rates and capacities are counted at
// layer 2, sizes are payload, so a host flow takes 1514/1448 of its size off the links.
const (
	FramePayload = 1448
	FrameBytes   = 1514
)

// Options say how a fabric is simulated.
type Options struct {
	Seed    uint64          // of the devices' delays
	Switch  device.Delays   // of each packet switch
	Optical device.Delays   // of the OCS; where it names no dark time, the fabric's spec does
	Own     []device.Delays // of each OCS in the place of Optical; nil: those of Optical and the fabric's spec
	AllStop bool            // every circuit goes dark when one moves
	// NoHeaders lets payload use the links whole. The default charges headers.
	NoHeaders bool
	// Hairpins lets a host flow go from a host to itself, over both directions of the host's port. The
	// default refuses it.
	Hairpins bool
	// Proportional has hosts that share by themselves get proportionally fair rates in place of max-min
	// fair ones, as TCP does whose round trips are queues: a host flow across several full links gets
	// less.
	Proportional bool
	// Quantum is the grid on which ends of host flows are reported, as in simulators with time steps: an
	// end between two of its multiples is reported at the later one, and its rate is not free before. 0
	// means no grid.
	Quantum time.Duration
	// Lit is called with each interval of light through the OCS as it ends, under the simulator's lock: it
	// must not call the Sim. The log then holds the last intervals only; with nil it holds all intervals
	// of a long run.
	Lit func(device.LitInterval)
}

func (o *Options) check(f *topo.Fabric) error {
	if f == nil || f.Topology == nil {
		return errors.New("no fabric")
	}
	if o.Quantum < 0 {
		return fmt.Errorf("quantum %v: take 0 or more", o.Quantum)
	}
	if err := o.Switch.Check(); err != nil {
		return fmt.Errorf("delays of packet switches: %w", err)
	}
	if err := o.Optical.Check(); err != nil {
		return fmt.Errorf("delays of the OCS: %w", err)
	}
	for i := range o.Own {
		if err := o.Own[i].Check(); err != nil {
			return fmt.Errorf("delays of OCS %d: %w", i, err)
		}
	}
	if o.Own != nil && len(o.Own) != f.OCSes() {
		return fmt.Errorf("delays of %d OCSes: the fabric has %d", len(o.Own), f.OCSes())
	}
	return nil
}

// optical returns the delays of one of a fabric's OCSes.
func (o *Options) optical(f *topo.Fabric, ocs pathmap.NodeID) device.Delays {
	i := int(ocs - f.OCSNode)
	if o.Own != nil {
		return o.Own[i]
	}
	d := o.Optical
	if d.Dark.IsZero() {
		d.Dark = device.Fixed(f.Spec.Dark)
	}
	return d.OfOCS(f.Spec, i)
}

// payloadShare is the part of layer-2 bytes that is payload.
func (o *Options) payloadShare() float64 {
	if o.NoHeaders {
		return 1
	}
	return float64(FramePayload) / FrameBytes
}
