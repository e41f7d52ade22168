package ebpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
	"lightloom/emulator/device"
	"lightloom/southbound"
)

var _ device.Plane = (*Plane)(nil)

// Plane is one switch. All methods can be called by several goroutines.
type Plane struct {
	dataplane.Guard
	nl    *netlink.Handle
	mem   *memory
	prog  *ebpf.Program
	rules *rules // of a packet switch
	dark  *dark  // of a packet switch with queues for dark circuits
}

// New puts a dark, empty switch into the kernel. nl belongs to the namespace that holds the ports and
// stays open until the plane is closed. Close undoes it.
func New(nl *netlink.Handle, sw dataplane.Switch) (*Plane, error) {
	p := &Plane{Guard: dataplane.Guard{Switch: sw}, nl: nl}
	err := p.load()
	if err == nil {
		err = p.attach()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make ebpf dataplane of %q: %w", sw.Name, err), p.Close())
	}
	return p, nil
}

// maxMemory bounds the locked memory of one switch: 147 racks that rules tell apart as sources, or
// 21,000 that they do not.
const maxMemory = 4 << 20

func (p *Plane) load() (err error) {
	if p.Switch.Optical {
		l := newOpticalLayout(&p.Switch)
		if p.mem, err = newMemory("ll_ocs", l.size); err != nil {
			return err
		}
		if p.Optics, err = newCircuit(p, l); err != nil {
			return err
		}
		p.prog, err = load("ll_ocs", opticalProgram(l, p.mem))
		return err
	}
	l := newPacketLayout(&p.Switch)
	if l.size > maxMemory {
		return fmt.Errorf("rules for %d racks and %d sources take %d bytes, more than %d: %w", l.racks,
			l.sources, l.size,
			maxMemory, southbound.ErrUnsupported)
	}
	if p.mem, err = newMemory("ll_switch", l.size); err != nil {
		return err
	}
	p.rules = newRules(p, l)
	p.Rules = p.rules
	if p.prog, err = load("ll_switch", packetProgram(l, p.mem)); err != nil || l.fibre == 0 {
		return err
	}
	p.dark, err = newDark(p, l)
	return err
}

// attach gives every port its ingress hook, all of them one shared block, and the block the program.
func (p *Plane) attach() error {
	for _, link := range p.Switch.Ports {
		if link == 0 {
			continue
		}
		if err := dataplane.Hook(p.nl, link, &p.Switch.Block); err != nil {
			return err
		}
	}
	f := &netlink.BpfFilter{FilterAttrs: netlink.FilterAttrs{LinkIndex: -1, Parent: p.Switch.Block,
		Handle: 1, Priority: 1,
		Protocol: unix.ETH_P_ALL}, Fd: p.prog.FD(), Name: "lightloom", DirectAction: true}
	if err := p.nl.FilterAdd(f); err != nil {
		return fmt.Errorf("attach program to block %d: %w", p.Switch.Block, err)
	}
	return nil
}

// Dropped is device.Plane's.
func (p *Plane) Dropped() (n uint64, err error) {
	err = p.Do("count drops", "", func() error {
		n = p.mem.u64(offDropped).Load()
		if p.dark != nil {
			n += p.dark.voqs.Dropped()
		}
		return nil
	})
	return n, err
}

// Close takes the switch out of the kernel; its interfaces stay. A second call is nothing.
func (p *Plane) Close() error {
	if !p.Shut() { // first, without the lock from here on: the queues take it while they end
		return nil
	}
	var errs []error
	if p.dark != nil {
		errs = append(errs, p.dark.voqs.Close())
	}
	errs = append(errs, dataplane.Unhook(p.nl, p.Switch.Ports))
	if p.prog != nil {
		errs = append(errs, p.prog.Close())
	}
	if p.mem != nil {
		errs = append(errs, p.mem.close())
	}
	return errors.Join(errs...)
}
