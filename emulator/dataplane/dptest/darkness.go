package dptest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"lightloom/emulator/netns"
	"lightloom/southbound"
	"lightloom/southbound/frameprobe"
)

// Dark is what packets say of a number of moves of one circuit.
type Dark struct {
	Asked  time.Duration
	Beside int // other circuits that were moved in the same call
	// by move, ascending: from the last packet of the old circuit to the first of the new, less Asked
	Excess    []time.Duration
	Early     int           // packets of a new circuit sooner than Asked after the call of Move
	Probe     time.Duration // median time between two probes
	Disturbed int           // moves that were repeated, because the prober itself was kept from its processor
}

// P returns the excess that a share of the moves does not exceed: the smallest with rank at least share × n.
func (d *Dark) P(share float64) time.Duration {
	i := int(share*float64(len(d.Excess))+0.999999) - 1
	return d.Excess[min(max(i, 0), len(d.Excess)-1)]
}

// String is one line with the figures.
func (d *Dark) String() string {
	return fmt.Sprintf("asked %v, %d others moved: excess min %v, p50 %v, p90 %v, p99 %v, max %v over %d moves; a probe "+
		"every %v; %d early; %d moves repeated",
		d.Asked, d.Beside, d.P(0), d.P(.5), d.P(.9), d.P(.99), d.P(1), len(d.Excess), d.Probe, d.Early, d.Disturbed)
}

// How a move is probed.
const (
	lead = 300 * time.Microsecond // of probes before the move
	tail = 4 * time.Millisecond   // of probes after the circuit should be lit
)

// ErrBusy is the answer of a machine that does so much else that its probes say nothing.
var ErrBusy = errors.New("the machine is too busy to probe")

// patienceFactor is how many moves can be repeated for each that is wanted.
const patienceFactor = 5

// Darkness moves the circuit of OCS input 0 to and fro between outputs 1 and 2, and measures each dark
// time by probes that enter at input 0's cable and are stamped by the kernel where the outputs' cables
// end. Moves that a busy machine made unreadable are repeated; ErrBusy, where most are. The fabric
// needs three racks and an OCS; the circuits of any racks beyond these move in the same calls.
func Darkness(f *netns.Fabric, asked time.Duration, moves int) (*Dark, error) {
	p, err := newProber(f)
	if err != nil {
		return nil, fmt.Errorf("measure darkness: %w", err)
	}
	defer p.close()
	d := &Dark{Asked: asked, Beside: f.Spec().Racks - probedRacks}
	all, circuits := p.circuits(1)
	if err := f.Plane(f.Spec().OCSNode).Move(append(all, 1, 2), circuits, 0); err != nil {
		return nil, err
	}
	var gaps []time.Duration
	for to := 2; len(d.Excess) < moves; to = 3 - to {
		m, err := p.move(southbound.Port(to), asked)
		if err != nil {
			return nil, fmt.Errorf("measure darkness: %w", err)
		}
		if m.early {
			d.Early++
		}
		gaps = append(gaps, m.gap)
		if m.disturbed {
			if d.Disturbed++; d.Disturbed > patienceFactor*moves {
				return nil, fmt.Errorf("measure darkness: %d of %d moves are unreadable: %w",
					d.Disturbed, d.Disturbed+
						len(d.Excess), ErrBusy)
			}
			continue
		}
		d.Excess = append(d.Excess, m.dark-asked)
	}
	slices.Sort(d.Excess)
	slices.Sort(gaps)
	d.Probe = gaps[len(gaps)/2]
	return d, nil
}

// probedRacks have the ports of the circuit that is probed.
const probedRacks = 3

// circuits returns the ports that a move to an output names, and what it connects: input 0 to the
// output, and every further input to the first or second output after its own.
func (p *prober) circuits(to southbound.Port) (ports []southbound.Port, out []southbound.CrossConnect) {
	ports, out = []southbound.Port{0}, []southbound.CrossConnect{{In: 0, Out: to}}
	others := southbound.Port(p.f.Spec().Racks - probedRacks)
	for k := range others {
		ports = append(ports, probedRacks+k)
		out = append(out, southbound.CrossConnect{In: probedRacks + k, Out: probedRacks + (k+to)%others})
	}
	return ports, out
}

// prober probes the circuit of input 0.
type prober struct {
	f    *netns.Fabric
	in   *frameprobe.Tap
	outs [3]*frameprobe.Tap // by output; 0 unused
	sent []time.Time

	proberCPU, moverCPU int
}

func newProber(f *netns.Fabric) (p *prober, err error) {
	s := f.Spec()
	p = &prober{f: f}
	if p.proberCPU, p.moverCPU, err = frameprobe.Processors(); err != nil {
		return nil, err
	}
	for rack := range 3 {
		link, err := f.Interface(s.ToRNode[rack], southbound.Port(s.OCSUplink[rack]))
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		t, err := frameprobe.Open(link)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		if rack == 0 {
			p.in = t
		} else {
			p.outs[rack] = t
		}
	}
	return p, nil
}

func (p *prober) close() error {
	var errs []error
	for _, t := range append(p.outs[:], p.in) {
		if t != nil {
			errs = append(errs, t.Close())
		}
	}
	return errors.Join(errs...)
}

// moved is what one move looked like.
type moved struct {
	dark, gap        time.Duration
	early, disturbed bool
}

// move probes while another goroutine moves the circuit to an output.
func (p *prober) move(to southbound.Port, asked time.Duration) (moved, error) {
	for _, t := range p.outs[1:] {
		if _, err := t.Drain(); err != nil {
			return moved{}, err
		}
	}
	var called time.Time
	var until atomic.Int64 // when probing ends; 0 while the move is not done
	ports, circuits := p.circuits(to)
	// The mover keeps to another processor, and to a clock of its own: where it woke on the prober's, or
	// was woken by it, every move would cost the prober some probes.
	ended := frameprobe.Pinned(p.moverCPU, func() error {
		<-time.After(lead)
		called = time.Now()
		err := p.f.Plane(p.f.Spec().OCSNode).Move(ports, circuits, asked)
		until.Store(time.Now().Add(asked + tail).UnixNano())
		return err
	})
	probed := frameprobe.Pinned(p.proberCPU, func() (err error) {
		p.sent, err = frameprobe.Send(p.in, p.sent, frameprobe.Every, &until)
		return err
	})
	if err := errors.Join(<-probed, <-ended); err != nil {
		return moved{}, err
	}
	old, err := p.outs[3-to].Drain()
	if err != nil {
		return moved{}, err
	}
	lit, err := p.outs[to].Drain()
	if err != nil {
		return moved{}, err
	}
	if len(old) == 0 || len(lit) == 0 {
		return moved{gap: frameprobe.Gap(p.sent), disturbed: true}, nil // kept from its processor for longer than tail
	}
	last, first := old[len(old)-1], lit[0]
	return moved{dark: first.At.Sub(last.At), gap: frameprobe.Gap(p.sent), early: first.At.Before(called.Add(asked)),
		disturbed: frameprobe.Held(p.sent, last.Seq+1) || frameprobe.Held(p.sent, first.Seq)}, nil
}
