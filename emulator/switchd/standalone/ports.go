package standalone

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/emulator/dataplane"
)

// ports are the interfaces of the switch while it has them.
type ports struct {
	nl    *netlink.Handle
	names []string
	index []int
	locks []net.Listener
	sinks [2]string
	parks [2]string // where packets wait for light; the pair is there only if they may
	ipv6  []string  // ports that had it
	undo  []func() error
}

// takePorts finds the interfaces, makes sure that no other switch has them, clears what one that was
// killed has left, and sets them up. The caller gives them back, also after an error.
func takePorts(nl *netlink.Handle, names []string) (*ports, error) {
	p := &ports{nl: nl, names: names}
	for _, name := range names {
		l, err := nl.LinkByName(name)
		if err != nil {
			return p, fmt.Errorf("find port %q: %w", name, err)
		}
		p.index = append(p.index, l.Attrs().Index)
		if err := p.lock(name, l.Attrs().Index); err != nil {
			return p, err
		}
	}
	p.sinks = [2]string{fmt.Sprintf("llsink%d", p.index[0]), fmt.Sprintf("llend%d", p.index[0])}
	p.parks = [2]string{fmt.Sprintf("llpark%d", p.index[0]), fmt.Sprintf("llparked%d", p.index[0])}
	if err := p.clear(); err != nil {
		return p, err
	}
	for _, name := range names {
		if err := p.raise(name); err != nil {
			return p, err
		}
	}
	return p, p.addSink()
}

// lock holds a name that is the network namespace's own for as long as the process lives.
func (p *ports) lock(name string, index int) error {
	ln, err := net.Listen("unix", fmt.Sprintf("@lightloom-port-%d", index))
	if errors.Is(err, unix.EADDRINUSE) {
		return fmt.Errorf("take port %q: another switch has it", name)
	}
	if err != nil {
		return fmt.Errorf("take port %q: %w", name, err)
	}
	p.locks = append(p.locks, ln)
	return nil
}

// clear removes what a killed switch on these ports has left, which its sink shows.
func (p *ports) clear() error {
	if stale, err := p.nl.LinkByName(p.parks[0]); err == nil {
		if err := p.nl.LinkDel(stale); err != nil {
			return fmt.Errorf("remove a killed switch's parking lot: %w", err)
		}
	}
	stale, err := p.nl.LinkByName(p.sinks[0])
	if err != nil {
		return nil // nothing is left
	}
	if err := p.nl.LinkDel(stale); err != nil {
		return fmt.Errorf("remove a killed switch's sink: %w", err)
	}
	if err := dataplane.Unhook(p.nl, p.index); err != nil {
		return fmt.Errorf("remove a killed switch's filters from its ports: %w", err)
	}
	return nil
}

// raise sets a port up, without IPv6: a switch must not answer at its ports.
func (p *ports) raise(name string) error {
	knob := filepath.Join("/proc/sys/net/ipv6/conf", name, "disable_ipv6")
	if old, err := os.ReadFile(knob); err == nil && strings.TrimSpace(string(old)) == "0" {
		if err := os.WriteFile(knob, []byte("1"), 0); err != nil {
			return fmt.Errorf("disable IPv6 on port %q: %w", name, err)
		}
		p.ipv6 = append(p.ipv6, name)
		p.undo = append(p.undo, func() error {
			if err := os.WriteFile(knob, old, 0); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("enable IPv6 on port %q: %w", name, err)
			}
			return nil
		})
	}
	l, err := p.nl.LinkByName(name)
	if err == nil {
		err = p.nl.LinkSetUp(l)
	}
	if err != nil {
		return fmt.Errorf("set port %q up: %w", name, err)
	}
	return nil
}

// addSink makes the pair of interfaces that dropped packets end in. Its name also says that a switch
// is, or was, here.
func (p *ports) addSink() error {
	if err := p.addPair(p.sinks, 0); err != nil {
		return fmt.Errorf("add sink: %w", err)
	}
	return nil
}

// addPark makes the pair of interfaces that packets are queued through, and returns both.
func (p *ports) addPark() (pair [2]int, err error) {
	mtu := 0
	for _, name := range p.names {
		l, err := p.nl.LinkByName(name)
		if err != nil {
			return pair, fmt.Errorf("find port %q: %w", name, err)
		}
		mtu = max(mtu, l.Attrs().MTU)
	}
	if err := p.addPair(p.parks, mtu); err != nil {
		return pair, fmt.Errorf("add parking lot: %w", err)
	}
	for i, name := range p.parks {
		l, err := p.nl.LinkByName(name)
		if err != nil {
			return pair, fmt.Errorf("find parking lot: %w", err)
		}
		pair[i] = l.Attrs().Index
	}
	return pair, dataplane.AwaitUp(p.nl, pair[0])
}

// addPair makes a pair of interfaces, until the ports are given back; mtu 0 leaves it to the kernel.
func (p *ports) addPair(names [2]string, mtu int) error {
	v := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: names[1], PeerTxQLen: -1}
	v.Name, v.MTU = names[0], mtu
	if err := p.nl.LinkAdd(v); err != nil {
		return err
	}
	p.undo = append(p.undo, func() error {
		if err := p.nl.LinkDel(v); err != nil && !errors.Is(err, unix.ENODEV) {
			return fmt.Errorf("remove %q: %w", names[0], err)
		}
		return nil
	})
	for _, name := range names {
		if err := p.raiseOwn(name); err != nil {
			return err
		}
	}
	return nil
}

func (p *ports) raiseOwn(name string) error {
	knob := filepath.Join("/proc/sys/net/ipv6/conf", name, "disable_ipv6")
	if err := os.WriteFile(knob, []byte("1"), 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("disable IPv6 on %q: %w", name, err)
	}
	l, err := p.nl.LinkByName(name)
	if err == nil {
		err = p.nl.LinkSetUp(l)
	}
	if err != nil {
		return fmt.Errorf("set %q up: %w", name, err)
	}
	return nil
}

// sink returns the interface that dropped packets go to.
func (p *ports) sink() (int, error) {
	l, err := p.nl.LinkByName(p.sinks[0])
	if err != nil {
		return 0, fmt.Errorf("find sink %s: %w", strconv.Quote(p.sinks[0]), err)
	}
	return l.Attrs().Index, nil
}

// give returns the ports as they were.
func (p *ports) give() error {
	var errs []error
	for i := len(p.undo) - 1; i >= 0; i-- {
		errs = append(errs, p.undo[i]())
	}
	p.undo = nil
	for _, l := range p.locks {
		errs = append(errs, l.Close())
	}
	p.locks = nil
	return errors.Join(errs...)
}
