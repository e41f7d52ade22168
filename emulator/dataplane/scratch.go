package dataplane

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"lightloom/southbound"
)

// Scratch runs f in a new network namespace on a thread of its own, both of which end with it: what the
// process's own namespace holds is never touched. nl is open in the namespace while f runs.
func Scratch(f func(nl *netlink.Handle) error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine, and the namespace with it
		done <- scratch(f)
	}()
	return <-done
}

func scratch(f func(nl *netlink.Handle) error) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("unshare network namespace: %w", err)
	}
	nl, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer nl.Close()
	return f(nl)
}

// Probe makes the smallest possible switches with a dataplane in a temporary namespace, and returns why
// that failed. try calls New and uses its result.
func Probe(try func(nl *netlink.Handle, packet, optical Switch) error) error {
	return Scratch(func(nl *netlink.Handle) error {
		names := [][2]string{{"a0", "a1"}, {"b0", "b1"}, {"s0", "s1"}}
		var index [3]int
		for i, n := range names {
			v := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: n[1], PeerTxQLen: -1}
			v.Name = n[0]
			if err := nl.LinkAdd(v); err != nil {
				return fmt.Errorf("add veth: %w", err)
			}
			l, err := nl.LinkByName(n[0])
			if err != nil {
				return fmt.Errorf("find veth: %w", err)
			}
			if err := nl.LinkSetUp(l); err != nil {
				return fmt.Errorf("set veth up: %w", err)
			}
			index[i] = l.Attrs().Index
		}
		packet := Switch{ID: 0, Name: "probe", Ports: []int{index[0]}, Racks: 1, Block: 1, Sink: index[2]}
		optical := Switch{ID: 1, Name: "probe", Optical: true, Ports: []int{index[1]}, Racks: 1,
			Block: 2, Sink: index[2]}
		return try(nl, packet, optical)
	})
}

// ProbePlanes probes with planes that New, a dataplane's, makes: it uses the packet switch and closes both.
func ProbePlanes[P Tryer](New func(nl *netlink.Handle, sw Switch) (P, error)) error {
	return Probe(func(nl *netlink.Handle, packet, optical Switch) error {
		p, err := New(nl, packet)
		if err != nil {
			return err
		}
		if err := exercise(p); err != nil {
			return err
		}
		if p, err = New(nl, optical); err != nil {
			return err
		}
		return p.Close()
	})
}

// Tryer is what ProbePlanes uses of a plane.
type Tryer interface {
	SetRules(set []southbound.Rule, drop []southbound.Match, replace bool) error
	Dropped() (uint64, error)
	Close() error
}

// exercise puts a rule into a packet switch of one port, counts its drops and closes it.
func exercise(p Tryer) error {
	r := southbound.Rule{Match: southbound.Match{Dst: 0, Tag: southbound.AnyTag,
		Src: southbound.AnyRack}, Primary: 0,
		Backup: southbound.NoPort}
	err := p.SetRules([]southbound.Rule{r}, nil, true)
	if err == nil {
		_, err = p.Dropped()
	}
	return errors.Join(err, p.Close())
}
