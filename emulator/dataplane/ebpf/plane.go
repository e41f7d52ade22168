package ebpf

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

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
	mem    *memory
	prog   *ebpf.Program
	rules  *rules   // of a packet switch
	optics *circuit // of an OCS
	dark   *dark    // of a packet switch with queues for dark circuits
	closed bool
}

// New puts a dark, empty switch into the kernel. nl belongs to the namespace that holds the ports and stays open until
// the plane is closed. Close undoes it.
func New(nl *netlink.Handle, sw dataplane.Switch) (*Plane, error) {
	p := &Plane{sw: sw, nl: nl}
	err := p.load()
	if err == nil {
		err = p.attach()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make ebpf dataplane of %q: %w", sw.Name, err), p.Close())
	}
	return p, nil
}

// maxMemory bounds the locked memory of one switch: 147 racks that rules tell apart as sources, or 21,000 that they do
// not.
const maxMemory = 4 << 20

func (p *Plane) load() (err error) {
	if p.sw.Optical {
		l := newOpticalLayout(&p.sw)
		if p.mem, err = newMemory("ll_ocs", l.size); err != nil {
			return err
		}
		if p.optics, err = newCircuit(p, l); err != nil {
			return err
		}
		p.prog, err = load("ll_ocs", opticalProgram(l, p.mem))
		return err
	}
	l := newPacketLayout(&p.sw)
	if l.size > maxMemory {
		return fmt.Errorf("rules for %d racks and %d sources take %d bytes, more than %d: %w", l.racks, l.sources, l.size, maxMemory, southbound.ErrUnsupported)
	}
	if p.mem, err = newMemory("ll_switch", l.size); err != nil {
		return err
	}
	p.rules = newRules(p, l)
	if p.prog, err = load("ll_switch", packetProgram(l, p.mem)); err != nil || l.fibre == 0 {
		return err
	}
	p.dark, err = newDark(p, l)
	return err
}

// attach gives every port its ingress hook, all of them one shared block, and the block the program.
func (p *Plane) attach() error {
	for _, link := range p.sw.Ports {
		if link == 0 {
			continue
		}
		block := p.sw.Block
		q := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link, Handle: netlink.MakeHandle(0xffff, 0),
			Parent: netlink.HANDLE_CLSACT, IngressBlock: &block}}
		if err := p.nl.QdiscAdd(q); err != nil {
			return fmt.Errorf("add clsact to interface %d: %w", link, err)
		}
	}
	f := &netlink.BpfFilter{FilterAttrs: netlink.FilterAttrs{LinkIndex: -1, Parent: p.sw.Block, Handle: 1, Priority: 1,
		Protocol: unix.ETH_P_ALL}, Fd: p.prog.FD(), Name: "lightloom", DirectAction: true}
	if err := p.nl.FilterAdd(f); err != nil {
		return fmt.Errorf("attach program to block %d: %w", p.sw.Block, err)
	}
	return nil
}

// SetRules is device.Plane's.
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
	if p.dark != nil {
		p.dark.lot.Wake() // what is parked may have another way now
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

// Move is device.Plane's.
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
	n := p.mem.u64(offDropped).Load()
	if p.dark != nil {
		n += p.dark.lot.Dropped()
	}
	return n, nil
}

// Close takes the switch out of the kernel; its interfaces stay. A second call is nothing.
func (p *Plane) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock() // the queues ask for it while they end
	var errs []error
	if p.dark != nil {
		errs = append(errs, p.dark.lot.Close())
	}
	for _, link := range p.sw.Ports {
		if link == 0 {
			continue
		}
		q := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}}
		err := p.nl.QdiscDel(q)
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENODEV) && !errors.Is(err, unix.EINVAL) {
			errs = append(errs, err)
		}
	}
	if p.prog != nil {
		errs = append(errs, p.prog.Close())
	}
	if p.mem != nil {
		errs = append(errs, p.mem.close())
	}
	return errors.Join(errs...)
}
