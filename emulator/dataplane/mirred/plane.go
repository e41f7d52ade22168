package mirred

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/dataplane"
	"lightloom/emulator/device"
	"lightloom/southbound"
)

var (
	_ device.Plane = (*Plane)(nil)

	errClosed = errors.New("dataplane is closed")
)

// Plane is one switch. All methods may be called by several goroutines.
type Plane struct {
	mu     sync.Mutex
	sw     dataplane.Switch
	nl     *netlink.Handle
	sink   sink
	rules  *rules   // of a packet switch
	optics *circuit // of an OCS
	closed bool
}

// New puts a dark, empty switch into the kernel. nl belongs to the namespace that holds the ports, which must be the
// process's own, and stays open until the plane is closed. Close undoes it.
func New(nl *netlink.Handle, sw dataplane.Switch) (*Plane, error) {
	if sw.Dark.Limit > 0 {
		return nil, fmt.Errorf("make mirred dataplane of %q: %w", sw.Name, dataplane.ErrNoDark)
	}
	p := &Plane{sw: sw, nl: nl, sink: sink{link: sw.Sink, index: firstSink + int(sw.ID)}}
	var err error
	if sw.Optical {
		p.optics, err = newCircuit(p)
	} else {
		p.rules, err = newRules(p)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make mirred dataplane of %q: %w", sw.Name, err), p.Close())
	}
	return p, nil
}

// SetRules is device.Plane's. One rule that changes is one store in the kernel; more are a bank that is filled, then
// swapped in.
func (p *Plane) SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return fmt.Errorf("set rules of %q: %w", p.sw.Name, errClosed)
	case p.rules == nil:
		return fmt.Errorf("set rules of %q: an optical circuit switch has none: %w", p.sw.Name, southbound.ErrUnsupported)
	}
	if err := p.rules.set(set, drop, replace); err != nil {
		return fmt.Errorf("set rules of %q: %w", p.sw.Name, err)
	}
	return nil
}

// SetLight is device.Plane's.
func (p *Plane) SetLight(port southbound.Port, lit bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return fmt.Errorf("set light of %q: %w", p.sw.Name, errClosed)
	case p.rules == nil:
		return fmt.Errorf("set light of %q: an optical circuit switch senses none: %w", p.sw.Name, southbound.ErrUnsupported)
	}
	if err := p.rules.light(port, lit); err != nil {
		return fmt.Errorf("set light of %q: %w", p.sw.Name, err)
	}
	return nil
}

// Move is device.Plane's. It returns once the moved ports are dark; a thread of the plane's own makes the circuits.
// If the kernel refuses one then, Err tells.
func (p *Plane) Move(off []southbound.Port, on []southbound.CrossConnect, dark time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return fmt.Errorf("move circuits of %q: %w", p.sw.Name, errClosed)
	case p.optics == nil:
		return fmt.Errorf("move circuits of %q: a packet switch has none: %w", p.sw.Name, southbound.ErrUnsupported)
	}
	if err := p.optics.move(off, on, dark); err != nil {
		return fmt.Errorf("move circuits of %q: %w", p.sw.Name, err)
	}
	return nil
}

// Dropped is device.Plane's.
func (p *Plane) Dropped() (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, fmt.Errorf("count drops of %q: %w", p.sw.Name, errClosed)
	}
	return p.sink.dropped()
}

// Err returns the first error of a circuit that was to be made after its dark time, or nil.
func (p *Plane) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.optics == nil {
		return nil
	}
	return p.optics.err
}

// Close takes the switch out of the kernel; its interfaces stay. It returns what Err returns, too. A second call is
// nothing.
func (p *Plane) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock()
	if p.optics != nil {
		p.optics.stop()
	}
	errs := []error{p.Err()}
	for _, link := range p.sw.Ports {
		if link != 0 {
			errs = append(errs, gone(unclsact(p.nl, link)))
		}
	}
	return errors.Join(errs...)
}
