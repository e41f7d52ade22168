package mirred

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/dataplane"
	"lightloom/emulator/device"
)

var _ device.Plane = (*Plane)(nil)

// Plane is one switch. All methods can be called by several goroutines.
type Plane struct {
	dataplane.Guard
	nl     *netlink.Handle
	sink   sink
	optics *circuit // of an OCS
}

// New puts a dark, empty switch into the kernel. nl belongs to the namespace that holds the ports,
// which must be the process's own, and stays open until the plane is closed. Close undoes it.
func New(nl *netlink.Handle, sw dataplane.Switch) (*Plane, error) {
	if sw.Dark.Limit > 0 {
		return nil, fmt.Errorf("make mirred dataplane of %q: %w", sw.Name, dataplane.ErrNoDark)
	}
	p := &Plane{Guard: dataplane.Guard{Switch: sw}, nl: nl,
		sink: sink{link: sw.Sink, index: firstSink + int(sw.ID)}}
	var err error
	if sw.Optical {
		p.optics, err = newCircuit(p)
		p.Optics = p.optics
	} else {
		p.Rules, err = newRules(p)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make mirred dataplane of %q: %w", sw.Name, err), p.Close())
	}
	return p, nil
}

// Dropped is device.Plane's.
func (p *Plane) Dropped() (n uint64, err error) {
	err = p.Do("count drops", "", func() error {
		n, err = p.sink.dropped()
		return err
	})
	return n, err
}

// Err returns the first error of a circuit that was to be made after its dark time, or nil.
func (p *Plane) Err() error {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.optics == nil {
		return nil
	}
	return p.optics.err
}

// Close takes the switch out of the kernel; its interfaces stay. It returns what Err returns, too. A
// second call is nothing.
func (p *Plane) Close() error {
	if !p.Shut() {
		return nil
	}
	if p.optics != nil {
		p.optics.stop()
	}
	return errors.Join(p.Err(), dataplane.Unhook(p.nl, p.Switch.Ports))
}
